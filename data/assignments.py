"""Writing assignments: access patterns #7, #8, updates and moves."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from data import lookup
from data.clock import new_id
from data.contention import pauses
from data.decoding import decode_as
from data.entities import Assignment, EntityType
from data.errors import Problem, Refused, conflict, not_found
from data.expressions import Item, Key
from data.guards import IS_NEW, check_version, claim, is_at, live, move, update
from data.items import encode, key_in, table_key
from data.keys import project_sk, resource_sk
from data.stamps import changed, content, created
from data.store import CancellationReason, Store, TransactionCanceled
from data.tombstones import tombstone
from data.transactions import Action, Delete, Put

__all__ = ["MAX_PATCHES", "Assignments", "Patch"]

MAX_PATCHES: Final = 25
"""Patches of one transaction: each takes at most four of its hundred actions."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of one assignment. `path` is where the client said it, for its problems."""

    id: str
    change: Callable[[Assignment], Assignment]
    expected_version: int | None = None
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """What one patch needs of the transaction: guards, by the field that names the owner, and
    writes; none when it changes nothing."""

    patch: Patch
    new: Assignment
    checks: Mapping[str, Key] = field(default_factory=dict)
    writes: Sequence[Action] = ()


class Assignments:
    """The assignments of one team, for one request of a user (None: an operator)."""

    def __init__(self, store: Store, team_id: str, *, by: str | None = None) -> None:
        self._store = store
        self._team_id = team_id
        self._by = by
        self._finder = lookup.Finder(store, team_id)

    async def create(self, assignment: Assignment, *, id_is_chosen: bool) -> Assignment:
        """Stores a new assignment (version 1) of a resource and a project that exist, and returns
        it. With an id that the client chose, the same content again returns what is stored, and
        other content is refused (CONFLICT). Raises Refused (NOT_FOUND, CONFLICT)."""
        if id_is_chosen and (there := await lookup.look(self._store, self._team_id, assignment.id)):
            return _same(there[1], assignment)
        new = created(assignment, by=self._by)
        checks = self._owner_keys(resource_id=new.resource_id, project_id=new.project_id)
        actions: list[Action] = [live(key) for key in checks.values()]
        if id_is_chosen:
            actions.append(claim(self._team_id, new))
        actions.append(Put(encode(self._team_id, new), IS_NEW))
        self._finder.expect(new.id)
        try:
            await self._store.transact(actions, token=new_id())
        except TransactionCanceled as canceled:
            *_, guard, own = canceled.reasons
            if id_is_chosen and guard.condition_failed:
                return _same(await self._claimed(guard, assignment.id), assignment)
            if own.condition_failed:
                return _same(decode_as(own.item, Assignment), assignment)
            raise Refused(*_missing(checks, canceled.reasons)) from None
        return new

    async def delete(self, id: str) -> None:
        """Deletes the assignment; when there is none, that is as well (idempotent, #8)."""
        for pause in pauses():
            await asyncio.sleep(pause)
            found = await self._finder.find(id)
            if found is None:
                return
            item, old = found
            actions: list[Action] = [
                Delete(key_in(item), is_at(old.version)),
                tombstone(
                    self._team_id, EntityType.ASSIGNMENT, id, version=old.version, by=self._by
                ),
            ]
            try:
                await self._store.transact(actions, token=new_id())
            except TransactionCanceled:
                continue  # Changed, moved to another day, or deleted, since it was found.
            self._finder.removed(id)
            return
        raise Refused(conflict("others keep changing it; try again"))

    async def update(self, *patches: Patch) -> list[Assignment]:
        """Applies the patches to the stored assignments, all or none in one transaction, and
        returns what they became; a new first day moves an item, with the same id. On condition
        that nobody wrote meanwhile; else all are read and changed again. At most `MAX_PATCHES`,
        each of another assignment. Raises Refused (NOT_FOUND, CONFLICT, or what a change raises)
        with the problems of all patches."""
        for pause in pauses():
            await asyncio.sleep(pause)
            steps = await self._steps(patches)
            guards = {_text(key): live(key) for step in steps for key in step.checks.values()}
            writes = [action for step in steps for action in step.writes]
            if not writes:
                return [step.new for step in steps]
            try:
                await self._store.transact([*guards.values(), *writes], token=new_id())
            except TransactionCanceled as canceled:
                if any(reason.condition_failed for reason in canceled.reasons[len(guards) :]):
                    continue
                by_key = dict(zip(guards, canceled.reasons, strict=False))
                raise Refused(*_missing_of(steps, by_key)) from None
            return [step.new for step in steps]
        raise Refused(conflict("others keep changing it; try again"))

    async def locate(self, id: str) -> list[str]:
        """The sort keys that `byId` has for the assignment, a moment later than the table: one,
        or two while it moves, or none. Nothing is read from the table itself."""
        return await lookup.find_keys(self._store, self._team_id, id)

    async def _steps(self, patches: Sequence[Patch]) -> list[Step]:
        ids = [patch.id for patch in patches]
        found = await self._finder.find_all(ids)
        steps: list[Step] = []
        problems: list[Problem] = []
        for patch, item_and_old in zip(patches, found, strict=True):
            try:
                steps.append(self._step(patch, item_and_old))
            except Refused as refused:
                problems += (problem.below(*patch.path) for problem in refused.problems)
        if problems:
            raise Refused(*problems)
        return steps

    def _step(self, patch: Patch, found: tuple[Item, Assignment] | None) -> Step:
        """The guards and writes of a patch. Only new owners are checked, but a new item must be
        guarded like one that is created, or a cascade could miss it."""
        if found is None:
            raise Refused(not_found("there is no such assignment", "id"))
        item, old = found
        check_version(old.version, patch.expected_version)
        wanted = patch.change(old)
        if wanted == old:
            return Step(patch, old)
        new = changed(wanted, by=self._by)
        moves = new.start_date != old.start_date
        checks = self._owner_keys(
            resource_id=new.resource_id if moves or new.resource_id != old.resource_id else None,
            project_id=new.project_id if moves or new.project_id != old.project_id else None,
        )
        encoded = encode(self._team_id, new)
        if moves:
            return Step(patch, new, checks, move(item, encoded, version=old.version))
        return Step(patch, new, checks, [update(item, encoded, version=old.version)])

    def _owner_keys(
        self, *, resource_id: str | None = None, project_id: str | None = None
    ) -> dict[str, Key]:
        """The keys of the given owners, by the input field that names each."""
        keys: dict[str, Key] = {}
        if resource_id is not None:
            keys["resourceId"] = table_key(self._team_id, resource_sk(resource_id))
        if project_id is not None:
            keys["projectId"] = table_key(self._team_id, project_sk(project_id))
        return keys

    async def _claimed(self, guard: CancellationReason, id: str) -> Assignment | None:
        """What was created under an id that is claimed: where it was created, or where it was
        moved to since; None when it is gone."""
        created_at = (guard.item or {}).get("target", {}).get("S")
        if created_at:
            item = await self._store.get(table_key(self._team_id, created_at))
            if there := decode_as(item, Assignment):
                return there
        found = await self._finder.find(id)
        return found[1] if found else None


def _same(there: Assignment | None, wanted: Assignment) -> Assignment:
    """What stands there, if it is what was wanted; else Refused (CONFLICT)."""
    if there is None or content(there) != content(wanted):
        raise Refused(conflict("this id is used, or was; take a new one", "id"))
    return there


def _missing(fields: Iterable[str], reasons: Iterable[CancellationReason]) -> list[Problem]:
    return [
        not_found(f"there is no such {field.removesuffix('Id')}", field)
        for field, reason in zip(fields, reasons, strict=False)
        if reason.condition_failed
    ]


def _missing_of(
    steps: Sequence[Step], reasons: Mapping[str, CancellationReason]
) -> Iterator[Problem]:
    for step in steps:
        own = (reasons[_text(key)] for key in step.checks.values())
        for problem in _missing(step.checks, own):
            yield problem.below(*step.patch.path)


def _text(key: Key) -> str:
    return key["sk"]["S"]
