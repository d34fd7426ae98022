"""Opaque ids that are unique over all types (Relay's Global Object Identification)."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode

from data.entities import EntityType
from data.keys import is_id

__all__ = ["from_global_id", "raw_id", "to_global_id"]


def to_global_id(type: EntityType, id: str) -> str:
    """The id that clients see: URL-safe base64 of `Type:id`, without padding."""
    return urlsafe_b64encode(f"{type}:{id}".encode()).rstrip(b"=").decode()


def from_global_id(global_id: str) -> tuple[EntityType, str] | None:
    """Type and raw id, or None for what `to_global_id` never made. Whether such an object exists
    is another question; both answers look the same to a client."""
    try:
        padded = global_id.encode("ascii") + b"=" * (-len(global_id) % 4)
        name, _, id = urlsafe_b64decode(padded).decode().partition(":")
        type = EntityType(name)
    except (ValueError, binascii.Error):
        return None
    if not is_id(id) or to_global_id(type, id) != global_id:
        return None
    return type, id


def raw_id(type: EntityType, global_id: str) -> str | None:
    """The raw id behind a global id of this type, or None."""
    found = from_global_id(global_id)
    return found[1] if found and found[0] is type else None
