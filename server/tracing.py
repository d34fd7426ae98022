"""Traces, where `PLANNER_TRACING` is on: a span of the request, below it one of the operation,
below that one of each request to DynamoDB. Imported only then, since its packages are an extra.

Where spans go, how many are kept and how the service is called is said by the variables `OTEL_…`
of OpenTelemetry itself. No span has a document, a variable or the key of an item.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware
from opentelemetry.instrumentation.utils import (
    is_instrumentation_enabled,
    suppress_instrumentation,
)
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.util.types import AttributeValue
from starlette.types import ASGIApp, Receive, Scope, Send

from data.endpoint import Endpoint
from data.errors import PlannerError, Unavailable
from data.transport import OpenRequestSpan, RequestSpan

__all__ = ["Tracing"]

_SERVICE: Final = "resource-planner"
_FAULTS: Final = {PlannerError.code, Unavailable.code}
"""Codes of our own faults. What a client did wrong is no error of a server's span."""


class Tracing:
    """The spans of one application. `quiet` is around what is to leave none."""

    def __init__(self) -> None:
        # What is given here would win over the environment.
        given = "OTEL_SERVICE_NAME" in os.environ or "OTEL_RESOURCE_ATTRIBUTES" in os.environ
        resource = Resource.create({} if given else {SERVICE_NAME: _SERVICE})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._tracer = self._provider.get_tracer(__name__)
        self.quiet = suppress_instrumentation

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Sends spans in batches from a thread, and what is left at the end."""
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        try:
            yield
        finally:
            await asyncio.to_thread(self._provider.shutdown)

    def of_requests(self, app: ASGIApp, *, path: str) -> ASGIApp:
        """Middleware: the span of each request, which continues the trace of `traceparent`. The
        address is kept from it, but for the `path` of the route: a GET has its document and
        variables in the query string, and the path of a calendar has a secret."""

        async def with_address(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, **scope[_ADDRESS]}, receive, send)

        spans = OpenTelemetryMiddleware(
            with_address, tracer_provider=self._provider, exclude_spans=["receive", "send"]
        )
        shown = {"path": path, "raw_path": path.encode(), "query_string": b""}

        async def without_address(scope: Scope, receive: Receive, send: Send) -> None:
            address = {name: scope[name] for name in shown if name in scope}
            await spans({**scope, **shown, _ADDRESS: address}, receive, send)

        return without_address

    @contextmanager
    def operation(self, type: str, name: str, correlation_id: str) -> Iterator["_OperationSpan"]:
        """The span of an operation (OpenTelemetry's semantic conventions for GraphQL). It is
        internal, since the server's is that of the request."""
        attributes = {
            "graphql.operation.name": name,
            "graphql.operation.type": type,
            "planner.correlation_id": correlation_id,
        }
        # The message of an exception may hold words of the request; the log has its traceback.
        with self._tracer.start_as_current_span(
            f"{type} {name}", attributes=attributes, record_exception=False
        ) as span:
            yield _OperationSpan(span)

    def of_dynamodb(self, table: str) -> OpenRequestSpan:
        """What opens the span of each request to that table, by the semantic conventions for
        DynamoDB. Of what it asks and of the answer it has what that cost, and no word else."""

        def open_span(
            operation: str, endpoint: Endpoint
        ) -> AbstractContextManager[RequestSpan | None]:
            if not is_instrumentation_enabled():
                return nullcontext()
            return self._request(operation, table, endpoint)

        return open_span

    @contextmanager
    def _request(self, operation: str, table: str, endpoint: Endpoint) -> Iterator["_RequestSpan"]:
        attributes: dict[str, AttributeValue] = {
            "rpc.system": "aws-api",
            "rpc.service": _DYNAMODB,
            "rpc.method": operation,
            "db.system.name": "aws.dynamodb",
            "aws.dynamodb.table_names": [table],
            "cloud.region": endpoint.region,
            "server.address": endpoint.hostname,
            "server.port": endpoint.port,
        }
        with self._tracer.start_as_current_span(
            f"{_DYNAMODB}.{operation}",
            kind=SpanKind.CLIENT,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            request = _RequestSpan(span)
            try:
                yield request
            except BaseException as error:
                request.fails(type(error).__qualname__)
                raise


_DYNAMODB: Final = "DynamoDB"
_ADDRESS: Final = "planner.address"
"""What is hidden, in the ASGI scope."""


class _OperationSpan:
    def __init__(self, span: Span) -> None:
        self._span = span

    def ends(self, outcome: str, codes: Sequence[str]) -> None:
        self._span.set_attribute("planner.outcome", outcome)
        if codes:
            self._span.set_attribute("error.type", codes[0])
        if _FAULTS.intersection(codes):
            self._span.set_status(StatusCode.ERROR)


class _RequestSpan:
    def __init__(self, span: Span) -> None:
        self._span = span
        self._has_failed = False

    def answered(
        self, status: int, request_id: str | None, code: str | None, capacity: list[str]
    ) -> None:
        self._span.set_attribute("http.response.status_code", status)
        if request_id:
            self._span.set_attribute("aws.request_id", request_id)
        if capacity:
            self._span.set_attribute("aws.dynamodb.consumed_capacity", capacity)
        if code is not None:
            self.fails(code)

    def fails(self, type: str) -> None:
        """Says how; what is said first is closest to the cause."""
        if not self._has_failed:
            self._has_failed = True
            self._span.set_attribute("error.type", type)
            self._span.set_status(StatusCode.ERROR)
