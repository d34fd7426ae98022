"""The objects that an input refers to by global id."""

import re

from data.entities import EntityType
from data.errors import Refused, invalid, not_found
from data.rules import Check
from resolvers.global_ids import raw_id

__all__ = ["existing_id", "owner_id"]


def existing_id(type: EntityType, global_id: str) -> str:
    """The raw id of the object that a write is about. An id of another type, of another team or
    of nothing at all is all the same: NOT_FOUND."""
    raw = raw_id(type, global_id)
    if raw is None:
        raise Refused(not_found(f"there is no such {_spoken(type)}", "id"))
    return raw


def owner_id(check: Check, type: EntityType, global_id: str | None, field: str) -> str:
    """The raw id of an owner that an input names; a problem for `check` if there can't be one."""
    if global_id is None:
        check.add(invalid(f"{field} can't be null", field))
        return ""
    raw = raw_id(type, global_id)
    if raw is None:
        check.add(not_found(f"there is no such {_spoken(type)}", field))
    return raw or ""


def _spoken(type: EntityType) -> str:
    """The type in a sentence: `calendar feed`."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type).lower()
