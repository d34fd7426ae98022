"""Reading items: a dispatch on the attribute `EntityType`, never on the key.

A registry maps the type to its decoder, and the sort key only verifies the outcome. See
docs/adr/0002-entity-type.md.
"""

import enum
from collections.abc import Callable
from datetime import date
from typing import TypeVar

from data.days import parse_day
from data.entities import (
    Assignment,
    Entity,
    EntityType,
    Link,
    Membership,
    Project,
    Resource,
    Role,
    Team,
)
from data.expressions import AttributeValue, Item, s
from data.items import sort_key
from data.keys import TEAM, is_id, team_pk, user_pk
from data.team_id import is_user_id

__all__ = ["Skip", "SkipCode", "decode", "decode_as"]

Kind = TypeVar("Kind", Resource, Project, Assignment)

# GraphQL's Int has 32 bits; a larger number would fail the whole list it stands in.
_MAX_VERSION = 2**31 - 1


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


def decode(item: Item) -> Entity:
    """The entity of an item. Raises Skip when the type is missing or unknown, or the item is not
    what its type says."""
    type_value = item.get("EntityType")
    if type_value is None:
        raise Skip(SkipCode.MISSING_ENTITY_TYPE, "EntityType is missing")
    decoder = _DECODERS.get(type_value.get("S", ""))
    if decoder is None:
        raise Skip(SkipCode.UNKNOWN_ENTITY_TYPE, "EntityType is none that is known")
    try:
        entity = decoder(item)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise Skip(SkipCode.MALFORMED_ITEM, f"malformed: {_reason(error)}") from error
    if item["sk"].get("S") != sort_key(entity):
        raise Skip(SkipCode.MALFORMED_ITEM, "malformed: sk does not fit the attributes")
    return entity


def decode_as(item: Item | None, kind: type[Kind]) -> Kind | None:
    """The entity of an item if it is of this kind; None for every other item, and for none."""
    try:
        entity = decode(item) if item else None
    except Skip:
        return None
    return entity if isinstance(entity, kind) else None


def _reason(error: Exception) -> str:
    # A KeyError names the attribute or its wire type; other messages may hold values.
    return f"{error} is missing" if isinstance(error, KeyError) else type(error).__name__


def _decode_team(item: Item) -> Team:
    return Team(
        # The partition decides whose item this is; an `id` attribute may be missing elsewhere.
        id=item["pk"]["S"].removeprefix(TEAM),
        name=item["name"]["S"],
        version=_version(item),
        created_at=_text(item, "createdAt"),
        updated_at=_text(item, "updatedAt"),
    )


def _decode_membership(item: Item) -> Membership:
    team_id, user_id = item["pk"]["S"].removeprefix(TEAM), item["userId"]["S"]
    if not is_user_id(user_id):
        raise ValueError("userId")
    # The index must lead from this user to this team; a row without its keys is only not found.
    team = s(team_pk(team_id))
    for name, key in (("pk", team), ("GSI1SK", team), ("GSI1PK", s(user_pk(user_id)))):
        if item.get(name, key) != key:
            raise ValueError(name)
    role = item["role"]["S"]
    return Membership(
        team_id=team_id,
        user_id=user_id,
        role=Role(role) if role in set(Role) else Role.VIEWER,
        joined_at=_text(item, "joinedAt"),
    )


def _decode_resource(item: Item) -> Resource:
    return Resource(
        id=_id(item, "id"),
        name=item["name"]["S"],
        version=_version(item),
        created_at=_text(item, "createdAt"),
        updated_at=_text(item, "updatedAt"),
        deleting_at=_text(item, "deletingAt"),
    )


def _decode_project(item: Item) -> Project:
    tags, links = _value(item, "tags"), _value(item, "links")
    return Project(
        id=_id(item, "id"),
        name=item["name"]["S"],
        color=item["color"]["S"],
        description=_text(item, "description"),
        tags=_texts(tags) if tags else (),
        links=tuple(Link(each["M"]["label"]["S"], each["M"]["url"]["S"]) for each in links["L"])
        if links
        else (),
        version=_version(item),
        created_at=_text(item, "createdAt"),
        updated_at=_text(item, "updatedAt"),
        deleting_at=_text(item, "deletingAt"),
    )


def _decode_assignment(item: Item) -> Assignment:
    start, end = _day(item, "startDate"), _day(item, "endDateExclusive")
    if start >= end:
        raise ValueError("startDate is not before endDateExclusive")
    return Assignment(
        id=_id(item, "id"),
        resource_id=_id(item, "resourceId"),
        project_id=_id(item, "projectId"),
        start_date=start,
        end_date_exclusive=end,
        note=_text(item, "note"),
        version=_version(item),
        created_at=_text(item, "createdAt"),
        updated_at=_text(item, "updatedAt"),
    )


def _id(item: Item, name: str) -> str:
    id = item[name]["S"]
    if not is_id(id):
        raise ValueError(name)
    return id


def _day(item: Item, name: str) -> date:
    return parse_day(item[name]["S"])


def _value(item: Item, name: str) -> AttributeValue | None:
    """An optional attribute; what other writers store as NULL is unset too."""
    value = item.get(name)
    return None if value is None or "NULL" in value else value


def _text(item: Item, name: str) -> str | None:
    value = _value(item, name)
    return None if value is None else value["S"]


def _texts(value: AttributeValue) -> tuple[str, ...]:
    return tuple(value["SS"] if "SS" in value else (each["S"] for each in value["L"]))


def _version(item: Item) -> int:
    value = _value(item, "version")
    if value is None:
        return 0
    version = int(value["N"])
    if not 0 <= version <= _MAX_VERSION:
        raise ValueError("version")
    return version


_DECODERS: dict[str, Callable[[Item], Entity]] = {
    EntityType.TEAM: _decode_team,
    EntityType.MEMBERSHIP: _decode_membership,
    EntityType.RESOURCE: _decode_resource,
    EntityType.PROJECT: _decode_project,
    EntityType.ASSIGNMENT: _decode_assignment,
}
