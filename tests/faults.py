"""Faults in place of the transport: what DynamoDB and the network do, and emulators don't."""

import enum
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

from data.metering import Operation
from data.store import Store
from data.transport import Sender

__all__ = ["Crash", "Fault", "FaultyTransport", "Plan", "faulty"]

_ENDPOINT: Final = "http://127.0.0.1"


class Crash(BaseException):
    """The process ends here: nothing that follows is done."""


class Fault(enum.Enum):
    """What becomes of one request."""

    THROTTLED = "throttled"
    CONFLICT = "conflict"
    BUSY = "busy"
    TIMEOUT_BEFORE = "timeout before it arrived"
    TIMEOUT_AFTER = "timeout after it was done"
    RESET_BEFORE = "connection reset before it arrived"
    RESET_AFTER = "connection reset after it was done"
    CRASH_BEFORE = "crash before it was sent"
    CRASH_AFTER = "crash after it was done"

    @property
    def is_done(self) -> bool:
        """Whether the request is carried out all the same."""
        return self in (Fault.TIMEOUT_AFTER, Fault.RESET_AFTER, Fault.CRASH_AFTER)

    @property
    def is_crash(self) -> bool:
        return self in (Fault.CRASH_BEFORE, Fault.CRASH_AFTER)

    def error(self, operation: str, count: int) -> BaseException:
        """What the store sees; `count` is the number of actions of a transaction."""
        match self:
            case Fault.THROTTLED:
                return client_error("ProvisionedThroughputExceededException", operation)
            case Fault.CONFLICT:
                reasons = [{"Code": "TransactionConflict"}, *[{"Code": "None"}] * (count - 1)]
                return client_error("TransactionCanceledException", operation, reasons)
            case Fault.BUSY:
                return client_error("InternalServerError", operation)
            case Fault.TIMEOUT_BEFORE | Fault.TIMEOUT_AFTER:
                return ReadTimeoutError(endpoint_url=_ENDPOINT)
            case Fault.RESET_BEFORE | Fault.RESET_AFTER:
                return ConnectionClosedError(endpoint_url=_ENDPOINT)
            case Fault.CRASH_BEFORE | Fault.CRASH_AFTER:
                return Crash(operation)


def client_error(
    code: str, operation: str, reasons: list[dict[str, Any]] | None = None
) -> ClientError:
    """An error answer of DynamoDB."""
    response: Any = {"Error": {"Code": code, "Message": "arn:aws:dynamodb:secret"}}
    if reasons is not None:
        response["CancellationReasons"] = reasons
    return ClientError(response, operation)


Plan = Callable[[int, str], Fault | None]


class FaultyTransport:
    """A transport whose `plan` says, for the index and operation of each request, what becomes of
    it. `sent` has the operations and parameters in order."""

    def __init__(self, transport: Sender, plan: Plan) -> None:
        self._transport = transport
        self._plan = plan
        self.sent: list[tuple[Operation, Mapping[str, Any]]] = []

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        index = len(self.sent)
        self.sent.append((operation, request))
        fault = self._plan(index, operation)
        if fault is None:
            return await self._transport.send(operation, request)
        if fault.is_done:
            await self._transport.send(operation, request)
        raise fault.error(operation, len(request.get("TransactItems", ())))


@contextmanager
def faulty(store: Store, plan: Plan) -> Iterator[FaultyTransport]:
    """Puts the faults between the store and its transport."""
    transport = store.transport
    faults = FaultyTransport(transport, plan)
    store.transport = faults
    try:
        yield faults
    finally:
        store.transport = transport
