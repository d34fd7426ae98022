"""Answers in JSON that are not the result of an operation: refusals and faults, on every path."""

import asyncio
import json
import uuid
from collections.abc import Mapping
from typing import Any, Final

import orjson
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from data.errors import BadInput, PlannerError, Unavailable
from server.telemetry import Telemetry

__all__ = ["JSON", "MaskFaults", "http_exception", "json_response", "problem"]

JSON: Final = "application/json"

_MESSAGES: Final = {404: "There is nothing at this address.", 405: "This address takes {allow}."}

_log = structlog.get_logger(__name__)


def problem(message: str, code: str, **extensions: str) -> dict[str, Any]:
    """A body with one error, of the form that GraphQL gives errors."""
    return {"errors": [{"message": message, "extensions": {"code": code, **extensions}}]}


def json_response(
    body: Mapping[str, Any],
    status: int,
    *,
    media_type: str = JSON,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The body as JSON in UTF-8."""
    try:
        content = orjson.dumps(body)
    except TypeError:
        # A message may repeat what a client sent, a lone surrogate included: escape it.
        content = json.dumps(body).encode()
    return Response(content, status, headers, media_type=f"{media_type}; charset=utf-8")


async def http_exception(request: Request, error: Exception) -> Response:
    """Starlette's handler for what routing refuses: an unknown address, or a method that a known
    one does not take."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for this type
    headers = dict(error.headers or {})
    if allowed := headers.get("Allow"):
        # Starlette keeps a set, whose order changes from start to start.
        headers["Allow"] = ", ".join(sorted(allowed.split(", ")))
    message = _MESSAGES.get(error.status_code, error.detail)
    body = problem(message.format(allow=headers.get("Allow")), BadInput.code)
    response = json_response(body, error.status_code, headers=headers)
    telemetry: Telemetry = request.app.state.telemetry
    return telemetry.refusal(response, BadInput.code)


class MaskFaults:
    """Middleware. An exception that nobody expected is logged, and answered with a masked 500
    that has the correlation id of the log. A request that a stopping server gives up is 503."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if not started:
                body = problem("The server is stopping.", Unavailable.code)
                await json_response(body, 503)(scope, receive, send)
            raise
        except Exception:
            if started:
                raise  # The server cuts the connection: half an answer must not look whole.
            correlation_id = uuid.uuid4().hex
            _log.exception("request failed", correlation_id=correlation_id)
            body = problem("Internal error", PlannerError.code, correlationId=correlation_id)
            await json_response(body, 500)(scope, receive, send)
