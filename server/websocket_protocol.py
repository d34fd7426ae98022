"""uvicorn's protocol of WebSocket (RFC 6455), with bounds on what a reader that has stopped leaves
behind, and without a word of what is said in it in the log.

What of the handshake is refused before the application sees it is refused in JSON, as all else is.
"""

import asyncio
import logging
from typing import Any, Final, cast

import orjson
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets import http11
from websockets.frames import CloseCode, Frame
from websockets.http11 import Response
from websockets.server import ServerProtocol
from websockets.typing import StatusLike

from data.errors import BadInput
from server.answers import JSON, problem
from server.connection import CLOSED_HERE, bound_buffers
from server.protocol import MAX_HEAD_BYTES

__all__ = ["CLOSE_SECONDS", "BoundedWebSocket"]

CLOSE_SECONDS: Final = 5.0
"""How long the other side may take to answer a close and to read what was sent before."""

# Both are bounded by BoundedHttp, which has read the head before; by default the cookies of a long
# session would be too much here.
http11.MAX_LINE_LENGTH = http11.MAX_NUM_HEADERS = MAX_HEAD_BYTES

# By itself the protocol logs the address with its query, and at the level `debug` all that is sent.
_quiet = logging.getLogger(f"{__name__}.quiet")
_quiet.setLevel(logging.WARNING)


class _Handshake(ServerProtocol):
    def reject(self, status: StatusLike, text: str) -> Response:
        message = text.strip() or "No WebSocket begins with this request."
        response = super().reject(status, orjson.dumps(problem(message, BadInput.code)).decode())
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = f"{JSON}; charset=utf-8"
        response.headers["Cache-Control"] = "no-store"
        return response


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A connection whose buffers are small, and which is cut CLOSE_SECONDS after its application
    has ended, read to its end or not. To whoever does not read, a close is sent without waiting."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = _quiet
        self.conn = _Handshake(max_size=self.config.ws_max_size, logger=_quiet)
        self.close_timeout = CLOSE_SECONDS
        self._cut: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        bound_buffers(self.transport)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc and not self.handshake_initiated and not self.close_sent:
            # A head that has, say, a body. By itself uvicorn hears nothing of it, goes on waiting,
            # and fails when it is told to stop.
            self.transport.write(self.conn.reject(400, "").serialize())
            self.handshake_complete = self.close_sent = True
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._cut:
            self._cut.cancel()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        if self in self.connections:
            self._cut = self.loop.call_later(CLOSE_SECONDS, self.transport.abort)

    def handle_cont(self, event: Frame) -> None:
        # Kept as one piece: a million pieces of a byte take many times the memory of the message
        # that they are, and there is no bound to those of none.
        begun = cast("bytes | bytearray", self.frames[0])
        whole = begun if isinstance(begun, bytearray) else bytearray(begun)
        whole += event.data
        self.frames = [whole]  # type: ignore[list-item]
        if event.fin:
            self.send_receive_event_to_app()

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent:
            try:
                self.frames[0].decode()
            except UnicodeDecodeError:
                # By itself uvicorn logs what clients send as a fault of the server.
                self.conn.send_close(CloseCode.INVALID_DATA)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        # RFC 6455 §5.5.3: not every ping needs its pong. They would pile up for who reads none.
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def handle_parser_exception(self) -> None:
        """Closes, and tells the application that it was closed here."""
        assert self.conn.close_sent is not None  # noqa: S101 - for the types
        code, reason = self.conn.close_sent.code, self.conn.close_sent.reason
        event = {"type": "websocket.disconnect", "code": code, "reason": reason, CLOSED_HERE: True}
        self.queue.put_nowait(event)  # type: ignore[arg-type]
        self.transport.write(b"".join(self.conn.data_to_send()))
        # What the application has yet to say is nobody's.
        self.close_sent = self.disconnected = True
        self.transport.close()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.disconnected = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": 1006})

    async def send(self, message: ASGISendEvent) -> None:
        if message["type"] == "websocket.close":
            if self.disconnected:
                raise ClientDisconnected
            self.writable.set()
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            # Refused, and all that was to be sent is sent: nothing to complain of.
            self.handshake_complete = self.handshake_complete or self.close_sent
