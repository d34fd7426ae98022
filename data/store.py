"""The store: requests to one table, their pages, and what their errors mean.

Nothing else sends. Requests on items go through `data.sending` and `data.transport`, those on the
table itself, which are in `data.administration`, through boto's client. What it sends by is set up
in `data.opening`. See docs/adr/0004-one-client-module.md and 0016-own-requests.md.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Self, cast

from data.errors import LimitExceeded, Unavailable
from data.expressions import Expression, Item, Key, KeyQuery, names_of, s
from data.failures import (
    STORE_ERRORS,
    CancellationReason,
    ConditionFailed,
    NotReady,
    Outage,
    TransactionCanceled,
    outage_of,
)
from data.metering import Meter, Operation
from data.recent import Recent
from data.rows import Row, json_of, page_of
from data.seats import Seats
from data.sending import Decode, RetryPolicy, send
from data.transactions import Action, to_request
from data.transport import Sender

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.client import DynamoDBClient

__all__ = [
    "STORE_ERRORS",
    "CancellationReason",
    "ConditionFailed",
    "NotReady",
    "Outage",
    "RetryPolicy",
    "Store",
    "TransactionCanceled",
]

_NOBODY: Final[Key] = {"pk": s("TEAM##"), "sk": s("READY")}
"""A key that no item has, since no team's id has a `#`, and that the server's policy lets it read:
all of that is below `TEAM#`."""


class Store:
    """Requests to one table. Transient failures are retried with full jitter, a bounded number of
    times and for a bounded time, and then become `Unavailable`. `meter` counts what the process
    asks of the table. `large_teams` and `long_queries` (`KeyQuery.text`) remember what of it takes
    more than one page; `seats` are for reads of those."""

    def __init__(
        self,
        client: "DynamoDBClient",
        transport: Sender,
        table: str,
        *,
        consistent_reads: bool = True,
        max_items: int = 100_000,
        max_large_reads: int = 2,
        page_size: int | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self.client = client
        self.transport = transport
        self.table = table
        self._consistent_reads = consistent_reads
        self._max_items = max_items
        self._page_size = page_size
        self._retries = retries or RetryPolicy()
        self.large_teams = Recent()
        self.long_queries = Recent()
        self.seats = Seats(max_large_reads)
        self.meter = Meter()
        self._meters: tuple[Meter, ...] = (self.meter,)

    def metered(self, meter: Meter) -> Self:
        """The same store, which counts into this meter as well."""
        view = type(self).__new__(type(self))
        view.__dict__ |= self.__dict__
        view._meters = (*self._meters, meter)
        return view

    async def query(self, query: KeyQuery) -> list[Item]:
        """All items of the query, in the order of its keys. Raises LimitExceeded rather than
        return a part of them."""
        items: list[Item] = []
        async for page in self.pages(query):
            items += page
            self._require_few(len(items))
        return items

    async def page_of_rows(self, query: KeyQuery) -> list[Row] | None:
        """All items of the query if they fit one page, 1 MB; None if there are more pages, which
        are not read. Raises LimitExceeded as `query` does."""
        page = await self._send("Query", self._request(query), decode=page_of)
        if "LastEvaluatedKey" in page:
            return None
        rows: list[Row] = page["Items"]
        self._require_few(len(rows))
        return rows

    async def pages_of_rows(self, query: KeyQuery) -> AsyncIterator[tuple[list[Row], bool]]:
        """The pages of a query as rows, and whether it is the last. Raises LimitExceeded as `query`
        does."""
        request = self._request(query)
        count = 0
        while True:
            page = await self._send("Query", request, decode=page_of)
            rows: list[Row] = page["Items"]
            count += len(rows)
            self._require_few(count)
            last_key = page.get("LastEvaluatedKey")
            yield rows, last_key is None
            if last_key is None:
                return
            request["ExclusiveStartKey"] = last_key

    async def part_of_rows(
        self, query: KeyQuery, *, limit: int, start: Key | None
    ) -> tuple[list[Row], Key | None]:
        """One page of a query, which has looked at no more than `limit` items: what it found, and
        where to go on, None at the end. `start` is where an earlier page says so."""
        request = self._request(query) | {"Limit": limit}
        if start is not None:
            request["ExclusiveStartKey"] = start
        page = await self._send("Query", request, decode=page_of)
        return page["Items"], page.get("LastEvaluatedKey")

    def _require_few(self, items: int) -> None:
        if items > self._max_items:
            raise LimitExceeded(
                f"the answer needs more than the {self._max_items} items allowed at once"
            )

    async def pages(
        self, query: KeyQuery, *, consistent: bool | None = None
    ) -> AsyncIterator[list[Item]]:
        """The pages of a query, 1 MB each. One may be empty and not the last: only a missing
        LastEvaluatedKey is the end. `consistent` overrides the setting; an index can't be."""
        request = self._request(query, consistent=consistent)
        while True:
            page = await self._send("Query", request)
            yield cast("list[Item]", page["Items"])
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def _request(self, query: KeyQuery, *, consistent: bool | None = None) -> dict[str, Any]:
        request = {"TableName": self.table, **query.request()}
        if not query.index:
            request["ConsistentRead"] = self._consistent_reads if consistent is None else consistent
        if self._page_size:
            request["Limit"] = self._page_size
        return request

    async def get(self, key: Key) -> Item | None:
        """The item with this key, strongly consistent, or None."""
        request = {"TableName": self.table, "Key": key, "ConsistentRead": True}
        answer = await self._send("GetItem", request)
        return cast("Item | None", answer.get("Item"))

    async def probe(self) -> None:
        """Whether the table can be used: one strongly consistent GetItem of a key that no item
        has, sent once. Raises NotReady."""
        request = {"TableName": self.table, "Key": _NOBODY, "ConsistentRead": True}
        try:
            await self._send("GetItem", request, attempts=1)
        except Unavailable as error:
            raise NotReady(outage_of(error.__cause__)) from error.__cause__
        except STORE_ERRORS as error:
            raise NotReady(outage_of(error)) from error

    async def put(self, item: Item, condition: Expression | None) -> None:
        """PutItem; without a condition it replaces what stands there. Raises ConditionFailed."""
        await self._conditionally("PutItem", condition, Item=item)

    async def delete(self, key: Key, condition: Expression) -> None:
        """DeleteItem. Raises ConditionFailed."""
        await self._conditionally("DeleteItem", condition, Key=key)

    async def update(self, key: Key, update: Expression, condition: Expression) -> None:
        """UpdateItem; `update` is the update expression with its values. A retry may apply it
        twice, so it must be one that can be. Raises ConditionFailed."""
        await self._conditionally(
            "UpdateItem", condition, update, Key=key, UpdateExpression=update.text
        )

    async def transact(self, actions: Sequence[Action], *, token: str) -> None:
        """TransactWriteItems: all of at most `MAX_ACTIONS` actions, or none. With the same token
        (36 characters at most) and actions it is done once, however often it is sent within ten
        minutes. Raises TransactionCanceled when a condition did not hold."""
        request = {
            "TransactItems": [to_request(action, self.table) for action in actions],
            "ClientRequestToken": token,
        }
        await self._send("TransactWriteItems", request)

    async def _conditionally(
        self,
        operation: Operation,
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
        await self._send(operation, {"TableName": self.table, **request})

    async def _send(
        self,
        operation: Operation,
        request: Mapping[str, Any],
        *,
        attempts: int | None = None,
        decode: Decode = json_of,
    ) -> Mapping[str, Any]:
        retries = replace(self._retries, attempts=attempts) if attempts else self._retries
        return await send(
            self.transport,
            operation,
            request,
            retries=retries,
            meters=self._meters,
            decode=decode,
        )
