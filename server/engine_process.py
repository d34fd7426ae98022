"""A database as a child process: started, waited for until it listens, and ended.

A child ends with its parent, however that ends: it holds the read end of a pipe (its stdin) whose
only write end is here, and leaves when the kernel closes it. It says where it listens by a line of
its output, `listening on 127.0.0.1:PORT`.
"""

import os
import re
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

__all__ = ["EngineError", "EngineFailed", "running", "start"]

# Only the slowest machines come near: moto takes 1 s, a JVM that compiles its launcher 2-3 s.
START_SECONDS = 60
STOP_SECONDS = 5
LOG_TAIL = 3_000
LISTENING = re.compile(r"^listening on 127\.0\.0\.1:(\d+)$", re.MULTILINE)


class EngineError(Exception):
    """An engine can't be had: it is missing, or EngineFailed. The message is for people."""


class EngineFailed(EngineError):
    """The engine was started, but ended or never listened; the message has the end of its log."""


@contextmanager
def running(
    name: str, command: list[str], *, cwd: Path, environment: Mapping[str, str]
) -> Iterator[str]:
    """The child process while it listens, ended by its own pid afterwards. Yields its URL.

    `environment` is added to ours. Raises EngineFailed when it ends or doesn't listen."""
    with tempfile.TemporaryDirectory(prefix="planner-engine-") as folder:
        log = Path(folder) / "log"
        process = _spawn(command, cwd=cwd, environment=environment, stdin=subprocess.PIPE, log=log)
        try:
            yield _await_url(name, process, log)
        finally:
            _end(process)


def start(
    name: str, command: list[str], *, cwd: Path, environment: Mapping[str, str], stdin: int
) -> str:
    """The URL of a process that listens, and that ends with what it reads from, `stdin`.

    Arguments and errors as of `running`."""
    with tempfile.TemporaryDirectory(prefix="planner-engine-") as folder:
        log = Path(folder) / "log"
        process = _spawn(command, cwd=cwd, environment=environment, stdin=stdin, log=log)
        try:
            url = _await_url(name, process, log)
        except BaseException:
            _end(process)
            raise
    # It may outlive us, who only started it; until then somebody has to collect its exit code.
    threading.Thread(target=process.wait, daemon=True).start()
    return url


def _spawn(
    command: list[str], *, cwd: Path, environment: Mapping[str, str], stdin: int, log: Path
) -> "subprocess.Popen[bytes]":
    with log.open("wb") as sink:
        return subprocess.Popen(  # noqa: S603 - commands of server.engines only
            command,
            cwd=cwd,
            env={**os.environ, **environment},
            stdin=stdin,
            stdout=sink,
            stderr=subprocess.STDOUT,
            # A session of its own, so that Ctrl-C reaches us first and we end it in order.
            start_new_session=True,
        )


def _await_url(name: str, process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        # Asked before the log is read, so that a last word is in it.
        code = process.poll()
        said = log.read_text(errors="replace")
        if code is not None:
            raise EngineFailed(f"{name} ended with code {code}:\n{said[-LOG_TAIL:]}")
        listening = LISTENING.search(said)
        if listening and _accepts(int(listening[1])):
            return f"http://127.0.0.1:{listening[1]}"
        time.sleep(0.02)
    raise EngineFailed(f"{name} didn't listen within {START_SECONDS} s:\n{said[-LOG_TAIL:]}")


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
