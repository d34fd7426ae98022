"""CPU time is that of the whole process, and an idle one is known as such."""

import os
import sys
import time
from pathlib import Path

import pytest

from bench.processes import Process, ProcessFailed, running

LISTEN = "print('listening on 127.0.0.1:1', flush=True); import sys, threading, time;"
BURN = """
def burn():
    began = time.thread_time()
    while time.thread_time() - began < 0.4:
        pass
"""


def burning(threads: int) -> str:
    """A program that burns 0.4 s of CPU in each of so many threads, one after the other, so that
    each has ended when it says so; and then waits."""
    return (
        f"{LISTEN}{BURN}"
        f"for _ in range({threads}):\n"
        "    thread = threading.Thread(target=burn); thread.start(); thread.join()\n"
        "print('done', flush=True); sys.stdin.read()"
    )


def cpu_of(threads: int) -> float:
    with running(
        "burner", [sys.executable, "-c", burning(threads)], cwd=Path.cwd(), environment={}
    ) as process:
        process.settle()
        return process.cpu_seconds()


def test_threads_that_have_ended_count_too() -> None:
    assert 1.5 < cpu_of(3) / cpu_of(1) < 4


def test_a_sleeping_process_uses_nothing_beside_a_busy_one() -> None:
    with running("sleeper", [sys.executable, "-c", f"{LISTEN} sys.stdin.read()"], cwd=Path.cwd(),
                 environment={}) as sleeper:  # fmt: skip
        sleeper.settle()
        own = Process("own", os.getpid(), 0)
        before, own_before = sleeper.cpu_seconds(), time.process_time()
        measured = own.cpu_seconds()
        while time.process_time() - own_before < 0.2:
            pass
        assert own.cpu_seconds() - measured > 20 * (sleeper.cpu_seconds() - before)


def test_memory_is_what_the_process_has() -> None:
    program = f"{LISTEN} text = b'x' * 100_000_000; print('has it', flush=True); sys.stdin.read()"
    with running(
        "large", [sys.executable, "-c", program], cwd=Path.cwd(), environment={}
    ) as process:
        process.settle()
        assert 100 < process.rss_mb() < 200
        assert process.peak_rss_mb() >= process.rss_mb()


def test_it_is_ended_by_its_own_pid() -> None:
    with running(
        "sleeper",
        [sys.executable, "-c", f"{LISTEN} time.sleep(60)"],
        cwd=Path.cwd(),
        environment={},
    ) as process:
        os.kill(process.pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_what_ends_before_it_listens_is_said_with_its_last_words() -> None:
    with (
        pytest.raises(ProcessFailed, match=r"(?s)short ended.*no such thing"),
        running(
            "short",
            [sys.executable, "-c", "raise SystemExit('no such thing')"],
            cwd=Path.cwd(),
            environment={},
        ),
    ):
        pass
