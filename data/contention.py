"""Optimistic locking without a loser: read, change, write if nobody else wrote, else again."""

from collections.abc import Iterator
from typing import Final

from data.patience import jittered

__all__ = ["pauses"]

_MOST: Final = 12
_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.4


def pauses() -> Iterator[float]:
    """The seconds to wait before each attempt that a contended write has: none before the first,
    then longer and longer with full jitter. About two seconds in all."""
    yield 0.0
    for attempt in range(1, _MOST):
        yield jittered(attempt, _FIRST_PAUSE, _LONGEST_PAUSE)
