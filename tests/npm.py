"""Real npm packages for tests: installed by a lock file, and asked through small scripts on Node."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.engines import HOME, require

__all__ = ["Ask", "asker"]

Ask = Callable[..., object]

_MANIFEST: Final = ("package.json", "package-lock.json")


def asker(source: Path, script: str, *, environment: Mapping[str, str] | None = None) -> Ask:
    """A function that sends one request to a script beside the `package.json` in `source`:
    `ask("op", name=value)` is `{"op": "op", "name": value}` on its stdin, and the answer the JSON
    on its stdout. The test is skipped, with the reason, where npm is missing."""
    node, npm = shutil.which("node") or "", shutil.which("npm") or ""
    require(node and npm, f"the npm packages of {source.name}: node and npm are not installed")
    installed = _installed(npm, source)
    # Node resolves imports from where the file lies.
    for each in source.glob("*.mjs"):
        shutil.copy(each, installed)

    def ask(op: str, **request: object) -> object:
        done = subprocess.run(
            [node, script],
            cwd=installed,
            env={**os.environ, **(environment or {})},
            input=json.dumps({"op": op, **request}),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def _installed(npm: str, source: Path) -> Path:
    """Fills the cache unless it holds exactly what the lock file says. Installed aside and moved
    into place, so that what was interrupted never counts."""
    cache = HOME / source.name
    done = cache / "node_modules" / ".package-lock.json"
    same = (_read(source / name) == _read(cache / name) for name in _MANIFEST)
    if done.exists() and all(same):
        return cache
    HOME.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HOME, prefix=f"{source.name}-") as aside:
        fresh = Path(aside, source.name)
        fresh.mkdir()
        for name in _MANIFEST:
            shutil.copy(source / name, fresh)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        ran = subprocess.run(command, cwd=fresh, capture_output=True, text=True, timeout=300)
        said = " ".join(ran.stderr.split())[:300]
        require(ran.returncode == 0, f"the npm packages of {source.name}: npm ci failed: {said}")
        shutil.rmtree(cache, ignore_errors=True)
        fresh.rename(cache)
    return cache


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
