"""The conditions that guard writes, and the changes they guard."""

from typing import Final

from data.clock import epoch_seconds
from data.entities import Assignment, EntityType
from data.errors import Refused, conflict
from data.expressions import AttributeValue, Expression, Item, Key, n, s
from data.items import key_in, owned, sort_key
from data.keys import ASSIGNMENT, claims_pk
from data.transactions import Check, Delete, Put, Update

__all__ = [
    "EXISTS",
    "IS_NEW",
    "LIVE_OWNER",
    "check_version",
    "claim",
    "claim_item",
    "difference",
    "is_at",
    "live",
    "move",
    "unchanged",
    "update",
]

# Long after any client has given up on a lost answer; TTL removes the item then.
_CLAIM_SECONDS: Final = 30 * 24 * 3600

IS_NEW: Final = Expression("attribute_not_exists(#sk)")
EXISTS: Final = Expression("attribute_exists(#sk)")

LIVE_OWNER: Final = Expression("attribute_exists(#sk) AND attribute_not_exists(#deletingAt)")
"""It exists, and no deletion of it has begun: the guard that keeps a cascade whole (A3)."""


def live(key: Key) -> Check:
    """Fails the transaction unless the owner with this key may be given an assignment."""
    return Check(key, LIVE_OWNER)


def is_at(version: int) -> Expression:
    """It exists, and nobody has changed it since it was read."""
    if version == 0:
        return EXISTS & Expression("attribute_not_exists(#version) OR #version = :zero", _ZERO)
    return EXISTS & Expression("#version = :version", {":version": n(version)})


def unchanged(version: int) -> Expression:
    """The same, and it is not being deleted."""
    return is_at(version) & Expression("attribute_not_exists(#deletingAt)")


_ZERO: Final[dict[str, AttributeValue]] = {":zero": n(0)}


def check_version(version: int, expected: int | None) -> None:
    """Raises Refused (CONFLICT) when a change is based on another version than the stored one."""
    if expected is not None and version != expected:
        raise Refused(conflict(f"it has version {version} now", "expectedVersion"))


def claim(team_id: str, assignment: Assignment) -> Put:
    """Claims an id that a client chose. An assignment's key begins with its first day, so the key
    alone can't tell that the id is used on another day, and the index may not know it yet."""
    item = claim_item(team_id, ASSIGNMENT + assignment.id, sort_key(assignment))
    return Put(item, IS_NEW)


def claim_item(team_id: str, sk: str, target: str) -> Item:
    """The item that says what a name, which a client chose, stands for. It expires (TTL)."""
    return {
        "pk": s(claims_pk(team_id)),
        "sk": s(sk),
        "EntityType": s(EntityType.CLAIM),
        "target": s(target),
        "expires": n(epoch_seconds() + _CLAIM_SECONDS),
    }


def difference(item: Item, new: Item) -> tuple[Item, tuple[str, ...]]:
    """Which attributes to set and which to remove, to get from a stored item to an encoding.
    What the planner does not know is in neither, and so stays; what it derives is put right."""
    changed = {name: value for name, value in new.items() if item.get(name) != value}
    return changed, tuple(sorted(name for name in item if name in owned(new) and name not in new))


def update(item: Item, new: Item, *, version: int) -> Update:
    """A field-wise update of a stored item that is still at `version`, under the same key."""
    changed, removed = difference(item, new)
    return Update(key_in(item), unchanged(version), changed, removed)


def move(item: Item, new: Item, *, version: int, **more: AttributeValue) -> tuple[Delete, Put]:
    """Moves a stored item that is still at `version` to the key of an encoding. Its attributes
    that the planner does not know go with it; `more` are set besides."""
    changed, removed = difference(item, new)
    kept = {name: value for name, value in item.items() if name not in removed}
    return Delete(key_in(item), unchanged(version)), Put({**kept, **changed, **more}, IS_NEW)
