"""The read side: slices of a team's partition, loaded together.

One loader belongs to one request and one team; it is never shared (T-01).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from aiodataloader import DataLoader

from data.clock import age_seconds
from data.decoding import SkipCode
from data.entities import Assignment, Membership, Owner, Project, Resource, Team
from data.expressions import KeyQuery
from data.items import sort_key
from data.partition import Partition
from data.slices import (
    AssignmentsSlice,
    ItemSlice,
    MembersSlice,
    Plan,
    ProjectsSlice,
    ResourcesSlice,
    Slice,
    TeamSlice,
    plan,
)
from data.store import Store

__all__ = ["MARK_TIMEOUT", "Identified", "Part", "PartitionLoader"]

Identified = Membership | Resource | Project | Assignment
"""What clients look up by a global id, besides the team itself."""

MARK_TIMEOUT = 60.0
"""Seconds after which a deletion's mark counts as left behind, and any read that sees it has the
deletion finished."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one slice holds, in the order of the sort keys. The slice decides which is filled."""

    team: Team | None = None
    members: tuple[Membership, ...] = ()
    resources: tuple[Resource, ...] = ()
    projects: tuple[Project, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    item: Identified | None = None


Parts = Mapping[Slice, Part]


class _Cancelled(Exception):
    """A CancelledError on its way through aiodataloader, which wakes nobody for one of those."""


class PartitionLoader:
    """Loads slices through one aiodataloader, whose batch function is the query planner: slices
    that are asked for together cost one Query. `skipped` counts the items left out so far.
    `on_left_behind` hears of each owner whose deletion was begun and not finished in time."""

    def __init__(
        self, store: Store, team_id: str, *, on_left_behind: Callable[[Owner], None]
    ) -> None:
        self.skipped: Counter[SkipCode] = Counter()
        self._store = store
        self._team_id = team_id
        self._on_left_behind = on_left_behind
        # What is asked for together is one key already: there is nothing to wait for.
        self._parts: DataLoader[frozenset[Slice], Parts] = DataLoader(self._load, batch=False)
        self._reads: set[asyncio.Task[Any]] = set()
        self._seat = store.seats.seat(team_id)

    async def load(self, slices: Collection[Slice]) -> Parts:
        """The parts of the slices, all in one read, which is given up when who asked for it is
        cancelled; or from memory, if the same were asked for before."""
        if not slices:
            return {}
        try:
            return await self._parts.load(frozenset(slices))
        except _Cancelled:
            raise asyncio.CancelledError from None
        except asyncio.CancelledError:
            # The dataloader reads in a task of its own, for all of the request.
            for read in self._reads:
                read.cancel()
            raise

    def forget(self) -> None:
        """After a write: what was read before may be no longer so."""
        self._parts.clear_all()

    def release(self) -> None:
        """The request ends: lets go of what was read, and of its turn among large reads. Nothing
        can be loaded any more."""
        self.forget()
        self._seat.leave()
        # The dataloader holds this loader, and this one it: a cycle for the garbage collector.
        self._parts.batch_load_fn = _ended

    async def _load(self, wanted: list[frozenset[Slice]]) -> list[Parts]:
        if task := asyncio.current_task():
            self._reads.add(task)
            task.add_done_callback(self._reads.discard)
        [slices] = wanted  # Nothing is batched.
        try:
            partition = await self._read(_planned(self._team_id, slices))
            partition.hide()
        except asyncio.CancelledError as cancelled:
            raise _Cancelled from cancelled
        # Read again after a write, an item is still one item.
        self.skipped |= partition.skipped
        for owner in partition.deleting:
            if owner.deleting_at and age_seconds(owner.deleting_at) > MARK_TIMEOUT:
                self._on_left_behind(owner)
        by_key = _by_sort_key(partition) if any(isinstance(e, ItemSlice) for e in slices) else {}
        return [{each: _part(partition, by_key, each) for each in slices}]

    async def _read(self, plan: Plan) -> Partition:
        if plan.large:
            large_teams = self._store.large_teams
            if self._team_id not in large_teams:
                rows = await self._store.page_of_rows(plan.table)
                if rows is not None:
                    partition = Partition()
                    partition.take(rows)
                    return partition
                large_teams.add(self._team_id)
            plan = plan.large
        if plan.companion is None and plan.beside is None:
            return await self._query(plan.table)
        table, long, beside = await _all_or_none(
            *(self._query(query) for query in (plan.table, plan.companion, plan.beside))
        )
        table.take_earlier(long)
        table.take_others(beside)
        return table

    async def _query(self, query: KeyQuery | None) -> Partition:
        partition = Partition()
        if query is None:
            return partition
        # What is known to have several pages waits before the first one, with nothing in its hands.
        if query.text in self._store.long_queries:
            await self._seat.take()
        pages = 0
        # Page by page, so that no more than one is held in its wire form.
        async for rows, is_last in self._store.pages_of_rows(query):
            pages += 1
            partition.take(rows)
            if not is_last:
                self._store.long_queries.add(query.text)
                await self._seat.take()
        if pages > 1:
            partition.keep_latest()
        return partition


_planned = lru_cache(maxsize=1_000)(plan)


async def _all_or_none(*reads: Coroutine[Any, Any, Partition]) -> list[Partition]:
    """Reads at the same time. When one fails, the others are given up before anybody hears of it:
    else they would go on after the answer, for nobody."""
    tasks = [asyncio.ensure_future(read) for read in reads]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def _ended(wanted: list[frozenset[Slice]]) -> list[Parts]:
    raise RuntimeError("the request has ended")


def _by_sort_key(partition: Partition) -> dict[str, Identified]:
    entities: tuple[Identified, ...] = (
        *partition.members,
        *partition.resources,
        *partition.projects,
        *partition.assignments,
    )
    return {sort_key(entity): entity for entity in entities}


def _part(partition: Partition, by_key: Mapping[str, Identified], slice: Slice) -> Part:
    match slice:
        case TeamSlice():
            return Part(team=next(iter(partition.teams), None))
        case MembersSlice():
            return Part(members=tuple(partition.members))
        case ResourcesSlice():
            return Part(resources=tuple(partition.resources))
        case ProjectsSlice():
            return Part(projects=tuple(partition.projects))
        case AssignmentsSlice(window):
            return Part(
                assignments=tuple(
                    each
                    for each in partition.assignments
                    if window.has(each.start_date, each.end_date_exclusive)
                )
            )
        case ItemSlice(sk):
            return Part(item=by_key.get(sk))
