"""What the process did so far, for Prometheus: a registry of the application's own, and its page.

Each process has its own numbers; they begin at zero with it.
"""

import hmac
from collections.abc import Awaitable, Callable
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response

from data.cascade import Cascades
from data.errors import Unauthenticated
from data.metering import Meter
from data.seats import Seats
from server.answers import json_response, problem
from server.authjs import InvalidToken
from server.session_token import bearer_token
from server.store_metrics import StoreCollector

__all__ = ["MAX_OPERATION_NAMES", "Metrics", "metrics_page"]

MAX_OPERATION_NAMES: Final = 100
"""Clients choose the names of operations, and each name is a time series for ever. A frontend has
some dozens; what comes after this many is `other`."""

_Series = tuple[Counter, Histogram, Counter, Counter, Counter, Counter]

_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The metrics of one application. What the store and the deletions in the background count
    themselves is read when the page is asked for."""

    def __init__(self, meter: Meter, seats: Seats, cascades: Cascades) -> None:
        # `…_created` doubles the number of series and says what the process's start time says.
        disable_created_metrics()
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.registry.register(StoreCollector(meter, seats, cascades))
        self.operations = Counter(
            "planner_operations_total",
            "GraphQL operations that were answered.",
            ["operation", "type", "outcome"],
            registry=self.registry,
        )
        self.errors = Counter(
            "planner_operation_errors_total",
            "GraphQL operations whose answer had an error of this code, in a payload or not.",
            ["code"],
            registry=self.registry,
        )
        self.duration = Histogram(
            "planner_operation_duration_seconds",
            "From the request's arrival until its answer was ready to send; not of subscriptions.",
            ["operation", "type"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.requests = self._of_operations(
            "planner_operation_dynamodb_requests_total", "Requests to DynamoDB, retries included."
        )
        self.retries = self._of_operations(
            "planner_operation_dynamodb_retries_total", "Requests to DynamoDB that were sent again."
        )
        self.read_units = self._of_operations(
            "planner_operation_dynamodb_read_units_total", "Read capacity units."
        )
        self.write_units = self._of_operations(
            "planner_operation_dynamodb_write_units_total", "Write capacity units."
        )
        self.calendars = Counter(
            "planner_calendars_total",
            "Calendars that were answered, by their feeds' addresses.",
            ["status"],
            registry=self.registry,
        )
        self.in_progress = Gauge(
            "planner_operations_in_progress",
            "GraphQL operations that are being carried out.",
            registry=self.registry,
        )
        self.skipped = Counter(
            "planner_items_skipped_total",
            "Items that an operation read and left out, since they could not be decoded.",
            ["code"],
            registry=self.registry,
        )
        self.refused = Counter(
            "planner_requests_refused_total",
            "Requests that never became an operation.",
            ["status", "code"],
            registry=self.registry,
        )
        self.live_connections = Gauge(
            "planner_live_connections",
            "Connections that carry live updates.",
            ["transport"],
            registry=self.registry,
        )
        self.subscriptions = Gauge(
            "planner_subscriptions",
            "Subscriptions that stand.",
            registry=self.registry,
        )
        self.subscriptions_ended = Counter(
            "planner_subscriptions_ended_total",
            "Subscriptions that stood and have ended, and why.",
            ["reason"],
            registry=self.registry,
        )
        self.websockets_closed = Counter(
            "planner_websockets_closed_total",
            "WebSocket connections that the server has closed, with this code.",
            ["code"],
            registry=self.registry,
        )
        self._names: set[str] = set()
        # Looking the series of an operation up takes longer than counting.
        self._children: dict[tuple[str, str, str], _Series] = {}

    def _of_operations(self, name: str, text: str) -> Counter:
        """A counter of what operations cost, by their name and how they ended."""
        return Counter(name, text, ["operation", "outcome"], registry=self.registry)

    def count(self, operation: str, type: str, outcome: str, seconds: float, meter: Meter) -> None:
        """Counts an operation and what it cost."""
        series = (self._label_of(operation), type, outcome)
        if series not in self._children:
            self._children[series] = self._series_of(*series)
        operations, duration, requests, retries, read_units, write_units = self._children[series]
        operations.inc()
        if type != "subscription":  # It lasts as long as somebody listens.
            duration.observe(seconds)
        requests.inc(meter.requests.total())
        read_units.inc(meter.read_units)
        write_units.inc(meter.write_units)
        retries.inc(meter.retries)

    def _series_of(self, operation: str, type: str, outcome: str) -> _Series:
        return (
            self.operations.labels(operation, type, outcome),
            self.duration.labels(operation, type),
            self.requests.labels(operation, outcome),
            self.retries.labels(operation, outcome),
            self.read_units.labels(operation, outcome),
            self.write_units.labels(operation, outcome),
        )

    def _label_of(self, operation: str) -> str:
        """The label of an operation: its name, or `other` once there are too many of them."""
        if operation in self._names:
            return operation
        if len(self._names) < MAX_OPERATION_NAMES:
            self._names.add(operation)
            return operation
        return "other"


def metrics_page(token: SecretStr | None) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of the page, in the format that the scraper prefers. With a token only those
    who send it as `Authorization: Bearer` (RFC 6750) are answered."""
    expected = token.get_secret_value().encode() if token else None

    async def page(request: Request) -> Response:
        if expected and not hmac.compare_digest(_sent(request), expected):
            body = problem("The token is missing or wrong.", Unauthenticated.code)
            return json_response(body, 401, headers={"WWW-Authenticate": "Bearer"})
        metrics: Metrics = request.app.state.metrics
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        headers = {"Content-Type": content_type, "Vary": "Accept"}
        return Response(encode(metrics.registry), headers=headers)

    return page


def _sent(request: Request) -> bytes:
    try:
        token = bearer_token(request.headers) or ""
    except InvalidToken:
        token = ""
    # Starlette reads headers as Latin-1; these are the bytes that were sent.
    return token.encode("latin-1")
