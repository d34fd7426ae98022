"""Real npm packages for tests: installed by a lock file and kept under `.planner/` between runs,
asked through small scripts on Node. Without npm the test is skipped, with the reason; with CI=true
that is a failure."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.engines import HOME, require

__all__ = ["Ask", "asker", "installed"]

Ask = Callable[..., object]

_MANIFEST: Final = ("package.json", "package-lock.json", ".npmrc")


def installed(source: Path) -> Path:
    """The folder with the packages of the lock file in `source`, and its scripts beside them,
    since Node resolves imports from where a file lies. Without npm the test is skipped."""
    npm = shutil.which("npm") or ""
    require(npm and shutil.which("node"), f"npm packages of {source.name}: there is no node or npm")
    folder = HOME / source.name
    if not _is_current(source, folder):
        _install(npm, source, folder)
    for script in source.glob("*.mjs"):
        if _read(script) != _read(folder / script.name):
            shutil.copy(script, folder)
    return folder


def asker(folder: Path, script: str, environment: Mapping[str, str] | None = None) -> Ask:
    """A function that sends one request to a script in the folder: `ask("op", name=value)` is
    `{"op": "op", "name": value}` on its stdin, `ask(name=value)` the same without `op`; the
    answer is the JSON on its stdout."""

    def ask(op: str | None = None, **request: object) -> object:
        done = subprocess.run(
            ["node", script],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            input=json.dumps(request if op is None else {"op": op, **request}),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def _is_current(source: Path, folder: Path) -> bool:
    same = (_read(source / name) == _read(folder / name) for name in _MANIFEST)
    return (folder / "node_modules" / ".package-lock.json").exists() and all(same)


def _install(npm: str, source: Path, folder: Path) -> None:
    """Installed aside and moved into place, so that what was interrupted never counts."""
    HOME.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HOME, prefix=f"{source.name}-") as aside:
        fresh = Path(aside, source.name)
        fresh.mkdir()
        for name in _MANIFEST:
            shutil.copy(source / name, fresh)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        ran = subprocess.run(command, cwd=fresh, capture_output=True, text=True, timeout=300)
        said = " ".join(ran.stderr.split())[:300]
        require(ran.returncode == 0, f"npm packages of {source.name}: npm ci failed: {said}")
        if _is_current(source, folder):
            return  # Another process of this run was faster, with the same.
        with contextlib.suppress(FileNotFoundError):
            folder.rename(Path(aside, "old"))
        fresh.rename(folder)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
