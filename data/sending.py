"""Sending one request to the table: again while its failure is one that passes, and counted."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from data.errors import Unavailable
from data.failures import REQUEST_ERRORS, failure_of
from data.metering import Meter, Operation, consumption
from data.patience import jittered
from data.transport import Sender

__all__ = ["Decode", "RetryPolicy", "send"]

log = structlog.get_logger(__name__)

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0

Decode = Callable[[bytes], Mapping[str, Any]]
"""Makes a mapping of the JSON of an answer."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is sent while its failure is one that passes, and for how many seconds.
    A planner waits for the answer: so by default it is given up well before a browser does."""

    attempts: int = 6
    seconds: float = 10.0


async def send(
    sender: Sender,
    operation: Operation,
    request: Mapping[str, Any],
    *,
    retries: RetryPolicy,
    meters: Sequence[Meter],
    decode: Decode,
) -> Mapping[str, Any]:
    """The answer to a request. Raises Unavailable for a failure that has not passed, and else what
    the failure means (`data.failures`)."""
    request = {**request, "ReturnConsumedCapacity": "TOTAL"}
    deadline = time.monotonic() + retries.seconds
    for attempt in range(retries.attempts):
        for meter in meters:
            meter.sent(operation, again=attempt > 0)
        try:
            body = await sender.send(operation, request)
        except REQUEST_ERRORS as error:
            failure = failure_of(error)
            if failure is None:
                raise
            if not isinstance(failure, Unavailable):
                raise failure from error
            pause = jittered(attempt, _FIRST_PAUSE, _LONGEST_PAUSE)
            if attempt == retries.attempts - 1 or time.monotonic() + pause > deadline:
                log.warning(
                    "request given up",
                    operation=operation,
                    attempts=attempt + 1,
                    cause=repr(error),
                )
                raise failure from error
            await asyncio.sleep(pause)
        else:
            answer = decode(body)
            consumed = consumption(operation, answer)
            for meter in meters:
                meter.answered(operation, consumed)
            return answer
    raise AssertionError("unreachable")
