"""Writing assignments: an input is checked, and the data layer does the rest.

`Maybe` tells an absent field of an update (None: it stays) from one that is given (`Some`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import strawberry
from msgspec.structs import replace

from data.assignments import MAX_PATCHES, Patch
from data.clock import new_id
from data.days import end_exclusive, last_day
from data.entities import Assignment, EntityType
from data.errors import Problem, Refused, invalid, too_many
from data.rules import Check
from resolvers.context import RequestContext
from resolvers.references import existing_id, owner_id

__all__ = [
    "AssignmentPatch",
    "create_assignment",
    "delete_assignment",
    "update_assignment",
    "update_assignments",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentPatch:
    """What an update says of one assignment; None where it says nothing."""

    id: str
    resource_id: strawberry.Maybe[strawberry.ID | None]
    project_id: strawberry.Maybe[strawberry.ID | None]
    start_date: strawberry.Maybe[date | None]
    end_date: strawberry.Maybe[date | None]
    note: strawberry.Maybe[str | None]
    expected_version: int | None


async def create_assignment(
    context: RequestContext,
    *,
    id: str | None,
    resource_id: str,
    project_id: str,
    start_date: date,
    end_date: date,
    note: str | None,
) -> Assignment:
    """Access pattern #7. Both days are inclusive. Raises Refused."""
    context.require_writer()
    check = Check()
    check.day(start_date, "startDate")
    check.day(end_date, "endDate")
    check.order(start_date, end_date, "endDate")
    chosen = check.client_id(id, "id")
    resource = owner_id(check, EntityType.RESOURCE, resource_id, "resourceId")
    project = owner_id(check, EntityType.PROJECT, project_id, "projectId")
    text = check.note(note, "note")
    check.refuse_problems()
    assignment = Assignment(
        id=chosen or new_id(),
        resource_id=resource,
        project_id=project,
        start_date=start_date,
        end_date_exclusive=end_exclusive(end_date),
        note=text,
    )
    return await context.assignments.create(assignment, id_is_chosen=chosen is not None)


async def update_assignment(context: RequestContext, patch: AssignmentPatch) -> Assignment:
    """Changes what is given; null clears the note. A new first day moves the assignment without
    changing its id. The days are checked against those that are stored. Raises Refused."""
    context.require_writer()
    [updated] = await context.assignments.update(_patch(patch))
    return updated


async def update_assignments(
    context: RequestContext, patches: Sequence[AssignmentPatch]
) -> list[Assignment]:
    """Several updates at once, all or none. Raises Refused with the problems of every patch."""
    context.require_writer()
    if len(patches) > MAX_PATCHES:
        raise Refused(too_many(f"at most {MAX_PATCHES} patches at once", "patches"))
    problems: list[Problem] = []
    checked: list[Patch] = []
    for index, patch in enumerate(patches):
        path = ("patches", str(index))
        try:
            checked.append(_patch(patch, *path))
        except Refused as refused:
            problems += (problem.below(*path) for problem in refused.problems)
        if patch.id in {earlier.id for earlier in patches[:index]}:
            problems.append(invalid("an assignment may be patched once", *path, "id"))
    if problems:
        raise Refused(*problems)
    return await context.assignments.update(*checked)


async def delete_assignment(context: RequestContext, *, id: str) -> None:
    """Access pattern #8: idempotent, so an assignment that is not there is no error; an id that
    is no assignment's is. Raises Refused."""
    context.require_writer()
    await context.assignments.delete(existing_id(EntityType.ASSIGNMENT, id))


def _patch(patch: AssignmentPatch, *path: str) -> Patch:
    """The patch as the data layer knows it. Raises Refused, its fields relative to the patch."""
    raw = existing_id(EntityType.ASSIGNMENT, patch.id)
    check = Check()
    changes: dict[str, Any] = {}
    if patch.resource_id:
        changes["resource_id"] = owner_id(
            check, EntityType.RESOURCE, patch.resource_id.value, "resourceId"
        )
    if patch.project_id:
        changes["project_id"] = owner_id(
            check, EntityType.PROJECT, patch.project_id.value, "projectId"
        )
    if patch.note:
        changes["note"] = check.note(patch.note.value, "note")
    for field, day in (("startDate", patch.start_date), ("endDate", patch.end_date)):
        if day and day.value is None:
            check.add(invalid(f"{field} can't be null", field))
        elif day and day.value:
            check.day(day.value, field)
    check.refuse_problems()
    new_start = patch.start_date.value if patch.start_date else None
    new_last = patch.end_date.value if patch.end_date else None

    def change(old: Assignment) -> Assignment:
        start = new_start or old.start_date
        last = new_last or last_day(old.end_date_exclusive)
        if new_start or new_last:
            order = Check()
            order.order(start, last, "endDate" if new_last else "startDate")
            order.refuse_problems()
        return replace(old, start_date=start, end_date_exclusive=end_exclusive(last), **changes)

    return Patch(raw, change, patch.expected_version, path)
