"""What becomes of a body that nobody reads, because its request is refused first."""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MAX_DISCARDED_BYTES", "CloseUnread"]

MAX_DISCARDED_BYTES: Final = 10_000_000
"""uvicorn throws away what follows of such a body. Up to here it may, so that the client gets to
reading the answer and keeps its connection."""


class CloseUnread:
    """Middleware. Ends the connection after an answer that came before the whole body, if much of
    it may follow, or, in chunks, nobody knows how much (RFC 9112 §9.3)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _may_be_large(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        is_read = False

        async def reading() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body", False)
            return message

        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start" and not is_read:
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self._app(scope, reading, closing)


def _may_be_large(headers: Headers) -> bool:
    if "transfer-encoding" in headers:
        return True
    # The server has seen to it that it is a number.
    return int(headers.get("content-length", "0")) > MAX_DISCARDED_BYTES
