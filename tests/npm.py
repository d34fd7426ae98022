"""Real npm packages for tests, asked through small scripts on Node. Without npm the test is
skipped, with the reason; with CI=true that is a failure."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from server.assets import AssetError
from server.npm import install
from tests.engines import HOME, require

__all__ = ["Ask", "asker", "installed"]

Ask = Callable[..., object]


def installed(source: Path) -> Path:
    """The folder with the packages of the lock file in `source`, and its scripts beside them.
    Without npm the test is skipped."""
    try:
        return install(source, HOME)
    except AssetError as missing:
        require(False, str(missing))
        raise


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
