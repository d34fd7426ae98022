"""Items: the keys and attributes of an entity in the table, and how it is written.

Every item carries its `EntityType`. See docs/adr/0002-entity-type.md.
"""

from typing import Final

from data.clock import epoch_of
from data.days import is_long
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
from data.expressions import AttributeValue, Item, Key, n, s
from data.keys import (
    META,
    TEAMS,
    assignment_sk,
    deletion_sk,
    feed_key,
    feed_sk,
    feeds_pk,
    membership_sk,
    project_sk,
    resource_sk,
    team_pk,
    user_pk,
)

__all__ = ["encode", "expiry", "key_in", "key_of", "owned", "sort_key", "table_key"]

_DELETION_SECONDS: Final = 30 * 24 * 3600
"""How long it is remembered that something was deleted; TTL removes the item then."""


def table_key(team_id: str, sk: str) -> Key:
    """The primary key of an item in a team's partition."""
    return {"pk": s(team_pk(team_id)), "sk": s(sk)}


def key_of(team_id: str, entity: Entity) -> Key:
    """The primary key of an entity of the team."""
    if isinstance(entity, CalendarFeed):
        return {"pk": s(feeds_pk(team_id)), "sk": s(sort_key(entity))}
    return table_key(team_id, sort_key(entity))


def key_in(item: Item) -> Key:
    """The primary key of a stored item."""
    return {"pk": item["pk"], "sk": item["sk"]}


def sort_key(entity: Entity) -> str:
    """The sort key of an entity."""
    match entity:
        case Team():
            return META
        case Membership():
            return membership_sk(entity.user_id)
        case Resource():
            return resource_sk(entity.id)
        case Project():
            return project_sk(entity.id)
        case Assignment():
            return assignment_sk(entity.start_date, entity.id)
        case CalendarFeed():
            return feed_sk(entity.id)
        case Deletion():
            return deletion_sk(entity.id)


def encode(team_id: str, entity: Entity) -> Item:
    """The whole item of an entity. An unset optional attribute is absent, never empty."""
    item: Item = key_of(team_id, entity)
    match entity:
        case Team():
            item |= _stamps(EntityType.TEAM, entity) | {"name": s(entity.name)}
            item |= {"GSI1PK": s(TEAMS), "GSI1SK": item["pk"]}
        case Membership():
            item |= {
                "EntityType": s(EntityType.MEMBERSHIP),
                "teamId": s(entity.team_id),
                "userId": s(entity.user_id),
                "role": s(entity.role),
                "GSI1PK": s(user_pk(entity.user_id)),
                "GSI1SK": s(team_pk(entity.team_id)),
            }
            _put_text(item, "joinedAt", entity.joined_at)
            _put_text(item, "updatedAt", entity.updated_at)
            _put_text(item, "updatedBy", entity.updated_by)
        case Resource():
            item |= _stamps(EntityType.RESOURCE, entity) | {"name": s(entity.name)}
            _put_text(item, "deletingAt", entity.deleting_at)
        case Project():
            item |= _stamps(EntityType.PROJECT, entity)
            item |= {"name": s(entity.name), "color": s(entity.color)}
            _put_text(item, "description", entity.description)
            if entity.tags:
                item["tags"] = {"L": [s(tag) for tag in entity.tags]}
            if entity.links:
                item["links"] = {
                    "L": [{"M": {"label": s(k.label), "url": s(k.url)}} for k in entity.links]
                }
            _put_text(item, "deletingAt", entity.deleting_at)
        case Assignment():
            item |= _stamps(EntityType.ASSIGNMENT, entity)
            item |= {
                "resourceId": s(entity.resource_id),
                "projectId": s(entity.project_id),
                "startDate": s(entity.start_date.isoformat()),
                "endDateExclusive": s(entity.end_date_exclusive.isoformat()),
            }
            _put_text(item, "note", entity.note)
            if is_long(entity.start_date, entity.end_date_exclusive):
                item["longEnd"] = item["endDateExclusive"]
        case CalendarFeed():
            index_key = s(feed_key(entity.token_hash))
            item |= {
                "EntityType": s(EntityType.CALENDAR_FEED),
                "id": s(entity.id),
                "userId": s(entity.user_id),
                "GSI1PK": index_key,
                "GSI1SK": index_key,
            }
            _put_text(item, "resourceId", entity.resource_id)
            _put_text(item, "projectId", entity.project_id)
            _put_text(item, "createdAt", entity.created_at)
        case Deletion():
            # No `id`: what is gone is not to be found by it.
            item |= {
                "EntityType": s(EntityType.DELETION),
                "deletedType": s(entity.entity_type),
                "deletedId": s(entity.entity_id),
                "updatedAt": s(entity.updated_at),
                "expires": expiry(entity.updated_at),
            }
            if entity.version:
                item["version"] = n(entity.version)
            _put_text(item, "updatedBy", entity.updated_by)
    return item


def expiry(moment: str) -> AttributeValue:
    """When TTL removes what remembers a deletion of this moment: in seconds since 1970. Raises
    ValueError for what is no moment."""
    return n(int(epoch_of(moment)) + _DELETION_SECONDS)


def _stamps(type: EntityType, entity: Team | Resource | Project | Assignment) -> Item:
    item: Item = {"EntityType": s(type), "id": s(entity.id)}
    # Version 0 says "written elsewhere, without one"; it stays absent until the first update.
    if entity.version:
        item["version"] = n(entity.version)
    _put_text(item, "createdAt", entity.created_at)
    _put_text(item, "updatedAt", entity.updated_at)
    _put_text(item, "updatedBy", entity.updated_by)
    return item


def _put_text(item: Item, name: str, text: str | None) -> None:
    if text is not None:
        item[name] = s(text)


_STAMPS = frozenset({"EntityType", "id", "version", "createdAt", "updatedAt", "updatedBy"})
_OWNED: dict[str, frozenset[str]] = {
    EntityType.RESOURCE: _STAMPS | {"name", "deletingAt"},
    EntityType.PROJECT: _STAMPS | {"name", "color", "description", "tags", "links", "deletingAt"},
    EntityType.ASSIGNMENT: _STAMPS
    | {"resourceId", "projectId", "startDate", "endDateExclusive", "note", "longEnd"},
}


def owned(item: Item) -> frozenset[str]:
    """The attributes that the planner itself keeps on an item of this type; others may stand on
    rows written elsewhere, and are left as they are."""
    return _OWNED[item["EntityType"]["S"]]
