"""Faults at the client boundary: what DynamoDB and the network do, and emulators don't."""

import enum
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

from data.store import Store

__all__ = ["Crash", "Fault", "FaultyClient", "Plan", "faulty"]

_ENDPOINT: Final = "http://127.0.0.1"
_REQUESTS: Final = frozenset(
    {"delete_item", "get_item", "put_item", "query", "transact_write_items", "update_item"}
)


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
        """What the client sees; `count` is the number of actions of a transaction."""
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


class FaultyClient:
    """A DynamoDB client whose `plan` says, for the index and operation of each request, what
    becomes of it. `sent` has the operations and parameters in order."""

    def __init__(self, client: Any, plan: Plan) -> None:
        self._client = client
        self._plan = plan
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Awaitable[Any]] = getattr(self._client, name)
        if name not in _REQUESTS:
            return method

        async def send(**request: Any) -> Any:
            index = len(self.sent)
            self.sent.append((name, request))
            fault = self._plan(index, name)
            if fault is None:
                return await method(**request)
            if fault.is_done:
                await method(**request)
            raise fault.error(name, len(request.get("TransactItems", ())))

        return send


@contextmanager
def faulty(store: Store, plan: Plan) -> Iterator[FaultyClient]:
    """Puts the faults between the store and its client."""
    client = store.client
    faults = FaultyClient(client, plan)
    store.client = faults  # type: ignore[assignment]
    try:
        yield faults
    finally:
        store.client = client
