"""What operators see of each GraphQL request: one line in the log, metrics and, if on, a span.

Nothing that a user wrote is in any of them: no document, no variables, no values. The one thing a
client chooses is the operation's name, and both its length and the number of names are bounded.
"""

import enum
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import Final, NotRequired, Protocol, TypedDict

import structlog
from graphql import OperationDefinitionNode
from starlette.types import Scope

from data.decoding import SkipCode
from data.errors import PlannerError, Unavailable
from data.metering import Meter
from resolvers.context import RequestContext
from schema.execution import Answer
from server.correlation import CORRELATION_ID
from server.live_ends import End
from server.metrics import Metrics

__all__ = [
    "CANCELED",
    "NOBODY_LISTENS",
    "Observation",
    "OpenSpan",
    "OperationLine",
    "Outcome",
    "RefusedLine",
    "Telemetry",
    "no_span",
]

log = structlog.get_logger(__name__)

CANCELED: Final = "CANCELED"
"""The code of a request whose client went away before it was read. No client sees it."""

NOBODY_LISTENS: Final = 499
"""No status was sent; nginx writes this number for that."""

_FAILURES: Final = {End.FAULT: PlannerError.code, End.UNAVAILABLE: Unavailable.code}
_LONGEST_NAME: Final = 100
_LONGEST_TEXT: Final = 200


class Outcome(enum.StrEnum):
    """How an operation ended. The first that applies, from the top."""

    INVALID = "invalid"
    ERROR = "error"
    PARTIAL = "partial"
    REFUSED = "refused"
    OK = "ok"


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


class OperationSpan(Protocol):
    """The span of an operation that is being carried out."""

    def ends(self, outcome: str, codes: Sequence[str]) -> None:
        """Says how the operation ended."""


OpenSpan = Callable[[str, str, str], AbstractContextManager[OperationSpan | None]]
"""Opens the span of an operation: its type, name and correlation id."""


def no_span(type: str, name: str, correlation_id: str) -> AbstractContextManager[None]:
    """What is opened while tracing is off."""
    return nullcontext()


class Observation:
    """One request to the endpoint, as far as it has come. `status`, and for a request that never
    became an operation `code`, are to be set before it ends."""

    def __init__(self, metrics: Metrics, open_span: OpenSpan, correlation_id: str) -> None:
        self.correlation_id = correlation_id
        self.meter = Meter()
        # What it stays when a server that stops gives it up.
        self.status = 503
        self.code = Unavailable.code
        self.operation = "unknown"
        self.type = "unknown"
        self.context: RequestContext | None = None
        self.outcome = Outcome.ERROR
        self.codes: list[str] = []
        self.ended: End | None = None
        self.answers = 0
        self._skipped_before = Counter[SkipCode]()
        self._metrics = metrics
        self._open_span = open_span

    @contextmanager
    def carrying_out(
        self, operation: OperationDefinitionNode | None, context: RequestContext
    ) -> Iterator[Callable[[Answer], None]]:
        """Around an operation, None for one that is not valid. What it yields is to be called with
        the answer. Around a subscription it is until that stands, or is refused with an answer."""
        self.context = context
        if operation:
            self.operation = operation.name.value[:_LONGEST_NAME] if operation.name else "anonymous"
            self.type = operation.operation.value
        with (
            self._metrics.in_progress.track_inprogress(),
            self._open_span(self.type, self.operation, self.correlation_id) as span,
        ):

            def answered(answer: Answer) -> None:
                self.outcome, self.codes = _judged(answer, context)
                if span:
                    span.ends(self.outcome, self.codes)

            yield answered

    def goes_on(self, context: RequestContext) -> None:
        """A subscription has another answer, made with this context."""
        self._skipped_before = self.skipped
        self.context = context

    def stands(self, status: int) -> None:
        """A subscription has begun. It ends well, unless it is told to end otherwise."""
        self.status = status
        self.outcome, self.ended = Outcome.OK, End.SHUTDOWN

    def ends(self, end: End) -> None:
        """A subscription has ended, and how."""
        self.ended = end
        if code := _FAILURES.get(end):
            self.outcome, self.codes = Outcome.ERROR, [code]

    @property
    def skipped(self) -> Counter[SkipCode]:
        """The items that could not be read, for all answers."""
        return self._skipped_before + (self.context.skipped if self.context else Counter())


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


def _judged(answer: Answer, context: RequestContext) -> tuple[Outcome, list[str]]:
    """How an operation ended, and the codes of its errors and refusals, sorted."""
    errors = answer.body.get("errors", ())
    codes = {error["extensions"]["code"] for error in errors}
    codes.update(problem.code.value for problem in context.refusals)
    if not answer.executed:
        outcome = Outcome.INVALID
    elif errors:
        data = answer.body["data"] or {}
        has_data = any(value is not None for value in data.values())
        outcome = Outcome.PARTIAL if has_data else Outcome.ERROR
    else:
        outcome = Outcome.REFUSED if context.refusals else Outcome.OK
    return outcome, sorted(codes)
