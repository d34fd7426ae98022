"""One HTTP/1.1 connection as a client sees it, with the parser of httptools (RFC 9112).

It carries one request at a time, and is closed as soon as it is not sure whose the next byte is.
"""

import asyncio
from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from data.endpoint import Endpoint

__all__ = ["TICKS", "Answer", "Connection", "Disconnected", "Owner", "ReadTimeout"]

_LARGEST: Final = 16 * 1024 * 1024
"""Bytes of an answer with its headers. DynamoDB has 16 MB for BatchGetItem, and less for others."""

TICKS: Final = 5
"""In how many steps a time limit passes. What the loop is late by is within one step, whatever it
is, and it looks at its sockets between two: it is the other side that was silent, not ourselves."""


class Disconnected(ConnectionError):
    """The connection ended, or what came is no answer, after the request may have been read."""


class ReadTimeout(TimeoutError):
    """Nothing came for too long."""


class Answer(NamedTuple):
    """A final answer. The names of its headers are in lower case; of equal ones the last counts."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Owner(Protocol):
    """Whose the connection is."""

    idle_timeout: float
    loop: asyncio.AbstractEventLoop

    def unusable(self, connection: "Connection") -> None:
        """It must carry no further request; said once or more."""

    def lost(self, connection: "Connection") -> None:
        """It is closed."""


class Connection(asyncio.Protocol):
    """`usable` until it ends, or says something that nobody asked for. `idle_since` is the owner's
    to set, in seconds of its clock."""

    __slots__ = (
        "_answer",
        "_body",
        "_head",
        "_headers",
        "_owner",
        "_parser",
        "_size",
        "_ticks",
        "_transport",
        "_waiter",
        "endpoint",
        "idle_since",
        "usable",
    )

    def __init__(self, owner: Owner, endpoint: Endpoint) -> None:
        self._owner, self.endpoint = owner, endpoint
        self._transport: asyncio.Transport | None = None
        self._parser: HttpResponseParser | None = None
        self._waiter: asyncio.Future[Answer] | None = None
        self._ticks = 0
        self.idle_since = 0.0
        self.usable = False

    def ask(self, request: bytes) -> asyncio.Future[Answer]:
        """Sends a request, and is done with its answer or an exception."""
        waiter = self._owner.loop.create_future()
        if not self.usable or self._transport is None or self._transport.is_closing():
            waiter.set_exception(Disconnected("it ended at once"))
            return waiter
        self._waiter = waiter
        # A new one for each: it takes a second answer for one that was asked for.
        self._parser = HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._head: tuple[int, dict[str, str]] | None = None
        self._body: list[bytes] = []
        self._answer: Answer | None = None
        self._size = self._ticks = 0
        self._transport.write(request)
        return waiter

    def drop(self) -> None:
        """Closes it at once, and whoever waits for an answer gets none."""
        self._unusable()
        if self._transport:
            self._transport.abort()

    def tick(self, step: float) -> None:
        """A step of time has passed."""
        self._ticks += 1
        if self._waiter:
            if self._ticks > TICKS:
                self._fail(ReadTimeout("no answer in time"))
        elif self._ticks * step > self._owner.idle_timeout:
            self.drop()

    # What the transport calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.usable = True

    def data_received(self, data: bytes) -> None:
        if self._waiter is None or self._parser is None:
            self.drop()
            return
        self._ticks = 0
        self._size += len(data)
        if self._size > _LARGEST:
            self._fail(Disconnected("the answer is too large"))
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self.usable = False
            if self._answer is None:
                self._fail(Disconnected(f"not an answer: {error}"))
        if self._answer:
            self._finish(self._answer)

    def eof_received(self) -> None:
        self._unusable()
        if self._waiter and self._head:
            status, headers = self._head
            # RFC 9112, 6.3: then the end of the connection is the end of the body.
            if status >= 200 and not headers.keys() & {"content-length", "transfer-encoding"}:
                self._finish(Answer(status, headers, b"".join(self._body)))

    def connection_lost(self, exc: Exception | None) -> None:
        self._unusable()
        if self._waiter:
            error = Disconnected("the connection ended")
            error.__cause__ = exc
            self._fail(error)
        self._parser = None
        self._owner.lost(self)

    # What the parser calls

    def on_message_begin(self) -> None:
        if self._answer:
            self.usable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        parser = cast("HttpResponseParser", self._parser)
        if self._answer is None:
            self._head = status, _ = parser.get_status_code(), self._headers
            if status >= 200 and not parser.should_keep_alive():
                self.usable = False
        # What comes now are trailers, or headers after those of an interim answer.
        self._headers = {}

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._answer is None and self._head and self._head[0] >= 200:
            self._answer = Answer(*self._head, b"".join(self._body))

    # What becomes of a request

    def _finish(self, answer: Answer) -> None:
        waiter, self._waiter = self._waiter, None
        # While it is idle it holds no memory.
        self._parser = self._answer = self._head = None
        self._body = []
        if not self.usable:
            self.drop()
        if waiter and not waiter.done():
            waiter.set_result(answer)

    def _fail(self, error: OSError) -> None:
        waiter, self._waiter = self._waiter, None
        self.drop()
        if waiter and not waiter.done():
            waiter.set_exception(error)

    def _unusable(self) -> None:
        self.usable = False
        self._owner.unusable(self)
