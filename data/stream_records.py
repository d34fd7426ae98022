"""What a record of the stream says: which change of which team, if any."""

from dataclasses import dataclass
from typing import Final

from data.changes import Change, change_of
from data.clock import epoch_of
from data.decoding import Skip, decode
from data.entities import Entity
from data.keys import TEAM
from data.partition import log_once
from data.positions import MARGIN
from data.rows import Row
from data.streams import Record
from data.team_id import is_team_id

__all__ = ["Counts", "change_in", "written_at"]

_COARSE: Final = 60.0
"""Seconds by which a stream's time may be rounded down, as DynamoDB Local does."""


@dataclass(slots=True)
class Counts:
    """What the readers of this process have done so far. `behind` is how many seconds after its
    write the last change was read, by the clock of who wrote it."""

    calls: int = 0
    records: int = 0
    changes: int = 0
    skipped: int = 0
    dropped: int = 0
    behind: float = 0.0


def change_in(record: Record, counts: Counts) -> tuple[str, Change] | None:
    """The team and its change, or None for what is none of a team's: another partition, an item
    that is gone (a deletion is told by its tombstone, and a move to another day leaves one item and
    makes another), a write that changed nothing that is known of the entity."""
    new = record.images.new
    if new is None or record.event == "REMOVE":
        return None
    pk = new.pk.S or ""
    team_id = pk.removeprefix(TEAM)
    if not pk.startswith(TEAM) or not is_team_id(team_id):
        return None
    try:
        entity = decode(new)
    except Skip as skip:
        counts.skipped += 1
        log_once(new, skip)
        return None
    change = change_of(entity)
    if change is None or _entity(record.images.old) == entity:
        return None
    return team_id, change


def written_at(record: Record) -> float:
    """When the item was written, in seconds since 1970: as it says itself, which is exact, where
    the stream's own time allows for it. What is imported keeps the time that it had elsewhere, so
    that of it the latest moment is told that the stream's time allows for."""
    row = record.images.new or record.images.old
    created = record.images.created
    try:
        written = epoch_of((row and row.updated_at.S) or "")
    except ValueError:
        written = 0.0
    if written < created - MARGIN:
        is_coarse = created % _COARSE == 0
        return created + _COARSE if is_coarse else created
    return min(max(written, created), created + _COARSE + MARGIN)


def _entity(row: Row | None) -> Entity | None:
    try:
        return decode(row) if row else None
    except Skip:
        return None
