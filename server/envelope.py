"""What a client sent, taken apart: GraphQL over HTTP, up to the document itself.

https://graphql.github.io/graphql-over-http/draft/ ; array batching is not taken.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request

__all__ = ["Envelope", "RequestRefused", "accepted_media_type", "read_get", "read_post"]

GRAPHQL_RESPONSE = "application/graphql-response+json"
JSON = "application/json"


class RequestRefused(Exception):
    """A request that is no GraphQL request: `status` is the 4xx to answer with."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True)
class Envelope:
    """The parameters of a GraphQL request: `query` or `document_id`, or both."""

    query: str | None
    document_id: str | None
    variables: Mapping[str, Any] | None
    operation_name: str | None


def accepted_media_type(headers: Headers) -> str:
    """The media type to answer in. Raises RequestRefused (406) when neither is accepted."""
    accept = headers.get("accept", "").strip()
    if not accept:
        return JSON
    best, best_quality = "", 0.0
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        for offer in (JSON, GRAPHQL_RESPONSE):
            if media_range in (offer, "application/*", "*/*"):
                quality = _quality(parameters)
                if quality > best_quality:
                    best, best_quality = offer, quality
    if not best:
        raise RequestRefused(406, f"This endpoint answers in {GRAPHQL_RESPONSE} or {JSON}.")
    return best


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


async def read_post(request: Request, *, max_body_bytes: int) -> Envelope:
    """The envelope of a POST. Only JSON is taken: what a form can send across sites is not."""
    media_type, *parameters = request.headers.get("content-type", "").lower().split(";")
    if media_type.strip() != JSON:
        raise RequestRefused(415, f"Send the request as {JSON}.")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip().strip('"') not in ("utf-8", "utf8"):
            raise RequestRefused(415, "Send the request in UTF-8.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_body_bytes:
            raise RequestRefused(413, f"A request may have at most {max_body_bytes} bytes.")
    try:
        # The standard library's parser lets a lone surrogate through, so that the rules of the
        # input can name the field that has it.
        content = json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise RequestRefused(400, "The body is not valid JSON.") from None
    if isinstance(content, list):
        raise RequestRefused(400, "Send one operation; batches are not taken.")
    if not isinstance(content, dict):
        raise RequestRefused(400, "The body must be a JSON object.")
    return _envelope(content)


def read_get(request: Request) -> Envelope:
    """The envelope of a GET, from the URL's query."""
    parameters: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        if name in parameters:
            try:
                parameters[name] = json.loads(parameters[name], parse_constant=_no_constant)
            except (ValueError, RecursionError):
                raise RequestRefused(400, f"`{name}` is not valid JSON.") from None
    return _envelope(parameters)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _envelope(content: Mapping[str, Any]) -> Envelope:
    query = content.get("query")
    if not isinstance(query, str | None):
        raise RequestRefused(400, "`query` must be a string that holds a GraphQL document.")
    for name in ("variables", "extensions"):
        if not isinstance(content.get(name), dict | None):
            raise RequestRefused(400, f"`{name}` must be an object.")
    operation_name = content.get("operationName")
    if not isinstance(operation_name, str | None):
        raise RequestRefused(400, "`operationName` must be a string.")
    document_id = _document_id(content)
    if document_id is None and not (query and query.strip()):
        raise RequestRefused(400, "`query` must be a string that holds a GraphQL document.")
    return Envelope(query, document_id, content.get("variables"), operation_name or None)


def _document_id(content: Mapping[str, Any]) -> str | None:
    """The hash of a trusted document, from either place where clients put it."""
    persisted = (content.get("extensions") or {}).get("persistedQuery")
    if not isinstance(persisted, dict | None):
        raise RequestRefused(400, "`extensions.persistedQuery` must be an object.")
    document_id = content.get("documentId", (persisted or {}).get("sha256Hash"))
    if not isinstance(document_id, str | None):
        raise RequestRefused(400, "The hash of a document must be a string.")
    return document_id
