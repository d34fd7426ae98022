"""`planner dev` as a process of its own, with the timeline page built."""

import fcntl
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.api_client import SECRET
from tests.docs.documents import ROOT
from tests.engines import HOME, require, require_graphiql
from tests.programs import PLANNER, program, until_it_says

__all__ = ["APP", "build", "running_dev"]

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
def running_dev(**settings: str) -> Iterator[str]:
    """The address of `planner dev` on a free port, with its store in memory."""
    build()
    require_graphiql()
    environment = {
        **os.environ,
        "AUTH_SECRET": SECRET,
        "PLANNER_HOME": str(HOME),
        "PLANNER_STORE": "embedded",
        "PORT": "0",
        **settings,
    }
    with program([*PLANNER, "dev"], environment, folder=ROOT) as process:
        said = until_it_says(process, "for the timeline")
        [address] = re.findall(r"Open (http://[^/\s]+)", said)
        assert process.stderr
        # A full pipe would stop it.
        reader = threading.Thread(target=process.stderr.read)
        reader.start()
        try:
            yield address
        finally:
            process.terminate()
            reader.join()
