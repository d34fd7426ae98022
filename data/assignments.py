"""Writing assignments: access patterns #7, #8, updates and moves."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from data.clock import new_id, now
from data.contention import attempts
from data.entities import Assignment
from data.errors import Refused, conflict, not_found
from data.expressions import Expression, Item, KeyQuery, s
from data.guards import IS_NEW, difference, live, unchanged, update
from data.items import Skip, decode, encode, key_of, table_key
from data.keys import ASSIGNMENT, is_id, project_sk, resource_sk, team_pk
from data.store import CancellationReason, ConditionFailed, Store, TransactionCanceled
from data.transactions import Action, Check, Delete, Put

__all__ = ["Assignments"]

_EXISTS: Final = Expression("attribute_exists(#sk)")
# An index follows the table within milliseconds; an id that never was is looked for no longer.
_LOOKS: Final = (0.0, 0.03, 0.1)


class Assignments:
    """The assignments of one team."""

    def __init__(self, store: Store, team_id: str) -> None:
        self._store = store
        self._team_id = team_id

    async def create(self, assignment: Assignment, *, id_is_chosen: bool) -> Assignment:
        """Stores a new assignment (version 1) of a resource and a project that exist, and returns
        it. With an id that the client chose, the same content again returns what is stored, and
        other content is refused (CONFLICT). Raises Refused (NOT_FOUND, CONFLICT)."""
        if id_is_chosen and (there := await self._look(assignment.id)):
            return _same(there[1], assignment)
        moment = now()
        new = replace(assignment, version=1, created_at=moment, updated_at=moment)
        checks = self._owner_checks(resource_id=new.resource_id, project_id=new.project_id)
        put = Put(encode(self._team_id, new), IS_NEW)
        try:
            await self._store.transact([*checks.values(), put], token=new_id())
        except TransactionCanceled as canceled:
            if canceled.reasons[-1].condition_failed:
                return _same(_readable(canceled.reasons[-1].item), assignment)
            raise _missing(checks, canceled.reasons) from None
        return new

    async def delete(self, id: str) -> None:
        """Deletes the assignment; when there is none, that is as well (idempotent, #8)."""
        async for _ in attempts():
            found = await self._find(id)
            if found is None:
                return
            try:
                await self._store.delete(key_of(self._team_id, found[1]), _EXISTS)
            except ConditionFailed:
                continue  # Moved to another day, or deleted, since it was found.
            return
        raise Refused(conflict("others keep moving it; try again"))

    async def update(
        self,
        id: str,
        change: Callable[[Assignment], Assignment],
        *,
        expected_version: int | None,
    ) -> Assignment:
        """Applies `change` to the stored assignment and returns what it became; a new first day
        moves the item, with the same id. On condition that nobody wrote meanwhile; else it is
        read and changed again. Raises Refused (NOT_FOUND, CONFLICT, or what `change` raises)."""
        async for _ in attempts():
            found = await self._find(id)
            if found is None:
                raise Refused(not_found("there is no such assignment", "id"))
            item, old = found
            if expected_version is not None and old.version != expected_version:
                raise Refused(conflict(f"it has version {old.version} now", "expectedVersion"))
            new = replace(change(old), version=old.version + 1, updated_at=now())
            checks, writes = self._changes(item, old, new)
            try:
                await self._store.transact([*checks.values(), *writes], token=new_id())
            except TransactionCanceled as canceled:
                if any(reason.condition_failed for reason in canceled.reasons[len(checks) :]):
                    continue
                raise _missing(checks, canceled.reasons) from None
            return new
        raise Refused(conflict("others keep changing it; try again"))

    async def locate(self, id: str) -> str | None:
        """The sort key of the assignment as `byId` has it, a moment later than the table; or None.
        Nothing is read from the table itself."""
        return next(iter(await self._sort_keys(id)), None) if is_id(id) else None

    def _changes(
        self, item: Item, old: Assignment, new: Assignment
    ) -> tuple[dict[str, Check], list[Action]]:
        """The guards and writes that turn one into the other. Only new owners are checked, but a
        new item must be guarded like one that is created, or a cascade could miss it."""
        moves = new.start_date != old.start_date
        checks = self._owner_checks(
            resource_id=new.resource_id if moves or new.resource_id != old.resource_id else None,
            project_id=new.project_id if moves or new.project_id != old.project_id else None,
        )
        before, after = encode(self._team_id, old), encode(self._team_id, new)
        if not moves:
            return checks, [update(before, after, version=old.version)]
        changed, removed = difference(before, after)
        moved = {name: value for name, value in item.items() if name not in removed} | changed
        return checks, [
            Delete(key_of(self._team_id, old), unchanged(old.version)),
            Put(moved, IS_NEW),
        ]

    def _owner_checks(
        self, *, resource_id: str | None = None, project_id: str | None = None
    ) -> dict[str, Check]:
        """The guards of the given owners, by the input field that names each."""
        checks: dict[str, Check] = {}
        if resource_id is not None:
            checks["resourceId"] = live(table_key(self._team_id, resource_sk(resource_id)))
        if project_id is not None:
            checks["projectId"] = live(table_key(self._team_id, project_sk(project_id)))
        return checks

    async def _find(self, id: str) -> tuple[Item, Assignment] | None:
        """The assignment with this id, and its item. The index may lag behind the table, so a
        miss is looked at again, a few times and briefly."""
        if not is_id(id):
            return None
        for pause in _LOOKS:
            await asyncio.sleep(pause)
            if found := await self._look(id):
                return found
        return None

    async def _look(self, id: str) -> tuple[Item, Assignment] | None:
        for sk in await self._sort_keys(id):
            item = await self._store.get(table_key(self._team_id, sk))
            if item and (assignment := _readable(item)):
                return item, assignment
        return None

    async def _sort_keys(self, id: str) -> list[str]:
        query = KeyQuery(
            "#id = :id AND #pk = :pk",
            {":id": s(id), ":pk": s(team_pk(self._team_id))},
            index="byId",
        )
        keys = [item["sk"]["S"] for item in await self._store.query(query)]
        # The index holds keys only; a resource or project may have the same id.
        return [key for key in keys if key.startswith(ASSIGNMENT)]


def _readable(item: Item | None) -> Assignment | None:
    try:
        entity = decode(item) if item else None
    except Skip:
        return None
    return entity if isinstance(entity, Assignment) else None


def _same(there: Assignment | None, wanted: Assignment) -> Assignment:
    """What stands there, if it is what was wanted; else Refused (CONFLICT)."""
    stamps = {"version": 0, "created_at": None, "updated_at": None}
    if there is None or replace(there, **stamps) != replace(wanted, **stamps):  # type: ignore[arg-type]
        raise Refused(conflict("something else has this id", "id"))
    return there


def _missing(checks: Mapping[str, Check], reasons: Sequence[CancellationReason]) -> Refused:
    return Refused(
        *(
            not_found(f"there is no such {field.removesuffix('Id')}", field)
            for field, reason in zip(checks, reasons, strict=False)
            if reason.condition_failed
        )
    )
