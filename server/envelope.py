"""What a client sent, taken apart: GraphQL over HTTP, up to the document itself.

https://graphql.github.io/graphql-over-http/draft/ ; array batching is not taken.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request

from server.answers import JSON

__all__ = [
    "EVENT_STREAM",
    "GRAPHQL_RESPONSE",
    "Envelope",
    "RequestRefused",
    "accepted_media_type",
    "envelope_of",
    "parse_json",
    "read_get",
    "read_post",
    "takes_events",
]

GRAPHQL_RESPONSE: Final = "application/graphql-response+json"
EVENT_STREAM: Final = "text/event-stream"
"""Server-sent events (HTML Standard §9.2), in which subscriptions are answered over HTTP."""

_WILDCARDS: Final = {
    JSON: ("application/*", "*/*"),
    GRAPHQL_RESPONSE: ("application/*", "*/*"),
    # Who takes anything has not asked for a stream.
    EVENT_STREAM: ("text/*",),
}


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
    """The media type to answer in, by RFC 9110 §12.5.1: of the ranges that fit an offer the most
    specific one counts; among equals, the client's order. Raises RequestRefused (406)."""
    ranges = _ranges(headers)
    if not any(ranges):
        return JSON
    best, best_rank = "", (0.0, 0)
    for offer in (JSON, GRAPHQL_RESPONSE, EVENT_STREAM):
        rank = _rank(offer, ranges)
        if rank[0] > 0 and (not best or rank > best_rank):
            best, best_rank = offer, rank
    if not best:
        raise RequestRefused(406, f"This endpoint answers in {GRAPHQL_RESPONSE} or {JSON}.")
    return best


def takes_events(headers: Headers) -> bool:
    """Whether the client takes server-sent events, whatever else it takes."""
    return _rank(EVENT_STREAM, _ranges(headers))[0] > 0


def _ranges(headers: Headers) -> dict[str, float]:
    """The ranges of `Accept` with their qualities, in the client's order; the first of a range
    that is there twice."""
    found: dict[str, float] = {}
    for part in ",".join(headers.getlist("accept")).split(","):
        media_range, quality = _media_range(part)
        found.setdefault(media_range, quality)
    return found


def _rank(offer: str, ranges: Mapping[str, float]) -> tuple[float, int]:
    """How much the offer is wanted, and, for ties, how early: the greater, the better."""
    fitting = [each for each in (offer, *_WILDCARDS[offer]) if each in ranges]
    return (ranges[fitting[0]], -list(ranges).index(fitting[0])) if fitting else (0.0, 0)


def _media_range(part: str) -> tuple[str, float]:
    """A part of `Accept`: the range, and its quality."""
    media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return media_range, float(value)
            except ValueError:
                return media_range, 0.0
    return media_range, 1.0


async def read_post(request: Request, *, max_body_bytes: int) -> Envelope:
    """The envelope of a POST. Only JSON is taken: what a form can send across sites is not."""
    _require_json(request.headers)
    content = parse_json(await _body(request, max_body_bytes), "The body")
    if isinstance(content, list):
        raise RequestRefused(400, "Send one operation; batches are not taken.")
    if not isinstance(content, dict):
        raise RequestRefused(400, "The body must be a JSON object.")
    return envelope_of(content)


def _require_json(headers: Headers) -> None:
    media_type, *parameters = ",".join(headers.getlist("content-type")).lower().split(";")
    if media_type.strip() != JSON:
        raise RequestRefused(415, f"Send the request as {JSON}.")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip().strip('"') not in ("utf-8", "utf8"):
            raise RequestRefused(415, "Send the request in UTF-8.")
    if headers.get("content-encoding", "identity").lower() != "identity":
        # RFC 9110 §15.5.16 has this header for it.
        raise RequestRefused(415, "Send the body uncompressed.", {"Accept-Encoding": "identity"})


async def _body(request: Request, max_bytes: int) -> bytes:
    """The whole body. One that is announced as too large is refused before any of it is read."""
    refused = RequestRefused(413, f"A request may have at most {max_bytes} bytes.")
    if int(request.headers.get("content-length", "0")) > max_bytes:
        raise refused
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise refused
    return bytes(body)


def read_get(request: Request) -> Envelope:
    """The envelope of a GET, from the URL's query."""
    parameters: dict[str, Any] = dict(request.query_params)
    if len(request.query_params.multi_items()) != len(parameters):
        raise RequestRefused(400, "A parameter of the URL is there twice.")
    for name in ("variables", "extensions"):
        if name in parameters:
            parameters[name] = parse_json(parameters[name], f"`{name}`")
    return envelope_of(parameters)


def parse_json(text: str | bytes, what: str) -> Any:
    """The JSON text, parsed strictly: no NaN, and no name twice in an object, where two parsers
    may take different ones (RFC 8259 §4). Raises RequestRefused (400)."""
    try:
        # The standard library's parser lets a lone surrogate through, so that the rules of the
        # input can name the field that has it.
        return _DECODER.decode(text.decode() if isinstance(text, bytes) else text)
    except _TwoOfOneName as error:
        raise RequestRefused(400, f"{what} has a name twice in one object.") from error
    except (ValueError, RecursionError):
        raise RequestRefused(400, f"{what} is not valid JSON.") from None


class _TwoOfOneName(Exception):
    pass


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _TwoOfOneName
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_unique_names)


def envelope_of(content: Mapping[str, Any]) -> Envelope:
    """The envelope of the object that was sent. Raises RequestRefused (400)."""
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
    document_id = content.get("documentId")
    if document_id is None:
        document_id = (persisted or {}).get("sha256Hash")
    if not isinstance(document_id, str | None):
        raise RequestRefused(400, "The hash of a document must be a string.")
    return document_id
