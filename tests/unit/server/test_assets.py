import base64
import dataclasses
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from server.assets import GRAPHIQL, REACT, REACT_DOM, AssetError, Package, fetch, is_fetched
from tests.engines import HOME, require

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the pretended npm is a shell script")


def tarball(entries: dict[str, bytes | str]) -> bytes:
    """A .tgz of files (bytes) and symbolic links (str)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in entries.items():
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def package_of(content: bytes, *files: str, skipped: tuple[str, ...] = ()) -> Package:
    sha512 = base64.b64encode(hashlib.sha512(content).digest()).decode()
    return Package("thing", "1.0.0", sha512, files or ("index.js",), skipped)


class Npm:
    """A pretended npm on PATH, which brings the tarball it is told to."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir()
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def brings(self, content: bytes) -> None:
        # Its arguments: pack SPEC --pack-destination FOLDER ...
        (self.folder / "tarball").write_bytes(content)
        self.script(f'echo "$2" >> {self.folder}/calls; cp {self.folder}/tarball "$4/thing.tgz"')

    def script(self, body: str) -> None:
        program = self.folder / "npm"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().split()


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Npm:
    return Npm(tmp_path / "bin", monkeypatch)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def left_in(home: Path) -> list[str]:
    return [str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()]


def test_only_the_listed_files_are_kept(npm: Npm, home: Path) -> None:
    content = tarball(
        {
            "package/index.js": b"1",
            "package/other.js": b"2",
            "package/lib/a.so": b"3",
            "package/lib/deep/b.jar": b"4",
            "package/lib/c.dll": b"5",
            "package/library": b"6",
        }
    )
    npm.brings(content)
    package = package_of(content, "index.js", "lib/", skipped=(".dll",))
    folder = fetch(package, home)
    assert folder == home / "assets" / "thing-1.0.0"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {"index.js", "lib/a.so", "lib/deep/b.jar", ".manifest.json"}
    assert [path.name for path in folder.parent.iterdir()] == ["thing-1.0.0"]


def test_what_is_there_is_not_fetched_again(
    npm: Npm, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = tarball({"package/index.js": b"1"})
    npm.brings(content)
    package = package_of(content)
    assert not is_fetched(package, home)
    fetch(package, home)
    assert is_fetched(package, home)
    fetch(package, home)
    assert npm.calls == ["thing@1.0.0"]
    # It takes a while, so it is said where there is no terminal to draw on too: once, for one.
    assert capsys.readouterr().err.count("Fetching thing@1.0.0, once") == 1


def test_a_damaged_copy_is_replaced(npm: Npm, home: Path) -> None:
    content = tarball({"package/index.js": b"whole"})
    npm.brings(content)
    package = package_of(content)
    file = fetch(package, home) / "index.js"
    file.write_bytes(b"hal")
    assert not is_fetched(package, home)
    fetch(package, home)
    assert file.read_bytes() == b"whole"


def test_a_wrong_hash_is_refused_and_nothing_is_left_behind(npm: Npm, home: Path) -> None:
    npm.brings(tarball({"package/index.js": b"evil"}))
    with pytest.raises(AssetError, match="not the pinned package"):
        fetch(package_of(b"what was pinned"), home)
    assert left_in(home) == []


@pytest.mark.parametrize(
    "name",
    ["package/../../escaped", "/package/escaped", "package/lib/../../../escaped", "package/..\\x"],
)
def test_an_entry_that_reaches_out_is_refused(npm: Npm, home: Path, name: str) -> None:
    content = tarball({"package/index.js": b"1", name: b"2"})
    npm.brings(content)
    with pytest.raises(AssetError, match="outside of its folder"):
        fetch(package_of(content, "index.js", "lib/"), home)
    assert left_in(home) == []
    assert not list(home.parent.rglob("escaped"))


def test_a_link_is_refused(npm: Npm, home: Path) -> None:
    content = tarball({"package/index.js": "../../../secret"})
    npm.brings(content)
    with pytest.raises(AssetError, match="not a plain file"):
        fetch(package_of(content), home)
    assert left_in(home) == []


def test_a_package_that_lacks_a_listed_file_is_refused(npm: Npm, home: Path) -> None:
    content = tarball({"package/index.js": b"1"})
    npm.brings(content)
    with pytest.raises(AssetError, match="lacks LICENSE"):
        fetch(package_of(content, "index.js", "LICENSE"), home)
    assert left_in(home) == []


def test_without_npm_the_error_says_what_to_install(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AssetError, match="install Node"):
        fetch(package_of(b""), home)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("npm error code ENOTFOUND", "no network"),
        ("npm error code EAI_AGAIN", "no network"),
        ("npm error code E404", "(?s)could not fetch thing@1.0.0.*E404"),
    ],
)
def test_an_error_of_npm_is_told(npm: Npm, home: Path, said: str, told: str) -> None:
    npm.script(f'echo "{said}" >&2; exit 1')
    with pytest.raises(AssetError, match=told):
        fetch(package_of(b""), home)


def test_the_command_reports_an_error_in_one_line(npm: Npm, home: Path) -> None:
    npm.script("echo ENOTFOUND >&2; exit 1")
    command = [sys.executable, "-m", "server.assets", "graphiql", "--home", str(home)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "no network" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("package", [GRAPHIQL, REACT, REACT_DOM], ids=lambda package: package.name)
def test_the_real_packages_are_the_pinned_ones(package: Package) -> None:
    if not is_fetched(package, HOME):
        require(shutil.which("npm"), "npm is not installed")
    try:
        folder = fetch(package, HOME)
    except AssetError as error:
        require("no network" not in str(error), str(error))
        raise
    assert all((folder / file).stat().st_size > 0 for file in package.files)
    assert not is_fetched(dataclasses.replace(package, sha512="another"), HOME)
