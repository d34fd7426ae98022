"""The conditions that guard writes, and the changes they guard."""

from typing import Final

from data.expressions import AttributeValue, Expression, Item, Key, n
from data.transactions import Check, Update

__all__ = ["IS_NEW", "LIVE_OWNER", "difference", "live", "unchanged", "update"]

IS_NEW: Final = Expression("attribute_not_exists(#sk)")

LIVE_OWNER: Final = Expression("attribute_exists(#sk) AND attribute_not_exists(#deletingAt)")
"""It exists, and no deletion of it has begun: the guard that keeps a cascade whole (A3)."""


def live(key: Key) -> Check:
    """Fails the transaction unless the owner with this key may be given an assignment."""
    return Check(key, LIVE_OWNER)


def unchanged(version: int) -> Expression:
    """It exists, is not being deleted, and nobody has changed it since it was read."""
    if version == 0:
        return LIVE_OWNER & Expression("attribute_not_exists(#version) OR #version = :zero", _ZERO)
    return LIVE_OWNER & Expression("#version = :version", {":version": n(version)})


_ZERO: Final[dict[str, AttributeValue]] = {":zero": n(0)}


def difference(old: Item, new: Item) -> tuple[Item, tuple[str, ...]]:
    """Which attributes to set and which to remove, to get from one encoding to the other.
    Attributes that the planner does not know are in neither, and so stay."""
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    return changed, tuple(name for name in old if name not in new)


def update(old: Item, new: Item, *, version: int) -> Update:
    """A field-wise update of an item that is still at `version`. Both items have its key."""
    changed, removed = difference(old, new)
    key = {"pk": old["pk"], "sk": old["sk"]}
    return Update(key, unchanged(version), changed, removed)
