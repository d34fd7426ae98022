"""Optimistic locking without a loser: read, change, write if nobody else wrote, else again."""

import random
from collections.abc import Iterator
from typing import Final

__all__ = ["pauses"]

_MOST: Final = 12
_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.4


def pauses() -> Iterator[float]:
    """The seconds to wait before each attempt that a contended write has: none before the first,
    then longer and longer with full jitter. About two seconds in all."""
    yield 0.0
    for attempt in range(1, _MOST):
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
        yield random.uniform(0, longest)  # noqa: S311 (jitter, not a secret)
