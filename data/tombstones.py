"""Deletions that are remembered: an item in place of what was deleted, written with its end.

It stands in the team's partition before all that is there, so that no read of the timeline has it,
and in `byUpdatedAt` beside all other changes. See docs/adr/0021-changes.md.
"""

from data.clock import new_id, now
from data.entities import Deletion, EntityType
from data.guards import IS_NEW
from data.items import encode
from data.transactions import Put

__all__ = ["tombstone"]


def tombstone(team_id: str, type: EntityType, id: str, *, version: int, by: str | None) -> Put:
    """Remembers, in the transaction that deletes it, that an entity of this type and id is gone.
    `version` is the last that it had, `by` the user whose session deletes it."""
    deletion = Deletion(
        id=new_id(),
        entity_type=type,
        entity_id=id,
        version=version + 1,
        updated_at=now(),
        updated_by=by,
    )
    return Put(encode(team_id, deletion), IS_NEW)
