"""Real npm packages for tests, asked through small scripts on Node. Without npm the test is
skipped, with the reason; with CI=true that is a failure."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from server.assets import AssetError
from server.npm import install
from tests.engines import HOME, require

__all__ = ["Ask", "asker", "installed", "require_node"]

Ask = Callable[..., object]


def installed(source: Path) -> Path:
    """The folder with the packages of the lock file in `source`, and its scripts beside them.
    Without npm, or with an older Node than they want, the test is skipped."""
    require_node(source)
    try:
        return install(source, HOME)
    except AssetError as missing:
        require(False, str(missing))
        raise


def require_node(source: Path) -> None:
    """Skip the test unless there is npm and the Node that `engines` of package.json wants."""
    require(shutil.which("npm") and shutil.which("node"), "there is no node or npm")
    wanted = json.loads((source / "package.json").read_text()).get("engines", {}).get("node", ">=0")
    told = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    found = told.stdout.strip().removeprefix("v")
    is_enough = _numbers(found) >= _numbers(wanted.removeprefix(">="))
    require(is_enough, f"the packages of {source.name} want Node {wanted}, and this is {found}")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


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
