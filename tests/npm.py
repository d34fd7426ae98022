"""Real packages from npm, at the versions of a lock file, kept under `.planner/` between runs.

Without npm the test is skipped, with the reason; with CI=true that is a failure.
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.engines import HOME, require

__all__ = ["Ask", "node"]

MANIFEST: Final = ("package.json", "package-lock.json", ".npmrc")

Ask = Callable[..., object]
"""Runs a script with its JSON on standard input: ask("token.mjs", op="encode", …) -> its JSON."""


def node(source: Path) -> Ask:
    """Asks the scripts of `source` (`*.mjs`) with the packages that its lock file names."""
    program, npm = shutil.which("node") or "", shutil.which("npm") or ""
    require(program and npm, f"the packages of {source.name}: node and npm are not installed")
    cache = HOME / source.name
    _install(npm, source, cache)
    for script in source.glob("*.mjs"):
        # Node resolves imports from where the file lies.
        shutil.copy(script, cache)

    def ask(script: str, **request: object) -> object:
        done = subprocess.run(
            [program, script],
            cwd=cache,
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def _install(npm: str, source: Path, cache: Path) -> None:
    """Fills the cache unless it holds exactly what the lock file says. Installed aside and moved
    into place, so that what was interrupted never counts."""
    installed = cache / "node_modules" / ".package-lock.json"
    same = (_read(source / name) == _read(cache / name) for name in MANIFEST)
    if installed.exists() and all(same):
        return
    cache.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache.parent, prefix=f"{cache.name}-") as aside:
        fresh = Path(aside, cache.name)
        fresh.mkdir()
        for name in MANIFEST:
            shutil.copy(source / name, fresh)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=fresh, capture_output=True, text=True, timeout=300)
        said = " ".join(done.stderr.split())[:300]
        require(done.returncode == 0, f"the packages of {source.name}: npm ci failed: {said}")
        shutil.rmtree(cache, ignore_errors=True)
        fresh.rename(cache)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
