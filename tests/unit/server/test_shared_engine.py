"""One engine for a folder: who comes second joins it, and the last who leaves ends it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest

from server import engine_process, shared_engine
from server.engine_process import EngineFailed
from server.shared_engine import StillThereError, shared

# By the system and not by CAN_SHARE, so that no locks where there should be some is a failure.
pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no locks of this kind")

ENGINE: Final = (
    "import os, socket, sys, threading\n"
    "listening = socket.create_server(('127.0.0.1', 0))\n"
    "print(f'listening on 127.0.0.1:{listening.getsockname()[1]}', flush=True)\n"
    "def accept():\n"
    "    while True: listening.accept()[0].close()\n"
    "threading.Thread(target=accept, daemon=True).start()\n"
    "sys.stdin.buffer.read()\n"
    "os._exit(0)"
)
USER: Final = (
    "import sys; from pathlib import Path\n"
    "from tests.unit.server.test_shared_engine import engine\n"
    "with engine(Path(sys.argv[1])) as url: print(url, flush=True); sys.stdin.read()"
)


def start(stdin: int) -> str:
    command = [sys.executable, "-c", ENGINE]
    return engine_process.start("an engine", command, cwd=Path(), environment={}, stdin=stdin)


@contextmanager
def engine(folder: Path) -> Iterator[str]:
    with shared(folder, start) as url:
        yield url


@contextmanager
def user(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Another process that uses the engine until its stdin is closed, and the address it has."""
    with subprocess.Popen(
        [sys.executable, "-c", USER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def answers(url: str) -> bool:
    try:
        socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=1).close()
    except OSError:
        return False
    return True


def test_who_comes_second_joins_and_the_last_ends_it(tmp_path: Path) -> None:
    with ExitStack() as first:
        url = first.enter_context(engine(tmp_path))
        with engine(tmp_path) as joined:
            assert joined == url
            first.close()
            assert answers(joined)
    assert not answers(url)


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_it_outlives_the_process_that_started_it(tmp_path: Path, ending: signal.Signals) -> None:
    with user(tmp_path) as (starter, url), engine(tmp_path) as joined:
        assert joined == url
        starter.send_signal(ending)
        starter.wait()
        assert answers(joined)
    assert not answers(url)


def test_one_that_joined_and_is_killed_leaves_it_to_the_other(tmp_path: Path) -> None:
    with engine(tmp_path) as url:
        with user(tmp_path) as (other, joined):
            assert joined == url
            other.kill()
            other.wait()
        assert answers(url)
    assert not answers(url)


def test_after_a_kill_the_address_that_is_left_counts_no_more(tmp_path: Path) -> None:
    with user(tmp_path) as (starter, old):
        starter.kill()
        starter.wait()
    assert (tmp_path / "engine.url").read_text() == old
    with engine(tmp_path) as url:
        assert url != old
        assert answers(url)
        assert not answers(old)


def test_folders_have_engines_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with engine(tmp_path / "a") as one, engine(tmp_path / "b") as other:
        assert one != other


def test_a_start_that_fails_leaves_the_folder_to_the_next(tmp_path: Path) -> None:
    def fail(stdin: int) -> str:
        raise EngineFailed("no")

    with pytest.raises(EngineFailed, match="no"):
        shared(tmp_path, fail).__enter__()
    with engine(tmp_path) as url:
        assert answers(url)


def test_an_engine_that_does_not_end_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_engine, "LEAVE_SECONDS", 0.1)
    os.mkfifo(tmp_path / "engine.pipe")
    (tmp_path / "engine.url").write_text("http://127.0.0.1:1")
    stuck = os.open(tmp_path / "engine.pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(StillThereError, match=r"http://127\.0\.0\.1:1 has no user"):
            shared(tmp_path, start).__enter__()
    finally:
        os.close(stuck)
