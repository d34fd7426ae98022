"""Databases to develop and test on, each a child process on loopback: moto and DynamoDB Local.

Both take any credentials; DUMMY_CREDENTIALS are the ones to use, so that real ones never are.
A child ends with its parent (`server.engine_process`). One that keeps data in a folder is shared by
all who want that folder, and ends with the last of them: see `server.shared_engine`.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypedDict

from server.assets import DYNAMODB_LOCAL, AssetError, fetch
from server.engine_process import EngineError, EngineFailed, running, start
from server.shared_engine import CAN_SHARE, StillThereError, shared

__all__ = [
    "DUMMY_CREDENTIALS",
    "Credentials",
    "EngineMissing",
    "dynamodb_local",
    "embedded",
    "find_java",
]

_LOCAL = "DynamoDB Local"
JAVA_MINIMUM = 17
JAVA_ADVICE = f"install a JDK, {JAVA_MINIMUM} or newer (for instance openjdk-17-jdk-headless)"


class Credentials(TypedDict):
    """What a boto client needs besides `endpoint_url`, under boto's own names."""

    aws_access_key_id: str
    aws_secret_access_key: str
    region_name: str


DUMMY_CREDENTIALS: Final = Credentials(
    aws_access_key_id="planner",
    aws_secret_access_key="planner",  # noqa: S106 - it opens nothing
    region_name="us-east-1",
)

_ENVIRONMENT: Final = {
    "AWS_ACCESS_KEY_ID": DUMMY_CREDENTIALS["aws_access_key_id"],
    "AWS_SECRET_ACCESS_KEY": DUMMY_CREDENTIALS["aws_secret_access_key"],
    "AWS_REGION": DUMMY_CREDENTIALS["region_name"],
}


class EngineMissing(EngineError):
    """Something that the engine needs is not installed; the message names it."""


@contextmanager
def embedded() -> Iterator[str]:
    """moto's DynamoDB, in memory: yields its URL, `http://127.0.0.1:PORT`.

    For small tables: moto sorts all items for each query and copies all of them for each
    transaction, which takes 8 ms and 45 ms at 1,000 items.
    Raises EngineMissing without the `embedded` extra, EngineFailed when it doesn't start.
    """
    absent = ", ".join(name for name in ("moto", "flask", "flask_cors") if not _importable(name))
    if absent:
        raise EngineMissing(f"the embedded store needs {absent}: pip install '.[embedded]'")
    # From the folder that holds this package, so that -m finds it where it isn't installed too.
    with running(
        "moto",
        [sys.executable, "-m", "server.moto_process"],
        cwd=Path(__file__).parents[1],
        environment=_ENVIRONMENT,
    ) as url:
        yield url


@contextmanager
def dynamodb_local(home: Path, *, data_dir: Path | None) -> Iterator[str]:
    """DynamoDB Local, in memory or kept in `data_dir`: yields its URL, `http://127.0.0.1:PORT`.

    All credentials and regions see the same tables. Fetched into `home` if it isn't there. On a
    folder that another process has DynamoDB Local on already, that one is joined: it ends with the
    last of those who use it.
    Raises EngineMissing without a JDK, or when it can't be fetched; EngineFailed as above.
    """
    if data_dir is None or not CAN_SHARE:
        command, emulator = _local_command(home, data_dir)
        with running(_LOCAL, command, cwd=emulator, environment=_ENVIRONMENT) as url:
            yield url
        return

    def start_local(stdin: int) -> str:
        command, emulator = _local_command(home, data_dir)
        return start(_LOCAL, command, cwd=emulator, environment=_ENVIRONMENT, stdin=stdin)

    data_dir.mkdir(parents=True, exist_ok=True)
    try:
        with shared(data_dir, start_local) as url:
            yield url
    except StillThereError as error:
        raise EngineFailed(f"{_LOCAL}: {error}") from None


def _local_command(home: Path, data_dir: Path | None) -> tuple[list[str], Path]:
    """The command, and the folder to run it in."""
    java = find_java()
    try:
        emulator = (fetch(DYNAMODB_LOCAL, home) / "emulator").resolve()
    except AssetError as error:
        raise EngineMissing(f"DynamoDB Local can't be fetched: {error}") from error
    if data_dir is None:
        where = ["-inMemory"]
    else:
        data_dir.mkdir(parents=True, exist_ok=True)
        where = ["-dbPath", str(data_dir.resolve())]
    library = emulator / "DynamoDBLocal_lib"
    command = [
        java,
        # Measured: ready in 1.7 s instead of 2.4 s, and faster for the first thousands of requests.
        "-XX:TieredStopAtLevel=1",
        "-Djava.net.preferIPv4Stack=true",
        f"-Djava.library.path={library}",
        "-cp",
        os.pathsep.join([str(emulator / "DynamoDBLocal.jar"), str(library / "*")]),
        str(Path(__file__).with_name("java") / "Loopback.java"),
        *where,
        "-sharedDb",
        "-disableTelemetry",
        # By default a web page of any origin may call it.
        "-cors",
        "http://127.0.0.1",
    ]
    return command, emulator


def find_java() -> str:
    """The path of a `java` that can run DynamoDB Local and our source launcher, or EngineMissing.

    `JAVA_HOME` comes before `PATH`, as everywhere.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home, "bin"))) if home else None
    java = java or shutil.which("java")
    if java is None:
        raise EngineMissing(f"DynamoDB Local needs Java, which is not installed: {JAVA_ADVICE}")
    # One question for both facts. Java 8 doesn't know the option, macOS's stub has no Java behind.
    answer = subprocess.run(  # noqa: S603 - the user's own Java
        [java, "--list-modules"],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    version = re.search(r"^java\.base@(\d+)", answer.stdout, re.MULTILINE)
    if version is None or int(version[1]) < JAVA_MINIMUM:
        found = f"Java {version[1]}" if version else "older, or not really there"
        raise EngineMissing(
            f"DynamoDB Local needs Java {JAVA_MINIMUM} or newer, {java} is {found}: {JAVA_ADVICE}"
        )
    if "jdk.compiler@" not in answer.stdout:
        raise EngineMissing(
            f"{java} is a runtime without the compiler that our launcher needs: {JAVA_ADVICE}"
        )
    return java


def _importable(name: str) -> bool:
    return importlib.util.find_spec(name) is not None
