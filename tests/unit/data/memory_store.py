"""A store in memory with the methods that the cascade and the loader use, and scripted trouble."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import cast

from data.entities import Entity
from data.expressions import Expression, Item, Key, KeyQuery
from data.items import encode
from data.recent import Recent
from data.rows import Row, row_of
from data.seats import Seats
from data.store import CancellationReason, ConditionFailed, Store, TransactionCanceled
from data.transactions import MAX_ACTIONS, Action, Delete, Put
from tests.unit.data.condition_language import holds

__all__ = ["TEAM", "Crash", "MemoryStore", "found"]

TEAM = "t1"
_PAGE = 60


class Crash(Exception):
    """The process ended between two requests."""


def found(query: KeyQuery, items: Iterable[Item]) -> list[Item]:
    """What DynamoDB would answer: the key condition, then the filter, in the order of its keys."""
    matching = [
        item
        for item in items
        if holds(query.key_condition, query.values, item)
        and (query.filter is None or holds(query.filter, query.values, item))
    ]
    sort = "longEnd" if query.index == "byLongEnd" else "sk"
    return sorted(matching, key=lambda item: item[sort]["S"].encode())


class MemoryStore:
    """`crash_at` ends the process instead of the request of that number, counted from 0;
    `before_transaction` runs before each transaction is looked at; the answer to the transaction
    of the number `lost_answer` is lost, and it comes again where no tokens are kept; no more than
    `page_items` fit the one page of `page_of_rows`."""

    def __init__(self, *entities: Entity) -> None:
        self.items: dict[str, Item] = {}
        self.queries: list[tuple[KeyQuery, bool | None]] = []
        self.transactions: list[Sequence[Action]] = []
        self.tokens: list[str] = []
        self.marks: list[Key] = []
        self.gets: list[Key] = []
        self.large_teams = Recent()
        self.long_queries = Recent()
        self.seats = Seats(1)
        self.page_items: int | None = None
        self.requests = 0
        self.crash_at: int | None = None
        self.before_transaction: Callable[[], None] = lambda: None
        self.lost_answer: int | None = None
        self.add(*entities)

    @property
    def as_store(self) -> Store:
        return cast("Store", self)

    def add(self, *entities: Entity) -> None:
        self.add_items(*(encode(TEAM, entity) for entity in entities))

    def add_items(self, *items: Item) -> None:
        self.items |= {item["sk"]["S"]: item for item in items}

    async def query(self, query: KeyQuery, *, consistent: bool | None = None) -> list[Item]:
        self._count()
        self.queries.append((query, consistent))
        items = found(query, self.items.values())
        if query.projection:
            return [{k: v for k, v in item.items() if k in query.projection} for item in items]
        return items

    async def get(self, key: Key) -> Item | None:
        self._count()
        self.gets.append(key)
        return self._at(key) or None

    async def page_of_rows(self, query: KeyQuery) -> list[Row] | None:
        items = await self.query(query)
        too_many = self.page_items is not None and len(items) > self.page_items
        return None if too_many else list(map(row_of, items))

    async def pages_of_rows(self, query: KeyQuery) -> AsyncIterator[tuple[list[Row], bool]]:
        yield list(map(row_of, await self.query(query))), True

    async def pages(
        self, query: KeyQuery, *, consistent: bool | None = None
    ) -> AsyncIterator[list[Item]]:
        """Each page is a request; the first one is empty and not the end."""
        items = await self.query(query, consistent=consistent)
        yield []
        for start in range(0, len(items), _PAGE):
            self._count()
            yield items[start : start + _PAGE]

    async def update(self, key: Key, update: Expression, condition: Expression) -> None:
        self._count()
        self.marks.append(key)
        item = self._at(key)
        if not holds(condition.text, condition.values, item):
            raise ConditionFailed(item or None)
        # The one update expression that is sent outside of transactions: a deletion's mark.
        assert update.text == (
            "SET #deletingAt = if_not_exists(#deletingAt, :now), #updatedBy = :by"
        )
        marked = {"deletingAt": update.values[":now"]} | item
        self.items[key["sk"]["S"]] = marked | {"updatedBy": update.values[":by"]}

    async def transact(self, actions: Sequence[Action], *, token: str) -> None:
        self._count()
        self.before_transaction()
        assert 0 < len(actions) <= MAX_ACTIONS
        keys = [_sort_key(action) for action in actions]
        assert len(set(keys)) == len(actions), "each action is about an item of its own"
        self.transactions.append(tuple(actions))
        assert len(self.transactions) < 100, "it goes on for ever"
        self.tokens.append(token)
        for _ in range(1 + (self.lost_answer == len(self.transactions) - 1)):
            self._carry_out(actions, keys)

    def _carry_out(self, actions: Sequence[Action], keys: Sequence[str]) -> None:
        there = [self.items.get(key, {}) for key in keys]
        held = [
            holds(action.condition.text, action.condition.values, item)
            for action, item in zip(actions, there, strict=True)
        ]
        if not all(held):
            raise TransactionCanceled(
                tuple(
                    CancellationReason("None", None)
                    if good
                    else CancellationReason("ConditionalCheckFailed", item or None)
                    for good, item in zip(held, there, strict=True)
                )
            )
        for action, key in zip(actions, keys, strict=True):
            match action:
                case Delete():
                    self.items.pop(key, None)
                case Put(item):
                    self.items[key] = item

    def _at(self, key: Key) -> Item:
        return self.items.get(key["sk"]["S"], {})

    def _count(self) -> None:
        if self.requests == self.crash_at:
            raise Crash
        self.requests += 1


def _sort_key(action: Action) -> str:
    return (action.item if isinstance(action, Put) else action.key)["sk"]["S"]
