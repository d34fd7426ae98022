"""The decoders of all types: from a row to an entity, and the sort key that it must have."""

import re
from collections.abc import Callable
from typing import Final

from data.attributes import (
    Malformed,
    day_of,
    is_owner_id,
    links_of,
    optional_text,
    required_id,
    required_text,
    tags_of,
    version_of,
)
from data.clock import epoch_of
from data.entities import (
    Assignment,
    CalendarFeed,
    Deletion,
    Entity,
    EntityType,
    Membership,
    Project,
    Resource,
    Role,
    Team,
)
from data.keys import (
    ASSIGNMENT,
    DELETION,
    FEED,
    META,
    TEAM,
    deletion_sk,
    feed_sk,
    feeds_pk,
    is_id,
    membership_sk,
    project_sk,
    resource_sk,
    team_pk,
    user_pk,
)
from data.rows import NO_TEXT, Row
from data.team_id import is_user_id

__all__ = ["DECODERS"]

_ROLES: Final = frozenset(Role)
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_DELETABLE: Final = frozenset(
    {EntityType.MEMBERSHIP, EntityType.RESOURCE, EntityType.PROJECT, EntityType.ASSIGNMENT}
)


def _decode_team(row: Row) -> tuple[Team, str]:
    team = Team(
        # The partition decides whose item this is; an `id` attribute may be missing elsewhere.
        id=required_text(row.pk, "pk").removeprefix(TEAM),
        name=required_text(row.name, "name"),
        version=version_of(row.version),
        created_at=optional_text(row.created_at, "createdAt"),
        updated_at=optional_text(row.updated_at, "updatedAt"),
        updated_by=optional_text(row.updated_by, "updatedBy"),
    )
    return team, META


def _decode_membership(row: Row) -> tuple[Membership, str]:
    pk, user_id = required_text(row.pk, "pk"), required_text(row.user_id, "userId")
    team_id = pk.removeprefix(TEAM)
    if not is_user_id(user_id):
        raise Malformed("userId is none")
    # The index must lead from this user to this team; a row without its keys is only not found.
    team, user = team_pk(team_id), user_pk(user_id)
    for name, value, key in (
        ("pk", row.pk, team),
        ("GSI1SK", row.gsi1sk, team),
        ("GSI1PK", row.gsi1pk, user),
    ):
        if value is not NO_TEXT and key != value.S:
            raise Malformed(f"{name} does not fit")
    role = required_text(row.role, "role")
    membership = Membership(
        team_id=team_id,
        user_id=user_id,
        role=Role(role) if role in _ROLES else Role.VIEWER,
        joined_at=optional_text(row.joined_at, "joinedAt"),
        updated_at=optional_text(row.updated_at, "updatedAt"),
        updated_by=optional_text(row.updated_by, "updatedBy"),
    )
    return membership, membership_sk(user_id)


def _decode_resource(row: Row) -> tuple[Resource, str]:
    id = required_id(row.id, "id")
    resource = Resource(
        id=id,
        name=required_text(row.name, "name"),
        version=version_of(row.version),
        created_at=optional_text(row.created_at, "createdAt"),
        updated_at=optional_text(row.updated_at, "updatedAt"),
        updated_by=optional_text(row.updated_by, "updatedBy"),
        deleting_at=optional_text(row.deleting_at, "deletingAt"),
    )
    return resource, resource_sk(id)


def _decode_project(row: Row) -> tuple[Project, str]:
    id = required_id(row.id, "id")
    project = Project(
        id=id,
        name=required_text(row.name, "name"),
        color=required_text(row.color, "color"),
        description=optional_text(row.description, "description"),
        tags=tags_of(row.tags),
        links=links_of(row.links),
        version=version_of(row.version),
        created_at=optional_text(row.created_at, "createdAt"),
        updated_at=optional_text(row.updated_at, "updatedAt"),
        updated_by=optional_text(row.updated_by, "updatedBy"),
        deleting_at=optional_text(row.deleting_at, "deletingAt"),
    )
    return project, project_sk(id)


