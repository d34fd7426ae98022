"""`planner dev` as a process of its own, with the timeline page built."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.api_client import SECRET
from tests.engines import HOME, require, require_graphiql

__all__ = ["APP", "build", "running_dev"]

ROOT: Final = Path(__file__).parents[2]
APP: Final = ROOT / "examples" / "timeline"
"""The sources of the page, with its packages once it has been built."""
_BUILD_SECONDS: Final = 400


def build() -> None:
    """Builds the page as users do, unless that has been done. Without npm the test is skipped."""
    require(shutil.which("npm"), "the timeline page is built with npm")
    HOME.mkdir(exist_ok=True)
    with (HOME / "timeline.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Other processes run tests, too.
        made = subprocess.run(
            ["make", "web"], cwd=ROOT, capture_output=True, text=True, timeout=_BUILD_SECONDS
        )
    assert made.returncode == 0, made.stdout + made.stderr


@contextmanager
def running_dev() -> Iterator[str]:
    """The address of `planner dev` on a free port, with its store in memory."""
    build()
    require_graphiql()
    environment = {
        **os.environ,
        "AUTH_SECRET": SECRET,
        "PLANNER_HOME": str(HOME),
        "PLANNER_STORE": "embedded",
        "PORT": "0",
    }
    command = [sys.executable, "-c", "from server.cli import main; main()", "dev"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()
            process.communicate(timeout=30)


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if found := re.search(r"^Open (http://[^/\s]+)", line):
            return found[1]
    raise AssertionError("planner dev did not start: " + "".join(said))
