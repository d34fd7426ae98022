"""Shifting a project: its assignments from a day on, all by the same number of days.

They may be too many for one transaction. Each that was shifted remembers by which operations, and
a record beside the team's partition says when an operation is done: the same shift again goes on
where it ended, and shifts nothing twice.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from msgspec.structs import replace

from data.clock import new_id, now
from data.contention import pauses
from data.days import FIRST_DAY, LAST_DAY, end_exclusive, last_day, shifted_day
from data.decoding import decode_as
from data.entities import Assignment, EntityType
from data.errors import Refused, Unavailable, conflict, invalid, not_found
from data.expressions import Expression, Item, KeyQuery, s
from data.guards import EXISTS, IS_NEW, claim_item, live, move
from data.items import encode, key_in, table_key
from data.keys import ASSIGNMENT, RESOURCE, after, project_sk, resource_sk, team_pk
from data.partition import split
from data.stamps import changed
from data.store import ConditionFailed, Store, TransactionCanceled
from data.transactions import MAX_ACTIONS, Action

__all__ = ["Shift", "Shifted", "shift_project"]

_PER_TRANSACTION: Final = (MAX_ACTIONS - 1) // 3
"""Each needs a Delete, a Put and the guard of its resource; one guard is the project's."""

_REMEMBERED: Final = 200
"""Operations that an assignment remembers, the latest: 8 kB at most. Only one that broke off asks
for it, and it would have to be taken up again after so many others."""

_ANOTHER: Final = conflict("this was the id of another shift", "operationId")


@dataclass(frozen=True, slots=True)
class Shift:
    """Which assignments of a project, by how many days; `operation` names this one shift."""

    project_id: str
    days: int
    first: date | None
    operation: str

    @property
    def content(self) -> str:
        """What the client said, to tell the same shift from another one of its name."""
        return f"{self.project_id} {self.days} {self.first or ''}"


@dataclass(frozen=True, slots=True)
class Shifted:
    """The ids of what one call shifted, and whether that was all: if not, the same shift again
    does the rest."""

    ids: tuple[str, ...]
    is_done: bool


async def shift_project(
    store: Store, team_id: str, shift: Shift, *, by: str | None = None
) -> Shifted:
    """Shifts the project's assignments that start on or after `shift.first` (all, when None). One
    whose resource is gone stays. Raises Refused when nothing was shifted: NOT_FOUND, INVALID when
    an assignment would leave the calendar, CONFLICT when others keep writing or the operation is
    another shift's; or Unavailable."""
    key = key_in(_record(team_id, shift))
    record = await store.get(key) or {}
    if record and record["target"] != s(shift.content):
        raise Refused(_ANOTHER)
    if not shift.days or "doneAt" in record:
        return Shifted((), True)
    ids: list[str] = []
    try:
        for pause in pauses():
            await asyncio.sleep(pause)
            left = await _left(store, team_id, shift)
            pairs = [(item, old, _moved(shift, old, by)) for item, old in left]
            await _begin(store, team_id, shift)
            done = True
            for start in range(0, len(pairs), _PER_TRANSACTION):
                chunk = pairs[start : start + _PER_TRANSACTION]
                if await _shift_chunk(store, team_id, shift, chunk):
                    ids += (new.id for _, _, new in chunk)
                else:
                    done = False
            if done:
                finish = Expression("SET #doneAt = :now", {":now": s(now())})
                await store.update(key, finish, EXISTS)
                return Shifted(tuple(ids), True)
        raise Refused(conflict("others keep changing it; try again"))
    except (Refused, Unavailable):
        if not ids:
            raise
        # Some transactions are done, and that has to be said.
        return Shifted(tuple(ids), False)


def _record(team_id: str, shift: Shift) -> Item:
    """The item that says what an operation was, and that it was begun."""
    return claim_item(team_id, f"SHIFT#{shift.operation}", shift.content)


async def _begin(store: Store, team_id: str, shift: Shift) -> None:
    """Records the operation, unless that was done."""
    try:
        await store.put(_record(team_id, shift), IS_NEW)
    except ConditionFailed as failed:
        if (failed.item or {}).get("target") != s(shift.content):
            raise Refused(_ANOTHER) from None


async def _left(store: Store, team_id: str, shift: Shift) -> list[tuple[Item, Assignment]]:
    """The assignments that this shift has not reached yet and can move, with their items."""
    first = ASSIGNMENT if shift.first is None else ASSIGNMENT + shift.first.isoformat()
    assignments = KeyQuery(
        "#pk = :pk AND #sk BETWEEN :first AND :end",
        {
            ":pk": s(team_pk(team_id)),
            ":first": s(first),
            ":end": s(after(ASSIGNMENT)),
            ":type": s(EntityType.ASSIGNMENT),
            ":project": s(shift.project_id),
            ":operation": s(shift.operation),
        },
        filter="#EntityType = :type AND #projectId = :project"
        " AND NOT contains(#shiftedBy, :operation)",
    )
    resources = KeyQuery(
        "#pk = :pk AND begins_with(#sk, :sk)", {":pk": s(team_pk(team_id)), ":sk": s(RESOURCE)}
    )
    pages = store.pages(resources, consistent=True)
    there = split([item async for page in pages for item in page]).resources
    ids = {each.id for each in there}
    return [
        (item, assignment)
        async for page in store.pages(assignments, consistent=True)
        for item in page
        if (assignment := decode_as(item, Assignment)) and assignment.resource_id in ids
    ]


def _moved(shift: Shift, old: Assignment, by: str | None) -> Assignment:
    start = shifted_day(old.start_date, shift.days)
    last = shifted_day(last_day(old.end_date_exclusive), shift.days)
    if start is None or last is None:
        raise Refused(invalid(f"the days must stay from {FIRST_DAY} to {LAST_DAY}", "days"))
    return changed(replace(old, start_date=start, end_date_exclusive=end_exclusive(last)), by=by)


async def _shift_chunk(
    store: Store,
    team_id: str,
    shift: Shift,
    chunk: Sequence[tuple[Item, Assignment, Assignment]],
) -> bool:
    """Whether the chunk was shifted; if not, somebody else wrote, and it has to be read again."""
    resources = sorted({old.resource_id for _, old, _ in chunk})
    actions: list[Action] = [live(table_key(team_id, project_sk(shift.project_id)))]
    actions += [live(table_key(team_id, resource_sk(id))) for id in resources]
    for item, old, new in chunk:
        earlier = item.get("shiftedBy", {}).get("L", [])
        remembered = [*earlier, s(shift.operation)][-_REMEMBERED:]
        encoded = encode(team_id, new)
        actions += move(item, encoded, version=old.version, shiftedBy={"L": remembered})
    try:
        await store.transact(actions, token=new_id())
    except TransactionCanceled as canceled:
        if canceled.reasons[0].condition_failed:
            raise Refused(not_found("there is no such project", "id")) from None
        return False
    return True
