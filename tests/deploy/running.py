"""Programs that tests start, with an environment of their own and nothing of this process's."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from server.engines import DUMMY_CREDENTIALS
from tests.api_client import SECRET

__all__ = ["PATIENCE", "ROOT", "deployment", "program"]

ROOT: Final = Path(__file__).parents[2]
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
