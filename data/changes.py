"""Changes: what an item says of the write that left it so."""

import enum
from typing import Final

from msgspec import Struct

from data.entities import (
    Assignment,
    CalendarFeed,
    Deletion,
    Entity,
    EntityType,
    Membership,
    Project,
    Resource,
    Team,
)

__all__ = ["Change", "ChangeKind", "Changed", "change_of"]

Changed = Team | Membership | Resource | Project | Assignment
"""What changes are told of."""


class ChangeKind(enum.StrEnum):
    """What happened. A move to other days is an update: the id stays."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    DELETED = "DELETED"


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """One change. `entity` is the whole of what it left, None for a deletion. `entity_id` is the
    id inside the team, a membership's that of its user. `version` is 0 for what has none.
    `created_at` is when the entity began to be, where it is and says so."""

    kind: ChangeKind
    entity_type: EntityType
    entity_id: str
    entity: Changed | None
    version: int
    at: str | None
    by: str | None
    created_at: str | None = None


def change_of(entity: Entity) -> Change | None:
    """The change that left an entity as it is. None for what nobody is to see: an owner that is
    being deleted, which is gone from reads already, and calendar feeds."""
    match entity:
        case Deletion():
            return Change(
                kind=ChangeKind.DELETED,
                entity_type=entity.entity_type,
                entity_id=entity.entity_id,
                entity=None,
                version=entity.version,
                at=entity.updated_at,
                by=entity.updated_by,
            )
        case CalendarFeed():
            return None
        case Resource() | Project() if entity.deleting_at:
            return None
        case Membership():
            is_new = entity.joined_at is not None and entity.joined_at == entity.updated_at
            return _change(entity, entity.user_id, version=0, is_new=is_new)
    is_new = entity.version <= 1 and (entity.created_at or "") == entity.updated_at
    return _change(entity, entity.id, version=entity.version, is_new=is_new)


def _change(entity: Changed, id: str, *, version: int, is_new: bool) -> Change:
    return Change(
        kind=ChangeKind.CREATED if is_new else ChangeKind.UPDATED,
        entity_type=_TYPES[type(entity)],
        entity_id=id,
        entity=entity,
        version=version,
        at=entity.updated_at,
        by=entity.updated_by,
        created_at=entity.joined_at if isinstance(entity, Membership) else entity.created_at,
    )


_TYPES: Final = {
    Team: EntityType.TEAM,
    Membership: EntityType.MEMBERSHIP,
    Resource: EntityType.RESOURCE,
    Project: EntityType.PROJECT,
    Assignment: EntityType.ASSIGNMENT,
}
