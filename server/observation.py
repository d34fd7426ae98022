"""One request to the endpoint as it is seen: what it was, how far it came, and how it ended."""

import enum
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final, Protocol

from graphql import OperationDefinitionNode

from data.decoding import SkipCode
from data.errors import PlannerError, Unavailable
from data.metering import Meter
from resolvers.context import RequestContext
from schema.execution import Answer
from server.live_ends import End
from server.metrics import Metrics

__all__ = [
    "CANCELED",
    "NOBODY_LISTENS",
    "Observation",
    "OpenSpan",
    "OperationSpan",
    "Outcome",
    "no_span",
]

CANCELED: Final = "CANCELED"
"""The code of a request whose client went away before it was read. No client sees it."""

NOBODY_LISTENS: Final = 499
"""No status was sent; nginx writes this number for that."""

_FAILURES: Final = {End.FAULT: PlannerError.code, End.UNAVAILABLE: Unavailable.code}
_LONGEST_NAME: Final = 100


class Outcome(enum.StrEnum):
    """How an operation ended. The first that applies, from the top."""

    INVALID = "invalid"
    ERROR = "error"
    PARTIAL = "partial"
    REFUSED = "refused"
    OK = "ok"


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
