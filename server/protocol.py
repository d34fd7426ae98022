"""uvicorn's protocol of HTTP/1.1, with a bound on the head of a request, and with what answers
without an end need of it.

llhttp, which parses here, has no such bound: a header without an end would be kept in memory for as
long as it is sent.
"""

import asyncio
from collections import deque
from typing import Any, Final

import orjson
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from data.errors import BadInput
from server.answers import JSON, problem
from server.connection import CONNECTION, Connection

__all__ = ["MAX_HEAD_BYTES", "BoundedHttp"]

MAX_HEAD_BYTES: Final = 65_536
"""Request line and headers. The largest session takes 16 KiB; uvicorn's other parser, h11, has the
same bound."""


class _HeadTooLarge(Exception):
    pass


class BoundedHttp(HttpToolsProtocol):
    """Refuses a head over MAX_HEAD_BYTES with 431 (RFC 6585 §5), and what is no HTTP with 400,
    both in JSON. The connection ends with either: where the next request begins is unknown.

    An upgrade to WebSocket is one only if it is whole and comes alone; else it stays a request of
    HTTP, which the application refuses."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = False
        self._in_body = False
        self._head_bytes = 0
        # What was received and has led to nothing yet: part of a head, or of trailers.
        self._pending_bytes = 0
        self._may_upgrade = False
        # Requests without a whole answer, in their order: those behind the first wait for it.
        self._unanswered: deque[RequestResponseCycle] = deque()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._connection = Connection(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        # By itself uvicorn tells the last one alone, and the first would be answered for ever.
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()

    def shutdown(self) -> None:
        super().shutdown()
        self._connection.stopping.set()

    def data_received(self, data: bytes) -> None:
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self._refuse_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[CONNECTION] = self._connection  # type: ignore[typeddict-unknown-key]
        self._in_head = True
        self._head_bytes = 0
        self._may_upgrade = False

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:
            super().on_header(name, value)
        # Trailers (RFC 9110 §6.5) are nothing that is understood here: counted, and dropped.
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._in_body = True
        self._pending_bytes = 0
        is_alone = self.cycle is None or self.cycle.response_complete
        is_get = self.parser.get_method() == b"GET" and self.parser.get_http_version() == "1.1"
        self._may_upgrade = is_alone and is_get
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not before:
            self._unanswered.append(self.cycle)

    def on_response_complete(self) -> None:
        self._unanswered.popleft()
        super().on_response_complete()

    def _should_upgrade_to_ws(self) -> bool:
        return self._may_upgrade and super()._should_upgrade_to_ws()

    def _unsupported_upgrade_warning(self) -> None:
        """Says nothing: the application refuses it, in its own words."""

    def on_body(self, body: bytes) -> None:
        self._pending_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        self._pending_bytes = 0
        super().on_message_complete()

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES:
            raise _HeadTooLarge  # The parser stops, and `data_received` goes on below.

    def send_400_response(self, msg: str) -> None:
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse_head()
        else:
            self._refuse(400, msg)

    def _refuse_head(self) -> None:
        self._refuse(431, f"Request line and headers may have {MAX_HEAD_BYTES} bytes at most.")

    def _refuse(self, status: int, message: str) -> None:
        cycle = self.cycle
        under_way = cycle is not None and not cycle.response_complete
        if under_way and not self._in_body:
            # A request before it has yet to be answered (RFC 9112 §9.3.2): that, and then the end.
            cycle.keep_alive = False
            self.flow.pause_reading()
            return
        body = orjson.dumps(problem(message, BadInput.code))
        head = (
            f"content-type: {JSON}; charset=utf-8\r\ncontent-length: {len(body)}\r\n"
            "cache-control: no-store\r\nconnection: close\r\n\r\n"
        )
        # In the middle of an answer there is no room for another.
        if not (under_way and cycle.response_started):
            self.transport.write(STATUS_LINE[status] + head.encode() + body)
        self.transport.close()
