"""What operators see of each GraphQL request: one line in the log, metrics and, if on, a span.

Nothing that a user wrote is in any of them: no document, no variables, no values. The one thing a
client chooses is the operation's name, and both its length and the number of names are bounded.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final, NotRequired, TypedDict

import structlog
from starlette.types import Scope

from data.decoding import SkipCode
from data.metering import Meter
from resolvers.context import RequestContext
from server.correlation import CORRELATION_ID
from server.metrics import Metrics
from server.observation import Observation, OpenSpan, Outcome, no_span

__all__ = ["OperationLine", "RefusedLine", "Telemetry"]

log = structlog.get_logger(__name__)

_LONGEST_TEXT: Final = 200


class OperationLine(TypedDict):
    """The fields of the event `operation`; the last two are those of a subscription."""

    operation: str
    type: str
    team: str
    outcome: str
    codes: list[str]
    status: int
    duration_ms: float
    requests: int
    pages: int
    retries: int
    read_units: float
    write_units: float
    items_skipped: int
    correlation_id: str
    answers: NotRequired[int]
    ended: NotRequired[str]


class RefusedLine(TypedDict):
    """The fields of the event `request refused`. `origin` and `site` are those of a page that may
    not write here, as its browser gives them."""

    status: int
    code: str
    correlation_id: str
    origin: NotRequired[str]
    site: NotRequired[str]


class Telemetry:
    """Observes requests. `open_span` opens the span of an operation, where tracing is on."""

    def __init__(self, metrics: Metrics, open_span: OpenSpan = no_span) -> None:
        self._metrics = metrics
        self._open_span = open_span

    @contextmanager
    def observing(self, scope: Scope) -> Iterator[Observation]:
        """Around one request to the endpoint."""
        began = time.perf_counter()
        seen = Observation(self._metrics, self._open_span, scope[CORRELATION_ID])
        try:
            yield seen
        finally:
            seconds = time.perf_counter() - began
            if seen.context:
                self._operation(seen, seen.context, seconds)
            else:
                self.refused(scope, seen.status, seen.code)

    def _operation(self, seen: Observation, context: RequestContext, seconds: float) -> None:
        if seen.status >= 500:
            # An exception that no answer came of, or a server that stopped meanwhile.
            seen.outcome, seen.codes = Outcome.ERROR, [seen.code]
        meter, skipped = seen.meter, seen.skipped
        line = OperationLine(
            operation=seen.operation,
            type=seen.type,
            team=_pseudonym(context.team_id),
            outcome=seen.outcome.value,
            codes=seen.codes,
            status=seen.status,
            duration_ms=round(seconds * 1000, 2),
            requests=meter.requests.total(),
            pages=meter.pages,
            retries=meter.retries,
            read_units=meter.read_units,
            write_units=meter.write_units,
            items_skipped=skipped.total(),
            correlation_id=seen.correlation_id,
        )
        metrics = self._metrics
        if seen.ended:
            line["answers"], line["ended"] = seen.answers, seen.ended.value
            metrics.subscriptions_ended.labels(seen.ended.value).inc()
        log.info("operation", **line)
        metrics.count(seen.operation, seen.type, seen.outcome.value, seconds, meter)
        for code in seen.codes:
            metrics.errors.labels(code).inc()
        self._count_skipped(skipped)

    def calendar(
        self,
        scope: Scope,
        status: int,
        *,
        team_id: str,
        events: int,
        seconds: float,
        meter: Meter,
        skipped: Counter[SkipCode],
    ) -> None:
        """A calendar that was read by the address of its feed, which nothing here may show."""
        log.info(
            "calendar",
            status=status,
            team=_pseudonym(team_id),
            events=events,
            duration_ms=round(seconds * 1000, 2),
            requests=meter.requests.total(),
            pages=meter.pages,
            retries=meter.retries,
            read_units=meter.read_units,
            items_skipped=skipped.total(),
            correlation_id=scope[CORRELATION_ID],
        )
        self._metrics.calendars.labels(str(status)).inc()
        self._count_skipped(skipped)

    def _count_skipped(self, skipped: Counter[SkipCode]) -> None:
        for skip, count in skipped.items():
            self._metrics.skipped.labels(skip.value).inc(count)

    def closed(self, scope: Scope, code: int, reason: str) -> None:
        """A WebSocket that was closed here, with this code."""
        log.info(
            "websocket closed",
            close_code=int(code),
            reason=reason,
            correlation_id=scope[CORRELATION_ID],
        )
        self._metrics.websockets_closed.labels(str(int(code))).inc()

    def refused(
        self,
        scope: Scope,
        status: int,
        code: str,
        *,
        origin: str | None = None,
        site: str | None = None,
    ) -> None:
        """A request that did not become an operation, on whatever path."""
        line = RefusedLine(status=status, code=code, correlation_id=scope[CORRELATION_ID])
        if origin is not None:
            line["origin"] = origin[:_LONGEST_TEXT]
        if site is not None:
            line["site"] = site[:_LONGEST_TEXT]
        log.info("request refused", **line)
        self._metrics.refused.labels(str(status), code).inc()


@lru_cache(maxsize=10_000)
def _pseudonym(team_id: str) -> str:
    """What a team is called in the log."""
    return hashlib.sha256(team_id.encode()).hexdigest()[:12]
