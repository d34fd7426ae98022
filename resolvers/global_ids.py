"""Opaque ids that are unique over all types (Relay's Global Object Identification)."""

import binascii
from base64 import urlsafe_b64decode
from collections.abc import Sequence
from typing import Final, Literal

from data.entities import EntityType
from data.keys import is_id
from data.team_id import is_team_id, is_user_id

__all__ = [
    "from_global_id",
    "membership_id",
    "raw_id",
    "split_membership_id",
    "to_global_id",
    "to_global_ids",
]


_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")


def to_global_id(type: EntityType | Literal["ViewerTeam"], id: str) -> str:
    """The id that clients see: URL-safe base64 of `Type:id`, without padding. What is no entity
    has one for caches alone: `from_global_id` knows none of it."""
    text = binascii.b2a_base64((type + ":" + id).encode(), newline=False)
    return text.translate(_URL_SAFE, b"=").decode("ascii")


def to_global_ids(type: EntityType, ids: Sequence[str]) -> list[str]:
    """The same for many ids, in a fifth of the time where all are as long as each other, as UUIDs
    are: filled up with zeros to whole groups of three bytes they are encoded at once, each in so
    many characters."""
    prefix = type + ":"
    if len(set(map(len, ids))) != 1:
        return [to_global_id(type, id) for id in ids]
    length = len(prefix) + len(ids[0])
    fill = -length % 3
    text = prefix + ("\0" * fill + prefix).join(ids) + "\0" * fill
    if not text.isascii():
        return [to_global_id(type, id) for id in ids]
    encoded = binascii.b2a_base64(text.encode(), newline=False).translate(_URL_SAFE).decode()
    width = (length + fill) // 3 * 4
    return [encoded[at : at + width - fill] for at in range(0, len(encoded), width)]


# The longest raw id has 1,000 bytes, that of a membership 1,401; base64 takes four characters for
# three of them. A longer text need not be decoded to know that it is none.
_LONGEST: Final = 2_000


def from_global_id(global_id: str) -> tuple[EntityType, str] | None:
    """Type and raw id, or None for what `to_global_id` never made. Whether such an object exists
    is another question; both answers look the same to a client."""
    if len(global_id) > _LONGEST:
        return None
    try:
        padded = global_id.encode("ascii") + b"=" * (-len(global_id) % 4)
        name, _, id = urlsafe_b64decode(padded).decode().partition(":")
        type = EntityType(name)
    except (ValueError, binascii.Error):
        return None
    well_formed = _is_membership_id(id) if type is EntityType.MEMBERSHIP else is_id(id)
    if not well_formed or to_global_id(type, id) != global_id:
        return None
    return type, id


def membership_id(team_id: str, user_id: str) -> str:
    """The raw id of a membership, which has none of its own. It names the team as well: one user
    in two teams is two objects."""
    return f"{team_id}#{user_id}"


def split_membership_id(id: str) -> tuple[str, str]:
    """Team and user of a membership's raw id. No team id has a `#`; a user id may."""
    team_id, _, user_id = id.partition("#")
    return team_id, user_id


def _is_membership_id(id: str) -> bool:
    team_id, user_id = split_membership_id(id)
    return is_team_id(team_id) and is_user_id(user_id)


def raw_id(type: EntityType, global_id: str) -> str | None:
    """The raw id behind a global id of this type, or None."""
    found = from_global_id(global_id)
    return found[1] if found and found[0] is type else None
