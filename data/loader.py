"""The read side: slices of a team's partition, loaded together and split by `EntityType`.

One loader belongs to one request and one team; it is never shared (T-01).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from aiodataloader import DataLoader

from data.clock import age_seconds
from data.decoding import Skip, SkipCode, decode
from data.entities import Assignment, Entity, Membership, Owner, Project, Resource, Team
from data.expressions import Item, KeyQuery
from data.items import sort_key
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

__all__ = ["MARK_TIMEOUT", "Identified", "Part", "Partition", "PartitionLoader", "split"]

log = structlog.get_logger(__name__)

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


@dataclass(slots=True)
class Partition:
    """The items of one read, split by what they are. Owners that are being deleted stand apart,
    and their assignments are gone with them."""

    teams: list[Team] = field(default_factory=list)
    members: list[Membership] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    projects: list[Project] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    deleting: list[Owner] = field(default_factory=list)
    skipped: Counter[SkipCode] = field(default_factory=Counter)


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
        self._parts: DataLoader[Slice, Part] = DataLoader(self._load)
        self._reads: set[asyncio.Task[Any]] = set()

    async def load(self, slices: Collection[Slice]) -> Mapping[Slice, Part]:
        """The parts of the slices: from memory, or all that are new in one read, which is given
        up when who asked for it is cancelled."""
        keys = list(slices)
        try:
            return dict(zip(keys, await self._parts.load_many(keys), strict=True))
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

    async def _load(self, slices: list[Slice]) -> list[Part]:
        if task := asyncio.current_task():
            self._reads.add(task)
            task.add_done_callback(self._reads.discard)
        try:
            partition = split(await self._read(plan(self._team_id, slices)))
        except asyncio.CancelledError as cancelled:
            raise _Cancelled from cancelled
        # Read again after a write, an item is still one item.
        self.skipped |= partition.skipped
        for owner in partition.deleting:
            if owner.deleting_at and age_seconds(owner.deleting_at) > MARK_TIMEOUT:
                self._on_left_behind(owner)
        by_key = _by_sort_key(partition) if any(isinstance(e, ItemSlice) for e in slices) else {}
        return [_part(partition, by_key, each) for each in slices]

    async def _read(self, plan: Plan) -> Iterable[Item]:
        if plan.large:
            large_teams = self._store.large_teams
            if self._team_id not in large_teams:
                items = await self._store.query_page(plan.table)
                if items is not None:
                    return items
                large_teams.add(self._team_id)
            plan = plan.large
        table, long, beside = await asyncio.gather(
            *(self._query(query) for query in (plan.table, plan.companion, plan.beside))
        )
        return [*_earlier(long, table), *table, *beside]

    async def _query(self, query: KeyQuery | None) -> list[Item]:
        return await self._store.query(query) if query else []


def _earlier(long: list[Item], table: list[Item]) -> list[Item]:
    """The long assignments of the index, in the order of sort keys: all of them began before the
    table's range. What has just been moved into it may still be here, where it stood before."""
    moved = {_id(item) for item in table} if long else set()
    return sorted(
        (item for item in long if _id(item) not in moved), key=lambda item: item["sk"]["S"]
    )


def _id(item: Item) -> str:
    """What tells an assignment wherever it stands; a malformed one stands for itself."""
    return item.get("id", {}).get("S") or item["sk"]["S"]


def split(items: Iterable[Item]) -> Partition:
    """Dispatches each item on its EntityType. One that can't be read is counted, logged once by
    its keys, and left out: it never fails the others (S-08)."""
    partition = Partition()
    for item in items:
        try:
            _place(partition, decode(item))
        except Skip as skip:
            partition.skipped[skip.code] += 1
            _log_once(item, skip)
    if partition.deleting:
        resources, projects = _ids(partition.deleting, Resource), _ids(partition.deleting, Project)
        partition.assignments = [
            each
            for each in partition.assignments
            if each.resource_id not in resources and each.project_id not in projects
        ]
    return partition


def _place(partition: Partition, entity: Entity) -> None:
    match entity:
        case Assignment():
            partition.assignments.append(entity)
        case Resource():
            (partition.deleting if entity.deleting_at else partition.resources).append(entity)
        case Project():
            (partition.deleting if entity.deleting_at else partition.projects).append(entity)
        case Membership():
            partition.members.append(entity)
        case Team():
            partition.teams.append(entity)


def _ids(owners: Iterable[Owner], type: type[Owner]) -> set[str]:
    return {owner.id for owner in owners if isinstance(owner, type)}


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


_MAX_LOGGED = 10_000
_logged: set[tuple[str, str]] = set()


def _log_once(item: Item, skip: Skip) -> None:
    key = (item["pk"]["S"], item["sk"]["S"])
    if key in _logged:
        return
    if len(_logged) >= _MAX_LOGGED:
        _logged.clear()
    _logged.add(key)
    log.warning("item skipped", pk=key[0], sk=key[1], code=skip.code, reason=str(skip))
