"""The GraphQL endpoint: from an HTTP request to an answer in HTTP."""

from typing import Any

import structlog
from graphql import GraphQLError, OperationType
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from data.cascade import Cascades
from data.errors import BadInput, Forbidden, PlannerError, Unauthenticated, Unavailable
from data.store import Store
from resolvers.budget import Budget
from resolvers.context import RequestContext
from schema.execution import Answer, Document, carry_out, prepare
from server.answers import JSON, internal_error, json_response, problem
from server.envelope import (
    GRAPHQL_RESPONSE,
    Envelope,
    RequestRefused,
    accepted_media_type,
    read_get,
    read_post,
)
from server.session import Authenticator
from server.settings import Settings
from server.telemetry import CANCELED, NOBODY_LISTENS, Observation, Telemetry
from server.trusted_documents import TrustedDocuments

__all__ = ["GraphQLEndpoint"]

log = structlog.get_logger(__name__)

_STATUS = {Unauthenticated: 401, Forbidden: 403, Unavailable: 503}


class GraphQLEndpoint:
    """Answers GET (queries) and POST (everything). An operation that was carried out is 200; a
    request error is 400 in `application/graphql-response+json` and, as older clients expect, 200
    in `application/json`; a request that is not GraphQL, or nobody's, is 4xx in either."""

    def __init__(
        self,
        settings: Settings,
        authenticator: Authenticator,
        store: Store,
        cascades: Cascades,
        trusted: TrustedDocuments | None,
        telemetry: Telemetry,
    ) -> None:
        self._settings = settings
        self._limits = settings.limits
        self._trusted = trusted
        self._authenticator = authenticator
        self._store = store
        self._cascades = cascades
        self._telemetry = telemetry

    async def __call__(self, request: Request) -> Response:
        with self._telemetry.observing(request.scope) as seen:
            response = await self._response(request, seen)
            seen.status = response.status_code
        return response

    async def _response(self, request: Request, seen: Observation) -> Response:
        media_type = JSON
        try:
            media_type = accepted_media_type(request.headers)
            answer = await self._answer(request, seen)
            is_error = not answer.executed and media_type == GRAPHQL_RESPONSE
            return _respond(answer.body, 400 if is_error else 200, media_type, {})
        except RequestRefused as error:
            seen.code = BadInput.code
            body = problem(error.message, BadInput.code)
            return _respond(body, error.status, media_type, error.headers)
        except (Unauthenticated, Forbidden, Unavailable) as error:
            seen.code = error.code
            headers = {"WWW-Authenticate": "Bearer"} if type(error) is Unauthenticated else {}
            body = problem(error.message, error.code)
            return _respond(body, _STATUS[type(error)], media_type, headers)
        except ClientDisconnect:
            seen.code = CANCELED
            return Response(status_code=NOBODY_LISTENS)
        except Exception as error:
            seen.code = PlannerError.code
            log.error("request failed", correlation_id=seen.correlation_id, exc_info=error)
            return _respond(internal_error(seen.correlation_id), 500, media_type, {})

    async def _answer(self, request: Request, seen: Observation) -> Answer:
        # Who asks is settled first: a stranger learns nothing, not even what is well-formed.
        budget = Budget(objects=self._limits.objects, seconds=self._limits.seconds)
        session = await self._authenticator.authenticate(request.headers)
        if request.method == "POST":
            envelope = await read_post(request, max_body_bytes=self._settings.max_body_bytes)
        else:
            envelope = read_get(request)
        document = self._document(envelope)
        operation = document.operation(envelope.operation_name)
        is_query = operation is None or operation.operation is OperationType.QUERY
        if request.method != "POST" and not is_query:
            raise RequestRefused(405, "Send a mutation by POST.", {"Allow": "POST"})
        context = RequestContext(
            session,
            self._store.metered(seen.meter),
            self._cascades,
            budget,
            max_feeds=self._settings.max_calendar_feeds if self._settings.calendar else 0,
        )
        with seen.carrying_out(operation, context) as answered:
            try:
                answer = await carry_out(
                    document,
                    context,
                    variables=envelope.variables,
                    operation_name=envelope.operation_name,
                    correlation_id=seen.correlation_id,
                    limits=self._limits,
                    suggestions=self._settings.introspection,
                    fast_path=self._settings.fast_path,
                )
            finally:
                context.release()
            answered(answer)
        return answer

    def _document(self, envelope: Envelope) -> Document:
        if self._trusted is not None:
            known = self._trusted.find(envelope.query, envelope.document_id)
            if known is None:
                raise RequestRefused(
                    400, "This server carries out trusted documents only; this is none of them."
                )
            return known
        if envelope.query is None:
            raise RequestRefused(400, "This server has no trusted documents: send `query`.")
        try:
            # A lone surrogate is no text; graphql-core would trip over it in some places.
            envelope.query.encode()
        except UnicodeEncodeError:
            return Document(None, (GraphQLError("the document has a lone surrogate"),))
        return prepare(
            envelope.query,
            limits=self._limits,
            introspection=self._settings.introspection,
        )


def _respond(
    body: dict[str, Any], status: int, media_type: str, headers: dict[str, str]
) -> Response:
    vary = {"Vary": "Accept, Cookie, Authorization", **headers}
    return json_response(body, status, media_type=media_type, headers=vary)
