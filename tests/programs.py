"""Programs that tests start, with an environment of their own and nothing of this process's."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from server.engines import DUMMY_CREDENTIALS
from tests.api_client import SECRET

__all__ = [
    "PATIENCE",
    "PLANNER",
    "deployment",
    "free_port",
    "program",
    "until_it_listens",
    "until_it_says",
]

PLANNER: Final = (sys.executable, "-c", "from server.cli import main; main()")
"""Our command, whether or not its script is installed."""
PATIENCE: Final = 60
"""Seconds after which what is waited for counts as never coming."""


def deployment(engine: str, table: str) -> dict[str, str]:
    """What a deployed server is told, for a table that is here instead of at AWS."""
    return {
        "AUTH_SECRET": SECRET,
        "AWS_ACCESS_KEY_ID": DUMMY_CREDENTIALS["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": DUMMY_CREDENTIALS["aws_secret_access_key"],
        "AWS_REGION": DUMMY_CREDENTIALS["region_name"],
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL_DYNAMODB": engine,
        "PLANNER_TABLE": table,
    }


@contextmanager
def program(
    command: Sequence[str], environment: Mapping[str, str], *, folder: Path
) -> Iterator["subprocess.Popen[str]"]:
    """A program under way; killed if it is not over by the end."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def free_port() -> int:
    """A port for a program that can't be told to pick one."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def until_it_listens(process: "subprocess.Popen[str]", port: int) -> None:
    """Returns when the program takes connections; fails if it ends, or takes too long."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    process.kill()
    raise AssertionError(process.communicate()[1])


def until_it_says(process: "subprocess.Popen[str]", words: str, *, times: int = 1) -> str:
    """What the program has said on stderr, up to where it has said this so often; fails if it ends
    before."""
    assert process.stderr
    said = ""
    while said.count(words) < times:
        line = process.stderr.readline()
        assert line, said
        said += line
    return said
