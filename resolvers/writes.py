"""Writes: an input is checked, its global ids are looked into, and the data layer does the rest.

`Maybe` tells an absent field of an update (None: it stays) from one that is given (`Some`).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import strawberry

from data.cascade import delete_owner
from data.clock import new_id
from data.days import end_exclusive, last_day
from data.entities import Assignment, EntityType, Link, Project, Resource
from data.errors import Refused, invalid, not_found
from data.rules import Check
from resolvers.context import RequestContext
from resolvers.global_ids import raw_id, to_global_id

__all__ = [
    "create_assignment",
    "create_project",
    "create_resource",
    "delete_assignment",
    "delete_project",
    "delete_resource",
    "update_assignment",
    "update_project",
    "update_resource",
]


async def create_resource(context: RequestContext, *, id: str | None, name: str) -> Resource:
    """Access pattern #5. Raises Refused."""
    context.require_writer()
    check = Check()
    resource = Resource(
        id=check.client_id(id, "id") or new_id(),
        name=check.name(name, "name"),
    )
    check.refuse_problems()
    return await context.resources.create(resource)


async def create_project(
    context: RequestContext,
    *,
    id: str | None,
    name: str,
    color: str,
    description: str | None,
    tags: Sequence[str] | None,
    links: Sequence[Link] | None,
) -> Project:
    """Access pattern #6. Raises Refused."""
    context.require_writer()
    check = Check()
    project = Project(
        id=check.client_id(id, "id") or new_id(),
        name=check.name(name, "name"),
        color=check.color(color, "color"),
        description=check.description(description, "description"),
        tags=check.tags(tags, "tags"),
        links=check.links(links, "links"),
    )
    check.refuse_problems()
    return await context.projects.create(project)


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
    resource = _owner(check, EntityType.RESOURCE, resource_id, "resourceId")
    project = _owner(check, EntityType.PROJECT, project_id, "projectId")
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


async def update_resource(
    context: RequestContext,
    *,
    id: str,
    name: strawberry.Maybe[str | None],
    expected_version: int | None,
) -> Resource:
    """Changes what is given. Raises Refused."""
    context.require_writer()
    raw = _existing(EntityType.RESOURCE, id)
    check = Check()
    changes: dict[str, Any] = {}
    if name:
        changes["name"] = check.name(name.value, "name")
    check.refuse_problems()
    return await context.resources.update(
        raw, lambda old: replace(old, **changes), expected_version=expected_version
    )


async def update_project(
    context: RequestContext,
    *,
    id: str,
    name: strawberry.Maybe[str | None],
    color: strawberry.Maybe[str | None],
    description: strawberry.Maybe[str | None],
    tags: strawberry.Maybe[list[str] | None],
    links: strawberry.Maybe[list[Link] | None],
    expected_version: int | None,
) -> Project:
    """Changes what is given; null clears description, tags and links. Raises Refused."""
    context.require_writer()
    raw = _existing(EntityType.PROJECT, id)
    check = Check()
    changes: dict[str, Any] = {}
    if name:
        changes["name"] = check.name(name.value, "name")
    if color:
        changes["color"] = check.color(color.value, "color")
    if description:
        changes["description"] = check.description(description.value, "description")
    if tags:
        changes["tags"] = check.tags(tags.value, "tags")
    if links:
        changes["links"] = check.links(links.value, "links")
    check.refuse_problems()
    return await context.projects.update(
        raw, lambda old: replace(old, **changes), expected_version=expected_version
    )


async def update_assignment(
    context: RequestContext,
    *,
    id: str,
    resource_id: strawberry.Maybe[strawberry.ID | None],
    project_id: strawberry.Maybe[strawberry.ID | None],
    start_date: strawberry.Maybe[date | None],
    end_date: strawberry.Maybe[date | None],
    note: strawberry.Maybe[str | None],
    expected_version: int | None,
) -> Assignment:
    """Changes what is given; null clears the note. A new first day moves the assignment without
    changing its id. The days are checked against those that are stored. Raises Refused."""
    context.require_writer()
    raw = _existing(EntityType.ASSIGNMENT, id)
    check = Check()
    changes: dict[str, Any] = {}
    if resource_id:
        changes["resource_id"] = _owner(check, EntityType.RESOURCE, resource_id.value, "resourceId")
    if project_id:
        changes["project_id"] = _owner(check, EntityType.PROJECT, project_id.value, "projectId")
    if note:
        changes["note"] = check.note(note.value, "note")
    for field, day in (("startDate", start_date), ("endDate", end_date)):
        if day and day.value is None:
            check.add(invalid(f"{field} can't be null", field))
        elif day and day.value:
            check.day(day.value, field)
    check.refuse_problems()

    def change(old: Assignment) -> Assignment:
        start = (start_date and start_date.value) or old.start_date
        last = (end_date and end_date.value) or last_day(old.end_date_exclusive)
        if start_date or end_date:
            order = Check()
            order.order(start, last, "endDate" if end_date else "startDate")
            order.refuse_problems()
        return replace(old, start_date=start, end_date_exclusive=end_exclusive(last), **changes)

    return await context.assignments.update(raw, change, expected_version=expected_version)


async def delete_assignment(context: RequestContext, *, id: str) -> None:
    """Access pattern #8: idempotent, so an id that is not there is no error."""
    context.require_writer()
    if raw := raw_id(EntityType.ASSIGNMENT, id):
        await context.assignments.delete(raw)


async def delete_resource(context: RequestContext, *, id: str) -> list[str]:
    """Access pattern #9: the resource and its assignments, whose global ids are returned."""
    return await _delete_owner(context, Resource, EntityType.RESOURCE, id)


async def delete_project(context: RequestContext, *, id: str) -> list[str]:
    """Access pattern #9 for a project: the global ids of its assignments are returned."""
    return await _delete_owner(context, Project, EntityType.PROJECT, id)


async def _delete_owner(
    context: RequestContext, owner: type[Resource | Project], type: EntityType, id: str
) -> list[str]:
    context.require_writer()
    raw = _existing(type, id)
    deleted = await delete_owner(context.store, context.team_id, owner, raw)
    return [to_global_id(EntityType.ASSIGNMENT, each) for each in deleted]


def _existing(type: EntityType, global_id: str) -> str:
    """The raw id of the object that a write is about. An id of another type, of another team or
    of nothing at all is all the same: NOT_FOUND."""
    raw = raw_id(type, global_id)
    if raw is None:
        raise Refused(not_found(f"there is no such {type.lower()}", "id"))
    return raw


def _owner(check: Check, type: EntityType, global_id: str | None, field: str) -> str:
    if global_id is None:
        check.add(invalid(f"{field} can't be null", field))
        return ""
    raw = raw_id(type, global_id)
    if raw is None:
        check.add(not_found(f"there is no such {type.lower()}", field))
    return raw or ""
