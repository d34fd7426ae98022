"""The protocol of WebSocket towards somebody who has stopped reading."""

import asyncio
import socket
from typing import Any, cast

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn import Config
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from server.websocket_protocol import BoundedWebSocket


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.socket, self._other = socket.socketpair()
        super().__init__({"socket": self.socket, "sockname": None, "peername": None})
        self.written = b""

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        self.socket.close()
        self._other.close()

    def abort(self) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


class Open:
    """A connection that is open, from its client's side and from the server's."""

    def __init__(self) -> None:
        self.is_open = asyncio.Event()
        self.client = ClientProtocol(parse_uri("ws://planner.test/graphql"))
        self.wire = Wire()
        config = Config(self._app, ws=BoundedWebSocket, interface="asgi3", log_config=None)
        config.load()
        self.server = BoundedWebSocket(config, ServerState(), {})
        self.server.connection_made(self.wire)
        self.client.send_request(self.client.connect())
        self.say()

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        self.is_open.set()
        await receive()

    def say(self) -> None:
        """Passes on what the client has to say."""
        self.server.data_received(b"".join(self.client.data_to_send()))

    def hear(self) -> list[Opcode]:
        """What frames have come."""
        self.client.receive_data(self.wire.written)
        self.wire.written = b""
        received = self.client.events_received()
        return [each.opcode for each in received if isinstance(each, Frame)]


@pytest.fixture
async def opened() -> Any:
    opened = Open()
    async with asyncio.timeout(5):
        await opened.is_open.wait()
    opened.hear()
    yield opened
    opened.server.connection_lost(None)
    await asyncio.gather(*opened.server.tasks)


def test_pings_are_answered_only_while_the_answers_are_read(opened: Open) -> None:
    opened.client.send_ping(b"1")
    opened.say()
    assert opened.hear() == [Opcode.PONG]
    opened.server.pause_writing()
    opened.client.send_ping(b"2")
    opened.say()
    assert opened.hear() == []
    opened.server.resume_writing()
    opened.client.send_ping(b"3")
    opened.say()
    assert opened.hear() == [Opcode.PONG]


async def test_a_close_waits_for_no_reader_and_a_message_does(opened: Open) -> None:
    opened.server.pause_writing()
    message = asyncio.create_task(
        opened.server.send(cast("Any", {"type": "websocket.send", "text": "x"}))
    )
    await asyncio.sleep(0)
    assert not message.done()
    message.cancel()
    async with asyncio.timeout(5):
        await opened.server.send(cast("Any", {"type": "websocket.close", "code": 1013}))
    assert opened.hear() == [Opcode.CLOSE]
