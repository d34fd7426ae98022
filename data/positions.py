"""Positions in the stream: how far a subscriber has got, and the cursor that any process reads.

A cursor is bound to the stream and to the team (`data.cursors`).
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from data.cursors import seal, unseal
from data.errors import BadInput

__all__ = ["MARGIN", "Cursor", "Positions", "decoded", "encoded"]

MARGIN: Final = 10.0
"""Seconds by which the clocks of servers may differ, and the stream may lag behind the table."""

_LIST: Final = "teamChanged"
_NAME_BYTES: Final = 6


@dataclass(frozen=True, slots=True)
class Positions:
    """How far shards were read: the number of the last record of each. None for one of which
    nothing was read, and nothing of it that was written before `at`, seconds since 1970, is
    missing: at that moment its reader had seen all that there was."""

    at: float
    shards: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Cursor:
    """`Positions` with the names of shards cut short."""

    at: float
    names: Mapping[bytes, int | None]

    def positions(self, shards: Iterable[str]) -> Positions | None:
        """The positions in these shards; None when the cursor names one that is none of them."""
        known = {_name(id): id for id in shards}
        if not known.keys() >= self.names.keys():
            return None
        return Positions(self.at, {known[name]: value for name, value in self.names.items()})


def encoded(positions: Positions, *, stream: str, team_id: str) -> str:
    """The cursor for these positions: URL-safe text of some 20 bytes for each shard."""
    names = {_name(id): _bytes(number) for id, number in positions.shards.items()}
    body = msgspec.msgpack.encode((int(positions.at * 1000), names))
    return seal(body, _LIST, stream, team_id)


def decoded(cursor: str, *, stream: str, team_id: str) -> Cursor:
    """Raises BadInput for what was not made for this team and this stream."""
    try:
        body = unseal(cursor, _LIST, stream, team_id)
        at, names = msgspec.msgpack.decode(body, type=tuple[int, dict[bytes, bytes]])
    except (ValueError, msgspec.DecodeError):
        raise BadInput(
            "`since` is no cursor of this team's changes, or one of a table that is no more: read"
            " the team again, and subscribe without it",
            field=("since",),
        ) from None
    return Cursor(
        at / 1000,
        {name: int.from_bytes(value) if value else None for name, value in names.items()},
    )


def _name(shard: str) -> bytes:
    return hashlib.sha256(shard.encode()).digest()[:_NAME_BYTES]


def _bytes(number: int | None) -> bytes:
    """Nothing for None; a zero has a byte."""
    return b"" if number is None else number.to_bytes(number.bit_length() // 8 + 1)
