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
    """What a number of requests took: seconds for all of them, and for each."""

    seconds: float
    latencies: Sequence[float]

    @property
    def per_second(self) -> float:
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
    """Sends `count` requests, those from `first` on, each over whichever connection is free.
    Raises WrongAnswer for a status other than 200, and for a content of another `length`."""
    numbers = iter(range(first, first + count))
    latencies: list[float] = []

    async def work(connection: Connection) -> None:
        for number in numbers:
            content = request(number)
            began = time.perf_counter()
            status, answer = await connection.ask(content)
            latencies.append(time.perf_counter() - began)
            if status != 200 or (length is not None and len(answer) != length):
                raise WrongAnswer(f"status {status}, {len(answer)} bytes: {answer[:300]!r}")

    began = time.perf_counter()
    async with asyncio.timeout(_PATIENCE), asyncio.TaskGroup() as group:
        for connection in connections:
            group.create_task(work(connection))
    return Load(time.perf_counter() - began, latencies)
