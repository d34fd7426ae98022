"""The one DynamoDB client of the process: requests, pages, retries, and what their errors mean.

Nothing else in the house knows boto. See docs/adr/0004-one-client-module.md.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import aioboto3
from aiobotocore.config import AioConfig
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError

from data.errors import LimitExceeded, PlannerError, Unavailable
from data.expressions import Expression, Item, Key, KeyQuery, names_of
from data.table import definition
from data.transactions import Action, to_request

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.client import DynamoDBClient

__all__ = [
    "STORE_ERRORS",
    "CancellationReason",
    "ConditionFailed",
    "Store",
    "TransactionCanceled",
    "open_store",
]

STORE_ERRORS: Final = (BotoCoreError, ClientError)
"""What a store raises when it is not set up: no region, no credentials, no permission, no table.
Commands say it in one line; in a request it is a fault of ours, and masked."""

# A planner waits for its answer: give up well before a browser does.
_MAX_ATTEMPTS: Final = 6
_MAX_SECONDS: Final = 10.0
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0

_BACKUP_ATTEMPTS: Final = 20
_BACKUP_PAUSE: Final = 3.0

_TRANSIENT: Final = frozenset(
    {
        "InternalServerError",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_TRANSIENT_REASONS: Final = frozenset(
    {"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"}
)


class ConditionFailed(Exception):
    """A conditional write was refused by the table. `item` is what stands there, if anything."""

    def __init__(self, item: Item | None) -> None:
        super().__init__("the condition did not hold")
        self.item = item


@dataclass(frozen=True, slots=True)
class CancellationReason:
    """What became of one action of a cancelled transaction."""

    code: str
    item: Item | None

    @property
    def condition_failed(self) -> bool:
        return self.code == "ConditionalCheckFailed"


class TransactionCanceled(Exception):
    """No action was carried out. `reasons` has one entry for each, in the order of the actions."""

    def __init__(self, reasons: tuple[CancellationReason, ...]) -> None:
        super().__init__(", ".join(reason.code for reason in reasons))
        self.reasons = reasons


class Store:
    """Requests to one table. Transient failures are retried with full jitter, a bounded number of
    times and for a bounded time, and then become `Unavailable`."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        *,
        consistent_reads: bool = True,
        max_items: int = 100_000,
        page_size: int | None = None,
    ) -> None:
        self.client = client
        self.table = table
        self._consistent_reads = consistent_reads
        self._max_items = max_items
        self._page_size = page_size

    async def query(self, query: KeyQuery) -> list[Item]:
        """All items of the query, in the order of its keys. Raises LimitExceeded rather than
        return a part of them."""
        items: list[Item] = []
        async for page in self.pages(query):
            items += page
            if len(items) > self._max_items:
                raise LimitExceeded(
                    f"the answer needs more than the {self._max_items} items allowed at once"
                )
        return items

    async def pages(
        self, query: KeyQuery, *, consistent: bool | None = None
    ) -> AsyncIterator[list[Item]]:
        """The pages of a query, 1 MB each. One may be empty and not the last: only a missing
        LastEvaluatedKey is the end. `consistent` overrides the setting; an index can't be."""
        request: dict[str, Any] = {
            "TableName": self.table,
            "KeyConditionExpression": query.key_condition,
            "ExpressionAttributeValues": dict(query.values),
        }
        projection = ", ".join(f"#{name}" for name in query.projection)
        request["ExpressionAttributeNames"] = names_of(
            query.key_condition, query.filter, projection
        )
        if query.filter:
            request["FilterExpression"] = query.filter
        if projection:
            request["ProjectionExpression"] = projection
        if query.index:
            request["IndexName"] = query.index
        else:
            request["ConsistentRead"] = self._consistent_reads if consistent is None else consistent
        if self._page_size:
            request["Limit"] = self._page_size
        while True:
            answer = await _persistently(self.client.query, **request)
            yield cast("list[Item]", answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    async def get(self, key: Key) -> Item | None:
        """The item with this key, strongly consistent, or None."""
        answer = await _persistently(
            self.client.get_item, TableName=self.table, Key=key, ConsistentRead=True
        )
        return cast("Item | None", answer.get("Item"))

    async def put(self, item: Item, condition: Expression | None) -> None:
        """PutItem; without a condition it replaces what stands there. Raises ConditionFailed."""
        await self._conditionally(self.client.put_item, condition, Item=item)

    async def delete(self, key: Key, condition: Expression) -> None:
        """DeleteItem. Raises ConditionFailed."""
        await self._conditionally(self.client.delete_item, condition, Key=key)

    async def update(self, key: Key, update: Expression, condition: Expression) -> None:
        """UpdateItem; `update` is the update expression with its values. A retry may apply it
        twice, so it must be one that can be. Raises ConditionFailed."""
        await self._conditionally(
            self.client.update_item, condition, update, Key=key, UpdateExpression=update.text
        )

    async def transact(self, actions: Sequence[Action], *, token: str) -> None:
        """TransactWriteItems: all of at most `MAX_ACTIONS` actions, or none. With the same token
        (36 characters at most) and actions it is done once, however often it is sent within ten
        minutes. Raises TransactionCanceled when a condition did not hold."""
        await _persistently(
            self.client.transact_write_items,
            TransactItems=[to_request(action, self.table) for action in actions],
            ClientRequestToken=token,
        )

    async def create_table(self) -> bool:
        """Creates the table as `data.table` defines it, unless it is there, and waits until it is
        active; sees to it that TTL and point-in-time recovery are on. Returns whether it was
        created. What an emulator does not know (backups) is left out."""
        with _suppressed("ResourceInUseException") as there:
            await self.client.create_table(**definition(self.table))
        await self.client.get_waiter("table_exists").wait(
            TableName=self.table, WaiterConfig={"Delay": 1}
        )
        await self._expire_items()
        await self._keep_backups()
        return not there

    async def _expire_items(self) -> None:
        answer = await self.client.describe_time_to_live(TableName=self.table)
        if answer["TimeToLiveDescription"].get("TimeToLiveStatus") in ("ENABLED", "ENABLING"):
            return
        await self.client.update_time_to_live(
            TableName=self.table,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
        )

    async def _keep_backups(self) -> None:
        for _ in range(_BACKUP_ATTEMPTS):
            # AWS refuses for some seconds after the table became active.
            with _suppressed(
                "ContinuousBackupsUnavailableException", "UnknownOperationException"
            ) as refused:
                await self.client.update_continuous_backups(
                    TableName=self.table,
                    PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
                )
            if refused != ["ContinuousBackupsUnavailableException"]:
                return
            await asyncio.sleep(_BACKUP_PAUSE)
        raise Unavailable("point-in-time recovery can't be turned on yet; create the table again")

    async def describe_table(self) -> Mapping[str, Any] | None:
        """DynamoDB's description of the table, or None when there is none."""
        answer: Mapping[str, Any] = {}
        with _suppressed("ResourceNotFoundException"):
            answer = await self.client.describe_table(TableName=self.table)
        return answer.get("Table")

    async def _conditionally(
        self,
        send: Callable[..., Awaitable[Any]],
        condition: Expression | None,
        update: Expression | None = None,
        **request: Any,
    ) -> None:
        names = names_of(condition.text if condition else None, update.text if update else None)
        values = {**(condition.values if condition else {}), **(update.values if update else {})}
        if values:
            request["ExpressionAttributeValues"] = values
        if names:
            request["ExpressionAttributeNames"] = names
        if condition:
            request["ConditionExpression"] = condition.text
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        await _persistently(send, TableName=self.table, **request)


@contextmanager
def _suppressed(*codes: str) -> Iterator[list[str]]:
    """Swallows an error answer of DynamoDB with one of these codes, and says so in the list."""
    seen: list[str] = []
    try:
        yield seen
    except ClientError as error:
        code = str(error.response["Error"]["Code"])
        if code not in codes:
            raise
        seen.append(code)


async def _persistently(send: Callable[..., Awaitable[Any]], **request: Any) -> Mapping[str, Any]:
    """One request, sent again while the failure is one that passes."""
    deadline = time.monotonic() + _MAX_SECONDS
    for attempt in range(_MAX_ATTEMPTS):
        try:
            return cast("Mapping[str, Any]", await send(**request))
        except (ClientError, HTTPClientError, BotoConnectionError, OSError) as error:
            failure = _meaning(error)
            if failure is None:
                raise
            if not isinstance(failure, Unavailable):
                raise failure from error
            longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
            pause = random.uniform(0, longest)  # noqa: S311 (jitter, not a secret)
            if attempt == _MAX_ATTEMPTS - 1 or time.monotonic() + pause > deadline:
                raise failure from error
            await asyncio.sleep(pause)
    raise AssertionError("unreachable")


def _meaning(error: Exception) -> PlannerError | ConditionFailed | TransactionCanceled | None:
    """What an exception of boto says to us: Unavailable when it may pass, None when unknown."""
    if not isinstance(error, ClientError):
        return Unavailable("the store cannot be reached; try again")
    response = cast("dict[str, Any]", error.response)
    code = str(response.get("Error", {}).get("Code", ""))
    if code == "ConditionalCheckFailedException":
        return ConditionFailed(response.get("Item"))
    if code == "TransactionCanceledException":
        reasons = tuple(
            CancellationReason(reason.get("Code", "None"), reason.get("Item"))
            for reason in response.get("CancellationReasons", ())
        )
        codes = {reason.code for reason in reasons}
        if "ConditionalCheckFailed" in codes:
            return TransactionCanceled(reasons)
        return Unavailable("the store is busy; try again") if codes & _TRANSIENT_REASONS else None
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in _TRANSIENT or status >= 500:
        return Unavailable("the store is busy; try again")
    return None


@asynccontextmanager
async def open_store(
    table: str,
    *,
    endpoint_url: str | None = None,
    credentials: Mapping[str, Any] | None = None,
    max_connections: int = 50,
    consistent_reads: bool = True,
    max_items: int = 100_000,
    page_size: int | None = None,
) -> AsyncIterator[Store]:
    """The process's store, with one client that lives as long as the context. `credentials` are
    arguments of a boto session (key, secret, region); without them boto finds its own."""
    config = AioConfig(
        # More requests than connections wait for one; they do not fail.
        max_pool_connections=max_connections,
        connect_timeout=2,
        read_timeout=5,
        # Retries are ours: they need the token and the reasons of a transaction.
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    session = aioboto3.Session(**(credentials or {}))
    async with session.client("dynamodb", endpoint_url=endpoint_url, config=config) as client:
        yield Store(
            client,
            table,
            consistent_reads=consistent_reads,
            max_items=max_items,
            page_size=page_size,
        )
