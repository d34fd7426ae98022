"""HTTP/1.1 connections that are kept open, for POSTs whose answers are read whole.

A general client has streams, redirects, cookies and hooks, and takes longer over a small request
than all the rest of it. This one has what requests to DynamoDB need, and no more. See
docs/adr/0016-own-requests.md.
"""

import asyncio
import ssl
import time
from collections import deque
from collections.abc import Callable, Mapping

from data.connection import TICKS, Answer, Connection, Disconnected
from data.endpoint import Endpoint

__all__ = ["ConnectTimeout", "Connections"]


class ConnectTimeout(TimeoutError):
    """There was no connection in time."""


class Connections:
    """At most so many connections, each in use, idle or being opened. The idle one that was used
    last is taken first, so that those beyond need grow old and are closed. Requests that find none
    wait in turn, without limit.

    Times are in seconds: `connect_timeout` for TCP and TLS together, `read_timeout` for silence
    while an answer is due, `idle_timeout` for a connection that nobody uses. They pass by fifths
    of `read_timeout`, and up to one more.

    None of that passes while the process is stopped: suspended, or frozen as AWS Lambda does it.
    `clock` is the time of day, by which a connection that was idle meanwhile is known as too old.
    """

    def __init__(
        self,
        max_connections: int,
        tls: ssl.SSLContext,
        *,
        connect_timeout: float,
        read_timeout: float,
        idle_timeout: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.connect_timeout = connect_timeout
        self.read_timeout = read_timeout
        self.idle_timeout = idle_timeout
        self.free = max_connections
        self.idle: list[Connection] = []
        self.open: set[Connection] = set()
        self.closed: asyncio.Future[None] | None = None
        self.loop = asyncio.get_running_loop()
        self._tls = tls
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def post(self, endpoint: Endpoint, headers: Mapping[str, str], body: bytes) -> Answer:
        """Sends one request, once, with these headers and the length of the body. Raises
        ConnectTimeout, ReadTimeout, Disconnected, or another OSError (that of TLS and of name
        resolution among them), and ValueError for a header that breaks its line."""
        request = _request(endpoint.path, headers, body)
        if self.free:
            self.free -= 1
        else:
            await self._place()
        connection: Connection | None = None
        try:
            connection = self._reused(endpoint) or await self._opened(endpoint)
            answer = await connection.ask(request)
            if connection.usable:
                connection.idle_since = self._clock()
                self.idle.append(connection)
            return answer
        except BaseException:
            # Its answer would be read by the next one.
            if connection:
                connection.drop()
            raise
        finally:
            self._give_back()

    async def aclose(self) -> None:
        """Closes all connections, also under requests, and returns when they are closed."""
        self.closed = self.loop.create_future()
        if self._timer:
            self._timer.cancel()
        for connection in tuple(self.open):
            connection.drop()
        if self.open:
            await self.closed

    async def _place(self) -> None:
        place = self.loop.create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self._give_back()
            raise

    def _give_back(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.free += 1

    def _reused(self, endpoint: Endpoint) -> Connection | None:
        too_old = self._clock() - self.idle_timeout
        for connection in reversed(tuple(self.idle)):
            if connection.idle_since < too_old:
                connection.drop()
            elif connection.endpoint == endpoint:
                self.idle.remove(connection)
                return connection
        return None

    async def _opened(self, endpoint: Endpoint) -> Connection:
        if self.closed:
            raise Disconnected("the connections are closed")
        if len(self.idle) > self.free:
            self.idle[0].drop()  # It goes elsewhere.
        connection = Connection(self, endpoint)
        tls = self._tls if endpoint.tls else None
        try:
            async with asyncio.timeout(None) as limit:
                timer = _Countdown(self.loop, self.connect_timeout, limit)
                try:
                    await self.loop.create_connection(
                        lambda: connection, endpoint.hostname, endpoint.port, ssl=tls
                    )
                finally:
                    timer.cancel()
        except TimeoutError as error:
            raise ConnectTimeout("no connection in time") from error
        if self.closed or not connection.usable:
            connection.drop()
            raise Disconnected("the connection ended at once")
        # No sooner, since the loop may have made one that it gave up.
        self.open.add(connection)
        if self._timer is None:
            self._timer = self.loop.call_later(self.read_timeout / TICKS, self._tick)
        return connection

    def unusable(self, connection: Connection) -> None:
        if connection in self.idle:
            self.idle.remove(connection)

    def lost(self, connection: Connection) -> None:
        self.open.discard(connection)
        if self.closed and not self.open and not self.closed.done():
            self.closed.set_result(None)

    def _tick(self) -> None:
        step = self.read_timeout / TICKS
        for connection in tuple(self.open):
            connection.tick(step)
        self._timer = self.loop.call_later(step, self._tick) if self.open else None


class _Countdown:
    """Ends a timeout in steps, like all times here."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, seconds: float, limit: asyncio.Timeout
    ) -> None:
        self._loop, self._step, self._limit = loop, seconds / TICKS, limit
        self._left = TICKS
        self._timer = loop.call_later(self._step, self._tick)

    def _tick(self) -> None:
        self._left -= 1
        if self._left:
            self._timer = self._loop.call_later(self._step, self._tick)
        else:
            self._limit.reschedule(self._loop.time())

    def cancel(self) -> None:
        self._timer.cancel()


def _request(path: str, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
    head = f"POST {path} HTTP/1.1\r\n{''.join(lines)}Content-Length: {len(body)}\r\n\r\n"
    if head.count("\n") != len(lines) + 3 or head.count("\r") != len(lines) + 3:
        raise ValueError("a header breaks its line")
    return head.encode() + body
