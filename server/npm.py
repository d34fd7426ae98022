"""Installed npm packages: a folder with a lock file becomes a folder under `.planner/` with what
it pins, kept between runs. `server.assets` fetches single files of packages instead."""

import contextlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console

from server.assets import AssetError

__all__ = ["install"]

_MANIFEST: Final = ("package.json", "package-lock.json", ".npmrc")
_TIMEOUT: Final = 300


def install(source: Path, home: Path) -> Path:
    """The folder below `home` with the packages of the lock file in `source`, and the other files
    of `source` beside them, since Node resolves imports from where a file lies. Raises AssetError
    when there is no npm or Node, and when npm can't install them."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise AssetError(f"npm packages of {source.name}: there is no node or npm")
    folder = home / source.name
    if not _is_current(source, folder):
        _install(npm, source, folder)
    for file in source.iterdir():
        if file.suffix in (".mjs", ".graphql") and _read(file) != _read(folder / file.name):
            shutil.copy(file, folder)
    return folder


def _is_current(source: Path, folder: Path) -> bool:
    same = (_read(source / name) == _read(folder / name) for name in _MANIFEST)
    return (folder / "node_modules" / ".package-lock.json").exists() and all(same)


def _install(npm: str, source: Path, folder: Path) -> None:
    """Installed aside and moved into place, so that what was interrupted never counts."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{source.name}-") as aside:
        fresh = Path(aside, source.name)
        fresh.mkdir()
        for name in _MANIFEST:
            shutil.copy(source / name, fresh)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        with Console(stderr=True).status(f"Installing the npm packages of {source.name}"):
            ran = subprocess.run(  # noqa: S603 - npm with arguments of this module only
                command, cwd=fresh, check=False, capture_output=True, text=True, timeout=_TIMEOUT
            )
        if ran.returncode != 0:
            said = " ".join(ran.stderr.split())[:300]
            raise AssetError(f"npm packages of {source.name}: npm ci failed: {said}")
        if _is_current(source, folder):
            return  # Another process was faster, with the same.
        with contextlib.suppress(FileNotFoundError):
            folder.rename(Path(aside, "old"))
        fresh.rename(folder)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
