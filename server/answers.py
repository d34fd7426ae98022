"""Answers in JSON that are not the result of an operation."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Message

from data.errors import PlannerError
from schema.json_bytes import json_bytes

__all__ = ["JSON", "internal_error", "is_start", "json_response", "problem"]

JSON: Final = "application/json"


def problem(message: str, code: str, **extensions: str) -> dict[str, Any]:
    """A body with one error, of the form that GraphQL gives errors."""
    return {"errors": [{"message": message, "extensions": {"code": code, **extensions}}]}


def internal_error(correlation_id: str) -> dict[str, Any]:
    """The body of a fault of ours, masked: the log has the rest under the correlation id."""
    return problem("Internal error", PlannerError.code, correlationId=correlation_id)


def json_response(
    body: Mapping[str, Any],
    status: int,
    *,
    media_type: str = JSON,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The body as JSON in UTF-8."""
    return Response(json_bytes(body), status, headers, media_type=f"{media_type}; charset=utf-8")


def is_start(message: Message) -> bool:
    """Whether the ASGI message is the head of an answer: to a request, or to a handshake that is
    refused as a request is."""
    return message["type"] in ("http.response.start", "websocket.http.response.start")
