"""DynamoDB's export to S3, as it lies in a folder: whole, or refused with the name of the file."""

import gzip
import json
from pathlib import Path

import pytest

from data.expressions import Item, s
from data.jsonl import FileError, line_of
from data.s3_export import lines_of, read_export
from tests.transfer.files import write_manifests, write_s3_export


def items(*ids: str) -> bytes:
    return b"".join(line_of({"pk": s("TEAM#t"), "sk": s(f"RES#{id}")}) for id in ids)


def read(folder: Path) -> list[Item]:
    export = read_export(folder)
    return [json.loads(line)["Item"] for file in export.files for _, line in lines_of(file, len_)]


def len_(_: int) -> None:
    """Nobody listens."""


def test_all_lines_of_all_files_are_read(tmp_path: Path) -> None:
    write_s3_export(tmp_path / "x", [items("1", "2"), b"", items("3")], [2, 0, 1])
    assert [item["sk"]["S"] for item in read(tmp_path / "x")] == ["RES#1", "RES#2", "RES#3"]
    export = read_export(tmp_path / "x")
    assert export.moment == "2026-01-04T07:28:34.028Z"
    heard: list[int] = []
    for file in export.files:
        list(lines_of(file, heard.append))
    assert sum(heard) == export.bytes


def test_a_last_line_without_its_end_is_a_line(tmp_path: Path) -> None:
    write_s3_export(tmp_path / "x", [items("1").rstrip()], [1])
    assert len(read(tmp_path / "x")) == 1


def damage(folder: Path, how: str) -> None:
    [path] = (folder / "data").iterdir()
    packed = path.read_bytes()
    match how:
        case "cut":
            path.write_bytes(packed[:-20])
        case "flipped":
            path.write_bytes(packed[:30] + bytes([packed[30] ^ 255]) + packed[31:])
        case "not gzip":
            path.write_bytes(b"plain text, no gzip at all")
        case "more behind":
            path.write_bytes(packed + gzip.compress(items("9")))
        case "another":
            path.write_bytes(gzip.compress(items(*map(str, range(50)))))
        case "missing":
            path.unlink()


@pytest.mark.parametrize("how", ["cut", "flipped", "not gzip", "more behind", "another", "missing"])
def test_a_damaged_file_is_named(tmp_path: Path, how: str) -> None:
    write_s3_export(tmp_path / "x", [items(*(f"{n}-{n**9}" for n in range(50)))], [50])
    damage(tmp_path / "x", how)
    with pytest.raises(FileError, match=r"data/0000abc.json.gz"):
        read(tmp_path / "x")


def test_fewer_items_than_the_manifest_says_are_an_error(tmp_path: Path) -> None:
    write_s3_export(tmp_path / "x", [items("1", "2")], [3])
    with pytest.raises(FileError, match="has 2 items, and its manifest says 3"):
        read(tmp_path / "x")


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ({"exportType": "INCREMENTAL_EXPORT"}, "incremental"),
        ({"outputFormat": "ION"}, "ION"),
        ({"itemCount": 5}, "the 5 items"),
        ({"itemCount": None}, "manifests"),
    ],
)
def test_another_kind_of_export_is_refused(
    tmp_path: Path, summary: dict[str, object], said: str
) -> None:
    write_s3_export(tmp_path / "x", [items("1")], [1], **summary)
    with pytest.raises(FileError, match=said):
        read_export(tmp_path / "x")


@pytest.mark.parametrize("name", ["manifest-summary.json", "manifest-files.json"])
@pytest.mark.parametrize("text", [None, "", "[1]", '{"a": 1}'])
def test_a_manifest_that_is_missing_or_none_is_named(
    tmp_path: Path, name: str, text: str | None
) -> None:
    write_s3_export(tmp_path / "x", [items("1")], [1])
    if text is None:
        (tmp_path / "x" / name).unlink()
    else:
        (tmp_path / "x" / name).write_text(text)
    with pytest.raises(FileError, match=str(tmp_path / "x")):
        read_export(tmp_path / "x")


def test_a_manifest_that_names_a_file_twice_is_refused(tmp_path: Path) -> None:
    write_s3_export(tmp_path / "x", [items("1")], [1], itemCount=2)
    manifest = tmp_path / "x" / "manifest-files.json"
    manifest.write_text(manifest.read_text() * 2)
    with pytest.raises(FileError, match="names a file twice"):
        read_export(tmp_path / "x")


def test_a_key_in_a_manifest_leads_to_no_other_folder(tmp_path: Path) -> None:
    write_s3_export(tmp_path / "x", [items("1")], [1])
    (tmp_path / "secret.json.gz").write_bytes(gzip.compress(items("2")))
    entry = {"itemCount": 1, "md5Checksum": "x", "dataFileS3Key": "../../secret.json.gz"}
    write_manifests(tmp_path / "x", [entry])
    with pytest.raises(FileError, match=r"x/data/secret.json.gz is missing"):
        read_export(tmp_path / "x")
