"""Importing: items of files into the table, each one only if nothing stands where it belongs.

So an import that broke off is simply run again. Nothing is ever replaced: what differs is a
conflict, and is reported. Assignments are written with the guards of `createAssignment`, so that
none comes without its resource and project, however many write and delete meanwhile.
"""

import asyncio
import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from data.clock import epoch_seconds, new_id
from data.decoding import decode_as
from data.entities import Assignment, EntityType
from data.expressions import Item, Key, s
from data.guards import IS_NEW, live
from data.import_files import Entry
from data.items import key_in, table_key
from data.keys import project_sk, resource_sk, team_in
from data.lookup import sort_keys
from data.store import ConditionFailed, Store, TransactionCanceled
from data.transactions import MAX_ACTIONS, Action, Put

__all__ = ["Importer", "Outcome", "batches", "is_same"]

_PER_TRANSACTION: Final = MAX_ACTIONS // 3
"""Each assignment needs a Put and the guards of its two owners."""

_MAX_BYTES: Final = 3_000_000
"""Of the lines of one transaction; AWS limit: 4 MB for its items."""


class Outcome(enum.StrEnum):
    """What became of an item."""

    WRITTEN = "written"
    SAME = "same"
    CONFLICT = "conflict"
    ORPHANED = "orphaned"
    EXPIRED = "expired"


Report = Callable[[Item, Outcome, str], object]
"""Hears of each item what became of it, and why, where that says something."""


class Importer:
    """Writes items, or with `dry_run` only looks what there is."""

    def __init__(self, store: Store, report: Report, *, dry_run: bool = False) -> None:
        self._store, self._report, self._dry_run = store, report, dry_run

    async def take(self, batch: list[Item]) -> None:
        """One of `batches`. Raises Unavailable."""
        assignments: list[tuple[Item, Assignment]] = []
        for item in batch:
            if assignment := decode_as(item, Assignment):
                assignments.append((item, assignment))
            elif _is_expired(item):
                self._report(item, Outcome.EXPIRED, "")
            else:
                self._report(item, await self._put(item), "")
        if assignments:
            await self._take_assignments(assignments)

    async def _put(self, item: Item) -> Outcome:
        if self._dry_run:
            return _compared(await self._store.get(key_in(item)), item)
        try:
            await self._store.put(item, IS_NEW)
        except ConditionFailed as failed:
            return _compared(failed.item, item)
        return Outcome.WRITTEN

    async def _take_assignments(self, batch: list[tuple[Item, Assignment]]) -> None:
        team_id = team_in(batch[0][0]["pk"]["S"]) or ""
        elsewhere = await asyncio.gather(
            *(self._elsewhere(team_id, item, each.id) for item, each in batch)
        )
        left = []
        for (item, assignment), sk in zip(batch, elsewhere, strict=True):
            if sk is not None:
                self._report(item, Outcome.CONFLICT, f"its id is that of {sk}")
            elif self._dry_run:
                self._report(item, await self._put(item), "")
            else:
                left.append((item, _owners(team_id, assignment)))
        while left:
            left = await self._transact(left)

    async def _elsewhere(self, team_id: str, item: Item, id: str) -> str | None:
        """The other sort key under which an assignment with this id is: it was moved since."""
        for sk in await sort_keys(self._store, team_id, id):
            # The index lags, so it may be the key that it had before.
            if s(sk) != item["sk"] and await self._store.get(table_key(team_id, sk)):
                return sk
        return None

    async def _transact(self, batch: list[tuple[Item, list[Key]]]) -> list[tuple[Item, list[Key]]]:
        """Writes those that can be written, in one transaction; returns those that are to be tried
        again, since others can't be."""
        keys = {key["sk"]["S"]: key for _, owners in batch for key in owners}
        actions: list[Action] = [live(key) for key in keys.values()]
        actions += (Put(item, IS_NEW) for item, _ in batch)
        try:
            await self._store.transact(actions, token=new_id())
        except TransactionCanceled as canceled:
            guards, puts = canceled.reasons[: len(keys)], canceled.reasons[len(keys) :]
            gone = {sk for sk, reason in zip(keys, guards, strict=True) if reason.condition_failed}
            left = []
            for (item, owners), reason in zip(batch, puts, strict=True):
                missing = sorted(gone & {key["sk"]["S"] for key in owners})
                if reason.condition_failed:
                    self._report(item, _compared(reason.item, item), "")
                elif missing:
                    why = f"{' and '.join(missing)} {'are' if missing[1:] else 'is'} not there"
                    self._report(item, Outcome.ORPHANED, why)
                else:
                    left.append((item, owners))
            return left
        for item, _ in batch:
            self._report(item, Outcome.WRITTEN, "")
        return []


def batches(entries: Iterable[Entry]) -> Iterator[list[Item]]:
    """The items in groups that one transaction may write: of one team and of keys of their own,
    few enough, and small enough."""
    batch: dict[str, Item] = {}
    size, pk = 0, None
    for entry in entries:
        key = entry.item["sk"]["S"]
        is_full = len(batch) == _PER_TRANSACTION or size + entry.size > _MAX_BYTES
        if batch and (is_full or key in batch or entry.item["pk"] != pk):
            yield list(batch.values())
            batch, size = {}, 0
        batch[key] = entry.item
        size, pk = size + entry.size, entry.item["pk"]
    if batch:
        yield list(batch.values())


def is_same(there: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Whether two items are equal for DynamoDB: numbers by value, sets in any order."""
    return {name: _canonical(value) for name, value in there.items()} == {
        name: _canonical(value) for name, value in item.items()
    }


def _canonical(value: Mapping[str, Any]) -> object:
    [(kind, content)] = value.items()
    match kind:
        case "N":
            return kind, Decimal(content)
        case "NS":
            return kind, frozenset(map(Decimal, content))
        case "SS" | "BS":
            return kind, frozenset(content)
        case "L":
            return kind, [_canonical(each) for each in content]
        case "M":
            return kind, {name: _canonical(each) for name, each in content.items()}
        case _:
            return kind, content


def _compared(there: Item | None, item: Item) -> Outcome:
    if there is None:
        return Outcome.WRITTEN
    return Outcome.SAME if is_same(there, item) else Outcome.CONFLICT


def _is_expired(item: Item) -> bool:
    """Whether TTL would take it at once: a claim or a tombstone whose time is over."""
    expires = item.get("expires", {}).get("N")
    return item.get("EntityType") in _EXPIRING and (
        expires is not None and Decimal(expires) < epoch_seconds()
    )


_EXPIRING: Final = (s(EntityType.CLAIM), s(EntityType.DELETION))


def _owners(team_id: str, assignment: Assignment) -> list[Key]:
    return [
        table_key(team_id, resource_sk(assignment.resource_id)),
        table_key(team_id, project_sk(assignment.project_id)),
    ]
