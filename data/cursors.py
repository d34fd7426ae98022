"""Opaque cursors: a place to go on from, bound to what it is a place in.

The digest finds out a cursor that was cut, changed, or made for something else. It is no signature
and keeps no secret: whoever makes one up gets to another place in what they may read anyway, since
the team is always that of the session.
"""

import binascii
import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

__all__ = ["MAX_CURSOR", "seal", "unseal"]

MAX_CURSOR: Final = 100_000
"""Characters. Most have some hundreds; one of a stream has some twenty bytes for each shard."""

_DIGEST_BYTES: Final = 12


def seal(place: bytes, *bound_to: str) -> str:
    """The cursor of a place, in URL-safe base64 without padding. `bound_to` says what it is a place
    in: the kind of list, the team, and whatever else decides what the list holds."""
    return urlsafe_b64encode(_digest(place, bound_to) + place).rstrip(b"=").decode()


def unseal(cursor: str, *bound_to: str) -> bytes:
    """The place of a cursor. Raises ValueError when it was not made by `seal` with the same
    `bound_to`."""
    sealed = b""
    if len(cursor) <= MAX_CURSOR and cursor.isascii():
        try:
            sealed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        except binascii.Error:
            sealed = b""
    digest, place = sealed[:_DIGEST_BYTES], sealed[_DIGEST_BYTES:]
    # Made anew it must be the same: base64 reads past what it does not know.
    if digest != _digest(place, bound_to) or seal(place, *bound_to) != cursor:
        raise ValueError("no cursor of this list")
    return place


def _digest(place: bytes, bound_to: tuple[str, ...]) -> bytes:
    # No part has a zero, so no two lists of parts are one.
    head = "\0".join(bound_to).encode()
    return hashlib.sha256(head + b"\0" + place).digest()[:_DIGEST_BYTES]
