"""Deletions that are remembered: an item in place of what was deleted, written with its end.

It stands in the team's partition before all that is there, so that no read of the timeline has it,
and in `byUpdatedAt` beside all other changes. See docs/adr/0021-changes.md.
"""

from collections.abc import Sequence

from data.clock import new_id, now
from data.entities import Deletion, EntityType
from data.expressions import s
from data.failures import CancellationReason
from data.guards import IS_NEW
from data.items import encode
from data.transactions import Action, Put

__all__ = ["tombstone", "was_done"]


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


def was_done(actions: Sequence[Action], reasons: Sequence[CancellationReason]) -> bool:
    """Whether a transaction with tombstones was canceled because it is carried out already: its
    answer was lost, and it was sent again to an engine that keeps no tokens. The ids of its
    tombstones are its own, so nobody else can have put one there."""
    return any(
        isinstance(action, Put)
        and action.item["EntityType"] == s(EntityType.DELETION)
        and reason.condition_failed
        for action, reason in zip(actions, reasons, strict=False)
    )
