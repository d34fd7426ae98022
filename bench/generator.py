"""The load: requests over keep-alive connections, and what they took. It reads no JSON: an answer
is right when it is a 200 of the length that the first one had."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.wire import Connection, WrongAnswer

__all__ = ["Load", "percentile", "send"]

_PATIENCE: Final = 120


@dataclass(frozen=True, slots=True)
class Load:
    """What a number of requests took: seconds for all of them, and for each that was answered as
    the first one was; and how many were not."""

    seconds: float
    latencies: Sequence[float]
    failures: int = 0

    @property
    def per_second(self) -> float:
        """Requests that were answered rightly, in a second."""
        return len(self.latencies) / self.seconds


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of the values do not exceed (nearest rank)."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


async def send(
    connections: Sequence[Connection],
    request: Callable[[int], bytes],
    *,
    count: int,
    first: int = 0,
    length: int | None = None,
) -> Load:
    """Sends `count` requests, those from `first` on, each over whichever connection is free. One
    whose status is not 200, or whose content has another `length`, failed. Raises WrongAnswer when
    all do, when a connection breaks, and when one waits for more than two minutes."""
    numbers = iter(range(first, first + count))
    latencies: list[float] = []
    wrong: list[str] = []

    async def work(connection: Connection) -> None:
        for number in numbers:
            content = request(number)
            began = time.perf_counter()
            status, answer = await connection.ask(content)
            took = time.perf_counter() - began
            if status == 200 and length in (None, len(answer)):
                latencies.append(took)
            else:
                wrong.append(f"status {status}, {len(answer)} bytes: {answer[:300]!r}")

    began = time.perf_counter()
    try:
        async with asyncio.timeout(_PATIENCE), asyncio.TaskGroup() as group:
            for connection in connections:
                group.create_task(work(connection))
    except TimeoutError:
        raise WrongAnswer(f"no answer within {_PATIENCE} s") from None
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if not latencies:
        raise WrongAnswer(wrong[0])
    return Load(time.perf_counter() - began, latencies, len(wrong))
