"""The id by which an answer leads to the lines of the log that are about its request."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, reset_contextvars

from server.answers import is_start

__all__ = ["CORRELATION_HEADER", "CORRELATION_ID", "Correlate", "correlated"]

CORRELATION_HEADER: Final = "X-Correlation-Id"

_HEADER: Final = CORRELATION_HEADER.lower().encode()

CORRELATION_ID: Final = "planner.correlation_id"
"""Its key in the ASGI scope."""


@contextmanager
def correlated(scope: Scope) -> Iterator[Scope]:
    """The scope with an id of its own making, which every line that is logged meanwhile has."""
    correlation_id = uuid.uuid4().hex
    before = bind_contextvars(correlation_id=correlation_id)
    try:
        yield {**scope, CORRELATION_ID: correlation_id}
    finally:
        reset_contextvars(**before)


class Correlate:
    """Middleware. Gives each request an id of its own making, which the answer has as a header and
    every line that is logged meanwhile as a field."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        with correlated(scope) as own:
            header = (_HEADER, own[CORRELATION_ID].encode())

            async def with_id(message: Message) -> None:
                if is_start(message):
                    message["headers"] = [*message.get("headers", ()), header]
                await send(message)

            await self._app(own, receive, with_id)
