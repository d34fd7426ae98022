"""How long what may pass is waited for, and how often it is tried meanwhile."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar, TypeVarTuple

from data.errors import Unavailable

__all__ = ["jittered", "patiently"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_LONGEST_PAUSE: Final = 5.0


def jittered(attempt: int, first: float, longest: float = _LONGEST_PAUSE) -> float:
    """Seconds to wait after the attempt of this number, from 0 on: longer and longer, with full
    jitter."""
    return random.uniform(0, min(longest, first * 2 ** min(attempt, 30)))  # noqa: S311 (no secret)


async def patiently(
    request: Callable[[*Ts], Awaitable[T]], *args: *Ts, seconds: float, pause: float
) -> T:
    """What the request returns for these arguments, sent again while it raises Unavailable. Raises
    it when it still does after so many seconds."""
    deadline = time.monotonic() + seconds
    attempt = 0
    while True:
        try:
            return await request(*args)
        except Unavailable:
            wait = jittered(attempt, pause)
            if time.monotonic() + wait > deadline:
                raise
        await asyncio.sleep(wait)
        attempt += 1
