"""Child processes that listen: started, measured, and ended by their own pid."""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["ALL_CPUS", "LOAD_CPUS", "Process", "ProcessFailed", "running"]

ALL_CPUS: Final = frozenset(os.sched_getaffinity(0))
LOAD_CPUS: Final = frozenset({max(ALL_CPUS)})
"""Where the load generator and the stand-in run, so that servers have another core for their own
threads. Servers may run anywhere: Node has threads of its own for garbage collection."""

_ADDRESS: Final = re.compile(rb"127\.0\.0\.1:(\d+)")
_START_SECONDS: Final = 30
_STOP_SECONDS: Final = 5
_IDLE_SECONDS: Final = 0.3
_IDLE_SHARE: Final = 0.05
"""Of a core: what an idle event loop's own timers take on a slow machine, and no more. One that
is at work takes nearly all of it."""
_PATIENCE: Final = 20


class ProcessFailed(Exception):
    """A process ended, never listened or never rested. The message has the end of its log."""


@dataclass(frozen=True, slots=True)
class Process:
    """A running process that listens on a port of 127.0.0.1."""

    name: str
    pid: int
    port: int

    @property
    def pids(self) -> list[int]:
        """Its own id and those of its children, which are its workers."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]

    def cpu_seconds(self) -> float:
        """User and system time of the process so far, all its threads together, ended ones too,
        to the nanosecond. See clock_getcpuclockid(3); Linux encodes the pid in the clock's id."""
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self.pids)

    def rss_mb(self) -> float:
        """Resident memory now, in MB (10^6 bytes)."""
        return self._status("VmRSS")

    def peak_rss_mb(self) -> float:
        """The most that its resident memory ever was, in MB."""
        return self._status("VmHWM")

    def kill(self) -> None:
        """Ends the process at once, without a word to anybody."""
        os.kill(self.pid, signal.SIGKILL)

    def settle(self) -> None:
        """Waits until the process is idle: its CPU time stands nearly still for 0.3 s."""
        deadline = time.monotonic() + _PATIENCE
        before = self.cpu_seconds()
        while time.monotonic() < deadline:
            time.sleep(_IDLE_SECONDS)
            now = self.cpu_seconds()
            if now - before < _IDLE_SHARE * _IDLE_SECONDS:
                return
            before = now
        raise ProcessFailed(f"{self.name} was not idle within {_PATIENCE} s")

    def _status(self, name: str) -> float:
        texts = (Path(f"/proc/{pid}/status").read_text() for pid in self.pids)
        found = (re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE) for text in texts)
        return sum(int(match[1]) * 1024 / 1e6 for match in found if match)


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    cpus: Collection[int] = ALL_CPUS,
) -> Iterator[Process]:
    """The process from when it names its address until it is ended. `environment` is all of its
    environment besides PATH, HOME and LANG. Raises ProcessFailed."""
    inherited = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        log = Path(folder, "log")
        with log.open("wb") as sink, _on(cpus):
            child = subprocess.Popen(  # noqa: S603 - commands of the benchmark only
                command,
                cwd=cwd,
                env={**inherited, **environment},
                stdin=subprocess.PIPE,
                stdout=sink,
                stderr=subprocess.STDOUT,
                # Ctrl-C is ours alone, so that we end it in order.
                start_new_session=True,
            )
        try:
            yield Process(name, child.pid, _port(name, child, log))
        finally:
            _end(child)


@contextmanager
def _on(cpus: Collection[int]) -> Iterator[None]:
    """What is started meanwhile runs on these processors, from its first thread on: affinity is
    inherited, and set afterwards it would miss the threads that are there already."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def _port(name: str, child: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        ended = child.poll() is not None
        said = log.read_bytes()
        if ended:
            raise ProcessFailed(f"{name} ended:\n{said.decode(errors='replace')[-2000:]}")
        # Only of whole lines: a port that is half written is another one.
        address = _ADDRESS.search(said[: said.rfind(b"\n") + 1])
        if address:
            return int(address[1])
        time.sleep(0.02)
    raise ProcessFailed(f"{name} did not listen within {_START_SECONDS} s")


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.stdin is not None:
        child.stdin.close()
    child.terminate()
    try:
        child.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
