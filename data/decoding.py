"""Reading items: a dispatch on the attribute `EntityType`, never on the key.

A registry maps the type to its decoder, and the sort key only verifies the outcome. See
docs/adr/0002-entity-type.md.
"""

import enum
import re
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import Final, TypeVar

from data.days import parse_day
from data.entities import (
    Assignment,
    CalendarFeed,
    Entity,
    EntityType,
    Link,
    Membership,
    Project,
    Resource,
    Role,
    Team,
)
from data.expressions import Item
from data.keys import (
    ASSIGNMENT,
    FEED,
    META,
    TEAM,
    feed_sk,
    feeds_pk,
    is_id,
    membership_sk,
    project_sk,
    resource_sk,
    team_pk,
    user_pk,
)
from data.rows import (
    NO_LINKS,
    NO_NUMBER,
    NO_TEXT,
    NO_TEXTS,
    LinkMap,
    Links,
    Number,
    Row,
    Text,
    Texts,
    row_of,
)
from data.team_id import is_user_id

__all__ = ["Skip", "SkipCode", "decode", "decode_as"]

Kind = TypeVar("Kind", Resource, Project, Assignment)

# GraphQL's Int has 32 bits; a larger number would fail the whole list it stands in.
_MAX_VERSION = 2**31 - 1
_ROLES: Final = frozenset(Role)
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class SkipCode(enum.StrEnum):
    """Why an item was left out of an answer; `extensions.warnings` names these."""

    MISSING_ENTITY_TYPE = "MISSING_ENTITY_TYPE"
    UNKNOWN_ENTITY_TYPE = "UNKNOWN_ENTITY_TYPE"
    MALFORMED_ITEM = "MALFORMED_ITEM"


