"""What an answer without an end asks of the connection that it is sent on: to tell when the server
stops, and to notice a reader that has stopped."""

import asyncio
import socket
from typing import Final

from starlette.types import Scope

__all__ = ["CLOSED_HERE", "CONNECTION", "Connection", "bound_buffers", "connection_of"]

CONNECTION: Final = "planner.connection"
"""Its key in the ASGI scope."""

CLOSED_HERE: Final = "planner.closed_here"
"""In an event `websocket.disconnect` of a WebSocket that this side has closed by itself: for a
message that is too large, or one that is none."""

BUFFER_BYTES: Final = 131_072
"""What may wait to be sent: so much here, and about as much in the kernel, which by itself would
take megabytes for a reader that has stopped."""


class Connection:
    """The connection of a request. Without a transport, as under another server, it is one that
    never stops and has no buffers."""

    def __init__(self, transport: asyncio.Transport | None = None) -> None:
        self.stopping = asyncio.Event()
        """Set once the server has been told to stop."""
        self._transport = transport

    def bound_buffers(self) -> None:
        """Keeps what waits to be sent small, from here on."""
        # One that is lost already has none.
        if self._transport and not self._transport.is_closing():
            bound_buffers(self._transport)

    def cut(self) -> bool:
        """Ends the connection at once, whatever waits to be sent; whether it is one that can be."""
        if self._transport:
            self._transport.abort()
        return self._transport is not None


def connection_of(scope: Scope) -> Connection:
    """The connection of the request."""
    found: Connection | None = scope.get(CONNECTION)
    return found or Connection()


def bound_buffers(transport: asyncio.Transport) -> None:
    """Bounds what waits to be sent: `send` waits beyond it."""
    transport.set_write_buffer_limits(high=BUFFER_BYTES)
    sending = transport.get_extra_info("socket")
    sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
