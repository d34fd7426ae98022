"""What an item must carry because of its key and its other attributes.

Rows written elsewhere may lack it: the type, which reads dispatch on, and the attributes that put
an item into an index. It is the one thing that can be put right without asking anybody, and the
only one that is. Pure.
"""

from collections.abc import Callable, Iterable
from typing import Final

from data.days import is_long, parse_day
from data.decoding import Skip, decode
from data.entities import EntityType
from data.expressions import Expression, Item, s
from data.items import expiry, key_in
from data.keys import (
    ASSIGNMENT,
    DELETION,
    MEMBER,
    META,
    PROJECT,
    RESOURCE,
    TEAM,
    TEAMS,
    is_id,
    team_in,
    team_pk,
    user_pk,
)
from data.rows import row_of
from data.team_id import is_user_id
from data.transactions import Update

__all__ = ["absent", "amiss", "kind_of"]

_PREFIXES: Final = {
    MEMBER: EntityType.MEMBERSHIP,
    RESOURCE: EntityType.RESOURCE,
    PROJECT: EntityType.PROJECT,
    ASSIGNMENT: EntityType.ASSIGNMENT,
    DELETION: EntityType.DELETION,
}

_CORRECTABLE: Final = ("GSI1PK", "GSI1SK", "longEnd", "teamId")
"""What nothing but the planner writes, so that a wrong value says nothing of anybody's. A wrong
`EntityType` or `id` may say that the key is wrong, and is left to people."""

_SOURCES: Final = ("endDateExclusive", "startDate", "userId")
"""Attributes that others are derived from; the rest comes from the key, which never changes."""


def kind_of(item: Item) -> EntityType | None:
    """What an item is: what it says, or, if it says nothing, what its key says. None where that is
    nothing that the planner knows. Only for items of a team's own partition."""
    if "EntityType" in item:
        said = item["EntityType"].get("S")
        return EntityType(said) if said in _DERIVATIONS else None
    pk, sk = item["pk"]["S"], item["sk"]["S"]
    team_id = team_in(pk)
    if team_id is None or pk != team_pk(team_id):
        return None
    if sk == META:
        return EntityType.TEAM
    return next((kind for prefix, kind in _PREFIXES.items() if sk.startswith(prefix)), None)


def absent(item: Item) -> Update | None:
    """Adds what the item lacks and must carry; None if it lacks nothing, or is not readable with
    it. What is there stays as it is."""
    wanted = _wanted(item)
    missing = {name: value for name, value in wanted.items() if value and name not in item}
    return _update(item, missing, ())


def amiss(item: Item) -> Update | None:
    """As `absent`, and also puts right what the planner alone writes and is wrong."""
    wanted = _wanted(item)
    wrong = {
        name: value
        for name, value in wanted.items()
        if value and item.get(name) != value and (name not in item or name in _CORRECTABLE)
    }
    return _update(
        item, wrong, [name for name, value in wanted.items() if not value and name in item]
    )


def _update(item: Item, changed: Item, removed: Iterable[str]) -> Update | None:
    remove = tuple(removed)
    if not changed and not remove:
        return None
    after: Item = {name: value for name, value in {**item, **changed}.items() if name not in remove}
    try:
        decode(row_of(after))
    except Skip:
        return None
    condition = Expression("attribute_exists(#sk)")
    for name in sorted({*changed, *remove, *(name for name in _SOURCES if name in item)}):
        if name in item:
            condition &= Expression(f"#{name} = :was_{name}", {f":was_{name}": item[name]})
        else:
            condition &= Expression(f"attribute_not_exists(#{name})")
    return Update(key_in(item), condition, changed, remove)


def _wanted(item: Item) -> Item:
    """What the item must carry; an empty value is for what it must not."""
    kind = kind_of(item)
    if kind is None:
        return {}
    return {"EntityType": s(kind), **_DERIVATIONS[kind](item)}


def _of_team(item: Item) -> Item:
    pk = item["pk"]
    return {"id": s(pk["S"].removeprefix(TEAM)), "GSI1PK": s(TEAMS), "GSI1SK": pk}


def _of_membership(item: Item) -> Item:
    pk, user_id = item["pk"]["S"], item["sk"]["S"].removeprefix(MEMBER)
    if not is_user_id(user_id):
        return {}
    return {
        "teamId": s(pk.removeprefix(TEAM)),
        "userId": s(user_id),
        "GSI1PK": s(user_pk(user_id)),
        "GSI1SK": s(pk),
    }


def _of_resource(item: Item) -> Item:
    return _id(item["sk"]["S"].removeprefix(RESOURCE))


def _of_project(item: Item) -> Item:
    return _id(item["sk"]["S"].removeprefix(PROJECT))


def _of_assignment(item: Item) -> Item:
    day, _, id = item["sk"]["S"].removeprefix(ASSIGNMENT).partition("#")
    start, end = item.get("startDate", s(day)), item.get("endDateExclusive", {})
    try:
        long = is_long(parse_day(start.get("S", "")), parse_day(end.get("S", "")))
    except ValueError:
        return {}
    return {**_id(id), "startDate": s(day), "longEnd": end if long else {}}


def _of_deletion(item: Item) -> Item:
    try:
        return {"expires": expiry(item.get("updatedAt", {}).get("S", ""))}
    except ValueError:
        return {}


def _id(id: str) -> Item:
    return {"id": s(id)} if is_id(id) else {}


_DERIVATIONS: Final[dict[str, Callable[[Item], Item]]] = {
    EntityType.TEAM: _of_team,
    EntityType.MEMBERSHIP: _of_membership,
    EntityType.RESOURCE: _of_resource,
    EntityType.PROJECT: _of_project,
    EntityType.ASSIGNMENT: _of_assignment,
    EntityType.DELETION: _of_deletion,
}