class Skip(Exception):
    """This item can't be read. The message names attributes, never their values."""

    def __init__(self, code: SkipCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def decode(row: Row) -> Entity:
    """The entity of an item. Raises Skip when the type is missing or unknown, or the item is not
    what its type says."""
    if row.entity_type is NO_TEXT:
        raise Skip(SkipCode.MISSING_ENTITY_TYPE, "EntityType is missing")
    decoder = _DECODERS.get(row.entity_type.S or "")
    if decoder is None:
        raise Skip(SkipCode.UNKNOWN_ENTITY_TYPE, "EntityType is none that is known")
    try:
        entity, sk = decoder(row)
    except ValueError as error:
        raise Skip(SkipCode.MALFORMED_ITEM, f"malformed: {_reason(error)}") from error
    if sk != row.sk.S:
        raise Skip(SkipCode.MALFORMED_ITEM, "malformed: sk does not fit the attributes")
    return entity


def decode_as(item: Item | None, kind: type[Kind]) -> Kind | None:
    """The entity of an item if it is of this kind; None for every other item, and for none."""
    try:
        entity = decode(row_of(item)) if item else None
    except Skip:
        return None
    return entity if isinstance(entity, kind) else None


class _Malformed(ValueError):
    """The message names an attribute."""


def _reason(error: Exception) -> str:
    # Other messages may hold values.
    return str(error) if isinstance(error, _Malformed) else type(error).__name__


def _decode_team(row: Row) -> tuple[Team, str]:
    team = Team(
        # The partition decides whose item this is; an `id` attribute may be missing elsewhere.
        id=_required(row.pk, "pk").removeprefix(TEAM),
        name=_required(row.name, "name"),
        version=_version(row.version),
        created_at=_text(row.created_at, "createdAt"),
        updated_at=_text(row.updated_at, "updatedAt"),
    )
    return team, META


def _decode_membership(row: Row) -> tuple[Membership, str]:
    pk, user_id = _required(row.pk, "pk"), _required(row.user_id, "userId")
    team_id = pk.removeprefix(TEAM)
    if not is_user_id(user_id):
        raise _Malformed("userId is none")
    # The index must lead from this user to this team; a row without its keys is only not found.
    team, user = team_pk(team_id), user_pk(user_id)
    for name, value, key in (
        ("pk", row.pk, team),
        ("GSI1SK", row.gsi1sk, team),
        ("GSI1PK", row.gsi1pk, user),
    ):
        if value is not NO_TEXT and key != value.S:
            raise _Malformed(f"{name} does not fit")
    role = _required(row.role, "role")
    membership = Membership(
        team_id=team_id,
        user_id=user_id,
        role=Role(role) if role in _ROLES else Role.VIEWER,
        joined_at=_text(row.joined_at, "joinedAt"),
    )
    return membership, membership_sk(user_id)


def _decode_resource(row: Row) -> tuple[Resource, str]:
    id = _id(row.id, "id")
    resource = Resource(
        id=id,
        name=_required(row.name, "name"),
        version=_version(row.version),
        created_at=_text(row.created_at, "createdAt"),
        updated_at=_text(row.updated_at, "updatedAt"),
        deleting_at=_text(row.deleting_at, "deletingAt"),
    )
    return resource, resource_sk(id)


def _decode_project(row: Row) -> tuple[Project, str]:
    id = _id(row.id, "id")
    project = Project(
        id=id,
        name=_required(row.name, "name"),
        color=_required(row.color, "color"),
        description=_text(row.description, "description"),
        tags=_tags(row.tags),
        links=_links(row.links),
        version=_version(row.version),
        created_at=_text(row.created_at, "createdAt"),
        updated_at=_text(row.updated_at, "updatedAt"),
        deleting_at=_text(row.deleting_at, "deletingAt"),
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
        raise _Malformed(_missing(row))
    if not (is_id(id) and _is_owner_id(resource_id) and _is_owner_id(project_id)):
        raise _Malformed("an id is none")
    start, end = _day(start_text), _day(end_text)
    if start >= end:
        raise _Malformed("startDate is not before endDateExclusive")
    assignment = Assignment(
        id=id,
        resource_id=resource_id,
        project_id=project_id,
        start_date=start,
        end_date_exclusive=end,
        note=row.note.S or _text(row.note, "note"),
        version=_version(row.version),
        created_at=row.created_at.S or _text(row.created_at, "createdAt"),
        updated_at=row.updated_at.S or _text(row.updated_at, "updatedAt"),
    )
    return assignment, f"{ASSIGNMENT}{start_text}#{id}"


def _decode_feed(row: Row) -> tuple[CalendarFeed, str]:
    id, user_id = _id(row.id, "id"), _required(row.user_id, "userId")
    pk, index_key = _required(row.pk, "pk"), _required(row.gsi1pk, "index key")
    team_id = pk.removeprefix(TEAM).removesuffix("#FEEDS")
    if feeds_pk(team_id) != pk:
        raise _Malformed("pk does not fit")
    if not is_user_id(user_id):
        raise _Malformed("userId is none")
    token_hash = index_key.removeprefix(FEED)
    if index_key == token_hash or not _SHA256.fullmatch(token_hash):
        raise _Malformed("index key does not fit")
    resource_id = None if row.resource_id is NO_TEXT else _id(row.resource_id, "resourceId")
    project_id = None if row.project_id is NO_TEXT else _id(row.project_id, "projectId")
    if (resource_id is None) == (project_id is None):
        raise _Malformed("it needs one of 'resourceId' and 'projectId'")
    feed = CalendarFeed(
        id=id,
        team_id=team_id,
        user_id=user_id,
        token_hash=token_hash,
        resource_id=resource_id,
        project_id=project_id,
        created_at=_text(row.created_at, "createdAt"),
    )
    return feed, feed_sk(id)


def _missing(row: Row) -> str:
    required = {
        "id": row.id,
        "resourceId": row.resource_id,
        "projectId": row.project_id,
        "startDate": row.start_date,
        "endDateExclusive": row.end_date_exclusive,
    }
    return ", ".join(f"'{name}' is missing" for name, value in required.items() if value.S is None)


def _required(value: Text, name: str) -> str:
    if value.S is None:
        raise _Malformed(f"'{name}' is missing")
    return value.S


def _text(value: Text, name: str) -> str | None:
    """An optional attribute; what other writers store as NULL is unset too."""
    if value is NO_TEXT or value.NULL is not None:
        return None
    return _required(value, name)


def _id(value: Text, name: str) -> str:
    id = _required(value, name)
    if not is_id(id):
        raise _Malformed(f"'{name}' is none")
    return id


# Days and owners are the same few thousand, again and again.
@lru_cache(maxsize=10_000)
def _day(text: str) -> date:
    return parse_day(text)


@lru_cache(maxsize=10_000)
def _is_owner_id(text: str) -> bool:
    return is_id(text)


def _tags(value: Texts) -> tuple[str, ...]:
    if value is NO_TEXTS or value.NULL is not None:
        return ()
    if value.SS is not None:
        return tuple(value.SS)
    if value.L is None:
        raise _Malformed("tags are none")
    return tuple(_required(each, "a tag") for each in value.L)


def _links(value: Links) -> tuple[Link, ...]:
    if value is NO_LINKS or value.NULL is not None:
        return ()
    if value.L is None:
        raise _Malformed("links are none")
    return tuple(_link(each.M) for each in value.L)


def _link(value: LinkMap | None) -> Link:
    if value is None:
        raise _Malformed("a link is none")
    return Link(_required(value.label, "a label"), _required(value.url, "a url"))


def _version(value: Number) -> int:
    if value is NO_NUMBER or value.NULL is not None:
        return 0
    version = int(value.N or "")
    if not 0 <= version <= _MAX_VERSION:
        raise _Malformed("version is none")
    return version


_DECODERS: Final[dict[str, Callable[[Row], tuple[Entity, str]]]] = {
    EntityType.TEAM: _decode_team,
    EntityType.MEMBERSHIP: _decode_membership,
    EntityType.RESOURCE: _decode_resource,
    EntityType.PROJECT: _decode_project,
    EntityType.ASSIGNMENT: _decode_assignment,
    EntityType.CALENDAR_FEED: _decode_feed,
}
"""Each gives the entity and the sort key that it must have."""
