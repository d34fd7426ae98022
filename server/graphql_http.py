"""The GraphQL endpoint: from an HTTP request to an answer in HTTP."""

from contextlib import ExitStack
from typing import Any, Final

import structlog
from graphql import OperationType
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from data.errors import BadInput, Forbidden, PlannerError, Unauthenticated, Unavailable
from resolvers.session import Session
from schema.execution import Answer, Document
from server.answers import JSON, internal_error, json_response, problem
from server.envelope import (
    EVENT_STREAM,
    GRAPHQL_RESPONSE,
    Envelope,
    RequestRefused,
    accepted_media_type,
    read_get,
    read_post,
    takes_events,
)
from server.event_stream import EventStream, single_event
from server.live_connections import LiveConnections
from server.observation import CANCELED, NOBODY_LISTENS, Observation
from server.operations import Operations, is_subscription
from server.session import Authenticator
from server.settings import Settings
from server.telemetry import Telemetry

__all__ = ["GraphQLEndpoint"]

log = structlog.get_logger(__name__)

_VARY: Final = {"Vary": "Accept, Cookie, Authorization"}
_TWO_WAYS: Final = (
    f"A subscription is answered as {EVENT_STREAM}, which `Accept` must name, or over WebSocket."
)
_NO_SUBSCRIPTIONS: Final = "This server has no subscriptions: PLANNER_LIVE is off."
_STATUS: Final = {Unauthenticated: 401, Forbidden: 403, Unavailable: 503}


class GraphQLEndpoint:
    """Answers GET (queries, subscriptions) and POST (everything). An operation that was carried out
    is 200; a request error is 400 in `application/graphql-response+json` and, as older clients
    expect, 200 in `application/json`; a request that is not GraphQL, or nobody's, is 4xx in either.

    In `text/event-stream`, the only type for subscriptions, each answer is an event, by the
    protocol of graphql-sse in its mode of distinct connections:
    https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
    """

    def __init__(
        self,
        settings: Settings,
        authenticator: Authenticator,
        operations: Operations,
        connections: LiveConnections,
        telemetry: Telemetry,
    ) -> None:
        self._settings = settings
        self._authenticator = authenticator
        self._operations = operations
        self._connections = connections
        self._telemetry = telemetry

    async def __call__(self, request: Request) -> Response:
        with ExitStack() as until_sent:
            seen = until_sent.enter_context(self._telemetry.observing(request.scope))
            response = await self._response(request, seen, until_sent)
            seen.status = response.status_code
        return response

    async def _response(
        self, request: Request, seen: Observation, until_sent: ExitStack
    ) -> Response:
        media_type = JSON
        try:
            media_type = accepted_media_type(request.headers)
            return await self._answer(request, seen, media_type, until_sent)
        except RequestRefused as error:
            seen.code = BadInput.code
            body = problem(error.message, BadInput.code)
            return _refused(body, error.status, media_type, error.headers)
        except (Unauthenticated, Forbidden, Unavailable) as error:
            seen.code = error.code
            headers = {"WWW-Authenticate": "Bearer"} if type(error) is Unauthenticated else {}
            body = problem(error.message, error.code)
            return _refused(body, _STATUS[type(error)], media_type, headers)
        except ClientDisconnect:
            seen.code = CANCELED
            return Response(status_code=NOBODY_LISTENS)
        except Exception as error:
            seen.code = PlannerError.code
            log.error("request failed", correlation_id=seen.correlation_id, exc_info=error)
            return _refused(internal_error(seen.correlation_id), 500, media_type, {})

    async def _answer(
        self, request: Request, seen: Observation, media_type: str, until_sent: ExitStack
    ) -> Response:
        # Who asks is settled first: a stranger learns nothing, not even what is well-formed.
        budget = self._operations.budget()
        session = await self._authenticator.authenticate(request.headers)
        if request.method == "POST":
            envelope = await read_post(request, max_body_bytes=self._settings.max_body_bytes)
        else:
            envelope = read_get(request)
        document = self._operations.document(envelope)
        operation = document.operation(envelope.operation_name)
        if is_subscription(operation):
            return await self._stream(request, session, document, envelope, seen, until_sent)
        is_query = operation is None or operation.operation is OperationType.QUERY
        if request.method != "POST" and not is_query:
            raise RequestRefused(405, "Send a mutation by POST.", {"Allow": "POST"})
        answer = await self._operations.carry_out(document, envelope, session, budget, seen)
        if media_type == EVENT_STREAM:
            return single_event(answer.body, _VARY)
        is_error = not answer.executed and media_type == GRAPHQL_RESPONSE
        return json_response(
            answer.body, 400 if is_error else 200, media_type=media_type, headers=_VARY
        )

    async def _stream(
        self,
        request: Request,
        session: Session,
        document: Document,
        envelope: Envelope,
        seen: Observation,
        until_sent: ExitStack,
    ) -> Response:
        if not takes_events(request.headers):
            if self._settings.live:
                raise RequestRefused(406, _TWO_WAYS)
            raise RequestRefused(400, _NO_SUBSCRIPTIONS)
        if request.method == "HEAD":
            raise RequestRefused(405, "A subscription has no HEAD.", {"Allow": "GET, POST"})
        stream = await self._operations.subscribe(document, envelope, session, seen, until_sent)
        if isinstance(stream, Answer):
            return single_event(stream.body, _VARY)
        until_sent.enter_context(self._connections.event_stream())
        return EventStream(
            stream,
            seen=seen,
            session_ends=lambda: self._authenticator.until_it_ends(
                request.headers, session, every=self._settings.live_check_seconds
            ),
            send_seconds=self._settings.live_send_seconds,
            until_sent=until_sent.pop_all(),
            headers=_VARY,
        )


def _refused(
    body: dict[str, Any], status: int, media_type: str, headers: dict[str, str]
) -> Response:
    # There is no event for a request that is none.
    in_json = JSON if media_type == EVENT_STREAM else media_type
    return json_response(body, status, media_type=in_json, headers={**_VARY, **headers})
