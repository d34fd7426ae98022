"""Optimistic locking without a loser: read, change, write if nobody else wrote, else again."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Final

__all__ = ["attempts"]

_MOST: Final = 12
_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.4


async def attempts() -> AsyncIterator[int]:
    """The numbers of the attempts that a contended write has, with a jittered pause (full jitter)
    before each but the first. About two seconds in all."""
    for attempt in range(_MOST):
        if attempt:
            longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
            await asyncio.sleep(random.uniform(0, longest))  # noqa: S311 (jitter, not a secret)
        yield attempt
