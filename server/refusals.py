"""What is refused or fails on any path, outside of an endpoint: in JSON, like all else."""

import asyncio
from typing import Final

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from data.errors import BadInput, Unavailable
from server.answers import internal_error, is_start, json_response, problem
from server.correlation import CORRELATION_ID
from server.telemetry import Telemetry

__all__ = ["MaskFaults", "NoWebSocket", "http_exception", "refuse"]

_MESSAGES: Final = {404: "There is nothing at this address.", 405: "This address takes {allow}."}

log = structlog.get_logger(__name__)


async def http_exception(request: Request, error: Exception) -> Response:
    """Starlette's handler for what routing refuses: an unknown address, or a method that a known
    one does not take."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for this type
    headers = dict(error.headers or {})
    if allowed := headers.get("Allow"):
        # Starlette keeps a set, whose order changes from start to start.
        headers["Allow"] = ", ".join(sorted(allowed.split(", ")))
    message = _MESSAGES.get(error.status_code, "This request is not taken.")
    body = problem(message.format(allow=headers.get("Allow")), BadInput.code)
    response = json_response(body, error.status_code, headers=headers)
    telemetry: Telemetry = request.app.state.telemetry
    telemetry.refused(request.scope, response.status_code, BadInput.code)
    return response


class NoWebSocket:
    """An ASGI application that refuses handshakes of WebSocket, at addresses that have none."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        telemetry: Telemetry = scope["app"].state.telemetry
        telemetry.refused(scope, 404, BadInput.code)
        response = json_response(problem(_MESSAGES[404], BadInput.code), 404)
        await refuse(response, scope, receive, send)


async def refuse(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Sends the refusal of a request, or of a handshake: that as what the client would get for a
    request, where the server knows how (ASGI's extension `websocket.http.response`)."""
    extensions = scope.get("extensions") or {}
    if scope["type"] == "websocket" and "websocket.http.response" not in extensions:
        await WebSocketClose()(scope, receive, send)
    else:
        await response(scope, receive, send)


class MaskFaults:
    """Middleware. An exception that nobody expected is logged, and answered with a masked 500
    that has the correlation id of the log. A request that a stopping server gives up is 503."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or is_start(message) or message["type"] == "websocket.accept"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if not started:
                body = problem("The server is stopping.", Unavailable.code)
                await refuse(json_response(body, 503), scope, receive, send)
            raise
        except Exception:
            if started:
                raise  # The server cuts the connection: half an answer must not look whole.
            correlation_id = scope[CORRELATION_ID]
            log.exception("request failed", correlation_id=correlation_id)
            response = json_response(internal_error(correlation_id), 500)
            await refuse(response, scope, receive, send)
