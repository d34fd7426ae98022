"""Writing resources and projects: an input is checked, and the data layer does the rest.

`Maybe` tells an absent field of an update (None: it stays) from one that is given (`Some`).
"""

from collections.abc import Sequence
from datetime import date
from typing import Any

import strawberry
from msgspec.structs import replace

from data import shifts
from data.cascade import delete_owner
from data.clock import new_id
from data.entities import EntityType, Link, Project, Resource
from data.rules import Check
from resolvers.context import RequestContext
from resolvers.global_ids import to_global_id
from resolvers.references import existing_id

__all__ = [
    "create_project",
    "create_resource",
    "delete_project",
    "delete_resource",
    "shift_project",
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


async def update_resource(
    context: RequestContext,
    *,
    id: str,
    name: strawberry.Maybe[str | None],
    expected_version: int | None,
) -> Resource:
    """Changes what is given. Raises Refused."""
    context.require_writer()
    raw = existing_id(EntityType.RESOURCE, id)
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
    raw = existing_id(EntityType.PROJECT, id)
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


async def delete_resource(context: RequestContext, *, id: str) -> list[str]:
    """Access pattern #9: the resource and its assignments, whose global ids are returned."""
    return await _delete_owner(context, Resource, EntityType.RESOURCE, id)


async def delete_project(context: RequestContext, *, id: str) -> list[str]:
    """Access pattern #9 for a project: the global ids of its assignments are returned."""
    return await _delete_owner(context, Project, EntityType.PROJECT, id)


async def shift_project(
    context: RequestContext,
    *,
    id: str,
    days: int,
    first: date | None,
    operation_id: str | None,
) -> tuple[Project, str, shifts.Shifted]:
    """Shifts a project's assignments; returns the project, the operation's id and what this call
    shifted. With the same operation id again, it does what is left. Raises Refused."""
    context.require_writer()
    raw = existing_id(EntityType.PROJECT, id)
    check = Check()
    operation = check.client_id(operation_id, "operationId") or new_id()
    check.refuse_problems()
    project = await context.projects.get(raw)
    shift = shifts.Shift(project_id=raw, days=days, first=first, operation=operation)
    return (
        project,
        operation,
        await shifts.shift_project(
            context.store, context.team_id, shift, by=context.session.user_id
        ),
    )


async def _delete_owner(
    context: RequestContext, owner: type[Resource | Project], type: EntityType, id: str
) -> list[str]:
    context.require_writer()
    raw = existing_id(type, id)
    deleted = await delete_owner(
        context.store, context.team_id, owner, raw, by=context.session.user_id
    )
    return [to_global_id(EntityType.ASSIGNMENT, each) for each in deleted]