def _decode_assignment(row: Row) -> tuple[Assignment, str]:
    # Nearly all that is ever read is this, so it is written for speed: what is missing is named
    # only when something is.
    id, resource_id, project_id = row.id.S, row.resource_id.S, row.project_id.S
    start_text, end_text = row.start_date.S, row.end_date_exclusive.S
    if (
        id is None
        or resource_id is None
        or project_id is None
        or start_text is None
        or end_text is None
    ):
        raise Malformed(_missing(row))
    if not (is_id(id) and is_owner_id(resource_id) and is_owner_id(project_id)):
        raise Malformed("an id is none")
    start, end = day_of(start_text), day_of(end_text)
    if start >= end:
        raise Malformed("startDate is not before endDateExclusive")
    assignment = Assignment(
        id=id,
        resource_id=resource_id,
        project_id=project_id,
        start_date=start,
        end_date_exclusive=end,
        note=row.note.S or optional_text(row.note, "note"),
        version=version_of(row.version),
        created_at=row.created_at.S or optional_text(row.created_at, "createdAt"),
        updated_at=row.updated_at.S or optional_text(row.updated_at, "updatedAt"),
        updated_by=row.updated_by.S or optional_text(row.updated_by, "updatedBy"),
    )
    return assignment, f"{ASSIGNMENT}{start_text}#{id}"


def _decode_feed(row: Row) -> tuple[CalendarFeed, str]:
    id, user_id = required_id(row.id, "id"), required_text(row.user_id, "userId")
    pk, index_key = required_text(row.pk, "pk"), required_text(row.gsi1pk, "index key")
    team_id = pk.removeprefix(TEAM).removesuffix("#FEEDS")
    if feeds_pk(team_id) != pk:
        raise Malformed("pk does not fit")
    if not is_user_id(user_id):
        raise Malformed("userId is none")
    token_hash = index_key.removeprefix(FEED)
    if index_key == token_hash or not _SHA256.fullmatch(token_hash):
        raise Malformed("index key does not fit")
    resource_id = None if row.resource_id is NO_TEXT else required_id(row.resource_id, "resourceId")
    project_id = None if row.project_id is NO_TEXT else required_id(row.project_id, "projectId")
    if (resource_id is None) == (project_id is None):
        raise Malformed("it needs one of 'resourceId' and 'projectId'")
    feed = CalendarFeed(
        id=id,
        team_id=team_id,
        user_id=user_id,
        token_hash=token_hash,
        resource_id=resource_id,
        project_id=project_id,
        created_at=optional_text(row.created_at, "createdAt"),
    )
    return feed, feed_sk(id)


def _decode_deletion(row: Row) -> tuple[Deletion, str]:
    sk = required_text(row.sk, "sk")
    kind = required_text(row.deleted_type, "deletedType")
    if kind not in _DELETABLE:
        raise Malformed("deletedType is none")
    entity_id = required_text(row.deleted_id, "deletedId")
    if not (is_user_id if kind == EntityType.MEMBERSHIP else is_id)(entity_id):
        raise Malformed("'deletedId' is none")
    updated_at = required_text(row.updated_at, "updatedAt")
    epoch_of(updated_at)  # When it expires follows from it.
    id = sk.removeprefix(DELETION)
    if not is_id(id):
        raise Malformed("sk is none")
    deletion = Deletion(
        id=id,
        entity_type=EntityType(kind),
        entity_id=entity_id,
        version=version_of(row.version),
        updated_at=updated_at,
        updated_by=optional_text(row.updated_by, "updatedBy"),
    )
    return deletion, deletion_sk(id)


def _missing(row: Row) -> str:
    required = {
        "id": row.id,
        "resourceId": row.resource_id,
        "projectId": row.project_id,
        "startDate": row.start_date,
        "endDateExclusive": row.end_date_exclusive,
    }
    return ", ".join(f"'{name}' is missing" for name, value in required.items() if value.S is None)


DECODERS: Final[dict[str, Callable[[Row], tuple[Entity, str]]]] = {
    EntityType.TEAM: _decode_team,
    EntityType.MEMBERSHIP: _decode_membership,
    EntityType.RESOURCE: _decode_resource,
    EntityType.PROJECT: _decode_project,
    EntityType.ASSIGNMENT: _decode_assignment,
    EntityType.CALENDAR_FEED: _decode_feed,
    EntityType.DELETION: _decode_deletion,
}
"""Each gives the entity and the sort key that it must have."""
