"""Shifting a project: its assignments from a day on, all by the same number of days.

They may be too many for one transaction, so each that was shifted remembers by which operation:
the same operation again goes on where it ended, and shifts nothing twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from data.clock import new_id, now
from data.contention import attempts
from data.days import FIRST_DAY, LAST_DAY
from data.entities import Assignment, EntityType
from data.errors import Refused, Unavailable, conflict, invalid, not_found
from data.expressions import Item, KeyQuery, s
from data.guards import live, move
from data.items import encode, table_key
from data.keys import ASSIGNMENT, after, project_sk, resource_sk, team_pk
from data.lookup import readable
from data.store import Store, TransactionCanceled
from data.transactions import MAX_ACTIONS, Action, Delete, Put

__all__ = ["Shift", "Shifted", "shift_project"]

_PER_TRANSACTION: Final = (MAX_ACTIONS - 1) // 3
"""Each needs a Delete, a Put and the guard of its resource; one guard is the project's."""


@dataclass(frozen=True, slots=True)
class Shift:
    """Which assignments of a project, by how many days; `operation` names this one shift."""

    project_id: str
    days: int
    first: date | None
    operation: str


@dataclass(frozen=True, slots=True)
class Shifted:
    """The ids of what one call shifted, and whether that was all: if not, the same shift again
    does the rest."""

    ids: tuple[str, ...]
    is_done: bool


async def shift_project(store: Store, team_id: str, shift: Shift) -> Shifted:
    """Shifts the project's assignments that start on or after `shift.first` (all, when None). One
    whose resource is gone stays. Raises Refused when nothing was shifted: NOT_FOUND, INVALID when
    an assignment would leave the calendar, CONFLICT when others keep writing; or Unavailable."""
    ids: list[str] = []
    try:
        async for _ in attempts():
            if await _shift_once(store, team_id, shift, ids):
                return Shifted(tuple(ids), True)
        raise Refused(conflict("others keep changing it; try again"))
    except (Refused, Unavailable):
        if not ids:
            raise
        # Some transactions are done, and that has to be said.
        return Shifted(tuple(ids), False)


async def _shift_once(store: Store, team_id: str, shift: Shift, ids: list[str]) -> bool:
    """Shifts what is left, adding to `ids`. Whether nothing is left then; if not, somebody else
    wrote meanwhile, and what is left has to be read again."""
    left = await _left(store, team_id, shift)
    _check_days(shift, (assignment for _, assignment in left))
    gone: set[str] = set()
    whole = True
    for start in range(0, len(left), _PER_TRANSACTION):
        chunk = left[start : start + _PER_TRANSACTION]
        while chunk := [pair for pair in chunk if pair[1].resource_id not in gone]:
            known = len(gone)
            if await _shift_chunk(store, team_id, shift, chunk, gone):
                ids += (assignment.id for _, assignment in chunk)
                break
            if len(gone) == known:
                whole = False
                break
    return whole


async def _left(store: Store, team_id: str, shift: Shift) -> list[tuple[Item, Assignment]]:
    """The assignments that this shift has not reached yet, with their items."""
    first = ASSIGNMENT if shift.first is None else ASSIGNMENT + shift.first.isoformat()
    query = KeyQuery(
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
        " AND (attribute_not_exists(#shiftedBy) OR #shiftedBy <> :operation)",
    )
    pages = store.pages(query, consistent=True)
    return [
        (item, assignment)
        async for page in pages
        for item in page
        if (assignment := readable(item))
    ]


def _check_days(shift: Shift, assignments: Iterable[Assignment]) -> None:
    for each in assignments:
        start, last = each.start_date.toordinal(), each.end_date_exclusive.toordinal() - 1
        if start + shift.days < FIRST_DAY.toordinal() or last + shift.days > LAST_DAY.toordinal():
            message = f"the days must stay from {FIRST_DAY} to {LAST_DAY}"
            raise Refused(invalid(message, "days"))


async def _shift_chunk(
    store: Store,
    team_id: str,
    shift: Shift,
    chunk: Sequence[tuple[Item, Assignment]],
    gone: set[str],
) -> bool:
    """Whether the chunk was shifted. If not, resources that are gone are added to `gone`; if there
    are none, somebody else wrote."""
    resources = sorted({assignment.resource_id for _, assignment in chunk})
    project = live(table_key(team_id, project_sk(shift.project_id)))
    guards = [live(table_key(team_id, resource_sk(id))) for id in resources]
    writes: list[Action] = []
    for item, old in chunk:
        writes += _move(team_id, shift, item, old)
    try:
        await store.transact([project, *guards, *writes], token=new_id())
    except TransactionCanceled as canceled:
        project_reason, *others = canceled.reasons
        if project_reason.condition_failed:
            raise Refused(not_found("there is no such project", "id")) from None
        gone |= {
            id for id, reason in zip(resources, others, strict=False) if reason.condition_failed
        }
        return False
    return True


def _move(team_id: str, shift: Shift, item: Item, old: Assignment) -> tuple[Delete, Put]:
    by = timedelta(days=shift.days)
    new = replace(
        old,
        start_date=old.start_date + by,
        end_date_exclusive=old.end_date_exclusive + by,
        version=old.version + 1,
        updated_at=now(),
    )
    return move(item, encode(team_id, new), version=old.version, shiftedBy=s(shift.operation))
