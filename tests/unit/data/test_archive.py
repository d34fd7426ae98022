"""A folder of exported items: what was committed stays, whenever it broke off."""

import json
import subprocess
from pathlib import Path

import pytest

from data.archive import MANIFEST, Archive, checksum, read_manifest
from data.jsonl import FileError

SOURCE = "table planner: a, b"


def begun(folder: Path) -> None:
    """A folder whose export ended after one unit, in the middle of the next."""
    with Archive(folder, SOURCE) as archive:
        archive.write("Resource.jsonl", b"1\n")
        archive.commit("a", empty=False)
        archive.write("Resource.jsonl", b"2\n")
        archive.write("Project.jsonl", b"3\n")


def finish(folder: Path) -> dict[str, object]:
    with Archive(folder, SOURCE) as archive:
        for unit in ("a", "b"):
            if not archive.is_done(unit):
                archive.write("Resource.jsonl", b"2\n")
                archive.commit(unit)
        manifest: dict[str, object] = json.loads(archive.finish(teams=2).read_text())
    return manifest


def test_one_that_broke_off_goes_on_after_its_last_commit(tmp_path: Path) -> None:
    begun(tmp_path)
    manifest = finish(tmp_path)
    assert (tmp_path / "Resource.jsonl").read_bytes() == b"1\n2\n"
    assert {path.name for path in tmp_path.iterdir()} == {
        ".gitignore",
        "Resource.jsonl",
        MANIFEST,
    }
    assert manifest["files"] == {
        "Resource.jsonl": {
            "items": 2,
            "bytes": 4,
            "sha256": checksum(tmp_path / "Resource.jsonl"),
        }
    }
    assert (manifest["source"], manifest["teams"]) == (SOURCE, 2)


@pytest.mark.parametrize("torn", ['{"unit": "b", "by', "{", '{"unit": "b"}'])
def test_a_note_that_was_being_written_is_none(tmp_path: Path, torn: str) -> None:
    begun(tmp_path)
    with (tmp_path / "progress.jsonl").open("a") as journal:
        journal.write(torn)
    finish(tmp_path)
    assert (tmp_path / "Resource.jsonl").read_bytes() == b"1\n2\n"


def test_one_that_broke_off_before_its_first_note_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "progress.jsonl").write_text('{"sour')
    finish(tmp_path)
    assert (tmp_path / "Resource.jsonl").read_bytes() == b"2\n2\n"


def test_what_was_not_committed_can_be_dropped(tmp_path: Path) -> None:
    with Archive(tmp_path, SOURCE) as archive:
        archive.write("Resource.jsonl", b"1\n")
        archive.roll_back()
        assert archive.items.total() == 0
        archive.write("Resource.jsonl", b"2\n")
        archive.commit("a")
        archive.write("Resource.jsonl", b"3\n")
        archive.write("Project.jsonl", b"4\n")
        archive.roll_back()
        assert archive.items == {"Resource.jsonl": 1}
    assert (tmp_path / "Resource.jsonl").read_bytes() == b"2\n"
    assert not (tmp_path / "Project.jsonl").exists()


def test_facts_of_units_are_kept_over_a_break(tmp_path: Path) -> None:
    with Archive(tmp_path, SOURCE) as archive:
        archive.commit("a", empty=True)
        archive.commit("b", empty=False)
    with Archive(tmp_path, SOURCE) as archive:
        assert archive.units("empty") == ["a"]


def test_a_finished_folder_or_one_of_something_else_is_not_written_to(tmp_path: Path) -> None:
    for name in ("finished", "other", "foreign"):
        (tmp_path / name).mkdir()
    finish(tmp_path / "finished")
    begun(tmp_path / "other")
    (tmp_path / "foreign" / "thesis.txt").write_text("mine")
    for name, source, said in (
        ("finished", SOURCE, "finished export"),
        ("other", "table planner: c", "something else"),
        ("foreign", SOURCE, "thesis.txt"),
    ):
        before = {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        with pytest.raises(FileError, match=said):
            Archive(tmp_path / name, source)
        assert {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} == before


def test_a_folder_is_written_by_one_export_at_a_time(tmp_path: Path) -> None:
    with (
        Archive(tmp_path, SOURCE),
        pytest.raises(FileError, match="another export"),
    ):
        Archive(tmp_path, SOURCE)
    assert finish(tmp_path)["teams"] == 2


def test_one_that_broke_off_with_its_manifest_written_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Exception):
        pass

    unlink = Path.unlink

    def killed(path: Path, missing_ok: bool = False) -> None:
        if (tmp_path / MANIFEST).exists():
            raise Killed
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(Killed):
            finish(tmp_path)
    assert (tmp_path / "progress.jsonl").exists()
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    assert manifest["teams"] == 2
    with pytest.raises(FileError, match="finished export"):
        Archive(tmp_path, SOURCE)


def test_a_file_that_became_shorter_is_not_gone_on_with(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "Resource.jsonl").write_bytes(b"")
    with pytest.raises(FileError, match="shorter than it was"):
        Archive(tmp_path, SOURCE)


def test_files_are_for_nobody_else_to_read(tmp_path: Path) -> None:
    finish(tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
    assert [p.name for p in (tmp_path / "new").iterdir() if p.stat().st_mode & 0o077] == []


def test_a_manifest_is_read_only_of_what_is_finished(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    begun(tmp_path)
    with pytest.raises(FileError, match="unfinished"):
        read_manifest(tmp_path)
    finish(tmp_path)
    assert (read_manifest(tmp_path) or {})["teams"] == 2


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "resource-planner-export", "version": 2}']
)
def test_what_is_no_manifest_of_ours_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(FileError, match="no manifest"):
        read_manifest(tmp_path)


def test_git_leaves_the_folder_alone(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "other").touch()
    with Archive(tmp_path / "backup", "table t") as archive:
        archive.write("Resource.jsonl", b"{}\n")
        archive.commit("a")
        archive.finish()
    status = ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b"?? other\n"
