"""The id by which an answer leads to the lines of the log that are about its request."""

import uuid
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, reset_contextvars

__all__ = ["CORRELATION_HEADER", "CORRELATION_ID", "Correlate"]

CORRELATION_HEADER: Final = "X-Correlation-Id"

_HEADER: Final = CORRELATION_HEADER.lower().encode()

CORRELATION_ID: Final = "planner.correlation_id"
"""Its key in the ASGI scope."""


class Correlate:
    """Middleware. Gives each request an id of its own making, which the answer has as a header and
    every line that is logged meanwhile as a field."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        correlation_id = uuid.uuid4().hex

        async def with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message.get("headers", ()),
                    (_HEADER, correlation_id.encode()),
                ]
            await send(message)

        before = bind_contextvars(correlation_id=correlation_id)
        try:
            await self._app({**scope, CORRELATION_ID: correlation_id}, receive, with_id)
        finally:
            reset_contextvars(**before)
