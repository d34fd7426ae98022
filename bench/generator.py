"""The load: requests over keep-alive connections, and what they took. It reads no JSON: an answer
is right when it is a 200 of the length that the first one had."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, cast

__all__ = ["Connection", "Load", "WrongAnswer", "connected", "percentile", "send"]

_PATIENCE: Final = 120


class WrongAnswer(Exception):
    """An answer that is not like the first one, so that its time says nothing."""


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


class Connection(asyncio.Protocol):
    """One request at a time over one connection (RFC 9112)."""

    def __init__(self) -> None:
        self._received: list[bytes] = []
        self._missing = 0
        self._chunked = False
        self._in_head = True
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer and not self._answer.done():
            self._answer.set_exception(WrongAnswer("the server closed the connection"))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and content of the answer."""
        self._received, self._in_head = [], True
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._begin(data)
        else:
            self._received.append(data)
            self._missing -= len(data)
        if self._in_head or self._answer is None or self._answer.done():
            return
        # No text in JSON has a bare line break, so this can only be the last chunk.
        if self._received[-1].endswith(b"0\r\n\r\n") if self._chunked else self._missing <= 0:
            content = b"".join(self._received)
            content = _unchunked(content) if self._chunked else content
            self._answer.set_result((self._status, content))

    def _begin(self, data: bytes) -> None:
        self._received.append(data)
        head, found, rest = b"".join(self._received).partition(b"\r\n\r\n")
        if not found:
            return
        fields = head.lower().split(b"\r\n")
        self._status = int(fields[0].split(b" ")[1])
        self._chunked = b"transfer-encoding: chunked" in fields
        lengths = [int(each[15:]) for each in fields if each.startswith(b"content-length:")]
        self._missing = (lengths[0] if lengths else 0) - len(rest)
        self._received, self._in_head = [rest], False


def _unchunked(content: bytes) -> bytes:
    parts: list[bytes] = []
    while True:
        size, _, content = content.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            return b"".join(parts)
        parts.append(content[:length])
        content = content[length + 2 :]


@asynccontextmanager
async def connected(port: int, number: int) -> AsyncIterator[list[Connection]]:
    """So many connections to 127.0.0.1."""
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(Connection, "127.0.0.1", port) for _ in range(number)]
    try:
        yield [protocol for _, protocol in made]
    finally:
        for transport, _ in made:
            transport.close()


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
