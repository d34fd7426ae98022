"""One engine for a folder of data, however many processes want it at the same time.

Two engines on the same files spoil each other's writes, so whoever comes second joins the one that
runs, and the last to leave ends it. In the folder are:

- `engine.turn`, locked by who is starting, joining or leaving;
- `engine.url`, with the engine's address, locked by all who use it;
- `engine.pipe`, a named pipe that the engine reads from and that they hold open. The kernel closes
  their ends however they end; when the last one closes, the engine leaves. That nobody reads from
  it says that the address is out of date.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has neither these locks nor named pipes in folders.
    CAN_SHARE = False
else:
    CAN_SHARE = True

__all__ = ["CAN_SHARE", "StillThereError", "shared"]

LEAVE_SECONDS = 5


class StillThereError(Exception):
    """An engine that nobody uses any more did not end."""


@contextmanager
def shared(folder: Path, start: Callable[[int], str]) -> Iterator[str]:
    """The address of the engine on the data in `folder`, which exists. It is started unless it
    runs: `start` takes the descriptor that is to be its stdin, and returns its address. Raises
    what `start` does, and StillThereError."""
    users = os.open(folder / "engine.url", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with _turn(folder):
            if _alone(users):
                # After a kill it takes a moment to end.
                _await_end(folder)
            pipe = _hold(folder)
            if pipe is None:
                pipe = _start(folder, users, start)
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield os.pread(users, 200, 0).decode()
        finally:
            with _turn(folder):
                is_last = _alone(users)
                os.close(pipe)
                if is_last:
                    with suppress(StillThereError):  # Whoever comes next is told.
                        _await_end(folder)
    finally:
        os.close(users)


def _start(folder: Path, users: int, start: Callable[[int], str]) -> int:
    pipe = folder / "engine.pipe"
    with suppress(FileExistsError):
        os.mkfifo(pipe, 0o600)
    # Neither end waits for the other, since the first is opened without it.
    stdin = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        held = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.set_blocking(stdin, True)
            url = start(stdin)
        except BaseException:
            os.close(held)
            raise
    finally:
        os.close(stdin)
    os.ftruncate(users, 0)
    os.pwrite(users, url.encode(), 0)
    return held


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    turn = os.open(folder / "engine.turn", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
    finally:
        os.close(turn)


def _alone(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _hold(folder: Path) -> int | None:
    """An end of the pipe that keeps the engine, or None where there is no engine."""
    try:
        return os.open(folder / "engine.pipe", os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # ENXIO without a reader, ENOENT without a pipe.
        return None


def _await_end(folder: Path) -> None:
    deadline = time.monotonic() + LEAVE_SECONDS
    while (held := _hold(folder)) is not None:
        # Closed at once: while it is open, the engine does not see that all have left.
        os.close(held)
        if time.monotonic() > deadline:
            raise StillThereError(
                f"the engine at {(folder / 'engine.url').read_text() or folder} has no user and "
                f"did not end within {LEAVE_SECONDS} s"
            )
        time.sleep(0.02)
