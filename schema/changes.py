"""The object types of changes. The objects behind them are those of `resolvers.changes`."""

import enum
from typing import cast

import strawberry

from data.changes import ChangeKind as StoredKind
from data.entities import EntityType as StoredType
from data.live import Batch
from resolvers import changes, nodes
from resolvers.context import RequestContext
from schema.node import Node

__all__ = [
    "Change",
    "ChangeConnection",
    "ChangeEdge",
    "ChangeKind",
    "EntityType",
    "PageInfo",
    "TeamChanges",
]


@strawberry.enum(description="What happened to an object.")
class ChangeKind(enum.Enum):
    CREATED = strawberry.enum_value("CREATED", description="It is new.")
    UPDATED = strawberry.enum_value(
        "UPDATED", description="It is another than before, or is on other days."
    )
    DELETED = strawberry.enum_value("DELETED", description="It is gone.")

    @classmethod
    def of(cls, kind: StoredKind) -> "ChangeKind":
        return cls[kind.name]


@strawberry.enum(description="What an object is: the value of its `EntityType` in the table.")
class EntityType(enum.Enum):
    TEAM = strawberry.enum_value("Team", description="A `Team`.")
    MEMBERSHIP = strawberry.enum_value("Membership", description="A `Membership`.")
    RESOURCE = strawberry.enum_value("Resource", description="A `Resource`.")
    PROJECT = strawberry.enum_value("Project", description="A `Project`.")
    ASSIGNMENT = strawberry.enum_value("Assignment", description="An `Assignment`.")

    @classmethod
    def of(cls, type: StoredType) -> "EntityType":
        return cls[type.name]

    @property
    def stored(self) -> StoredType:
        return StoredType[self.name]


@strawberry.type(description="That an object was created, changed or deleted.")
class Change:
    entity_id: strawberry.ID = strawberry.field(description="The id of the object.")
    entity: Node | None = strawberry.field(
        description="The whole object as the change left it. Null when it was deleted."
    )
    version: int = strawberry.field(
        description="The version that the change made; a deletion counts as one more. 0 for what "
        "has none."
    )
    changed_at: str | None = strawberry.field(
        description="When: ISO 8601, UTC. Null for rows written elsewhere without it."
    )
    changed_by: strawberry.ID | None = strawberry.field(
        description="The user who did it, as sessions have it. Null for an operator."
    )

    @strawberry.field(description="What happened.")
    @staticmethod
    def kind(parent: strawberry.Parent[nodes.ChangeNode]) -> ChangeKind:
        return ChangeKind.of(parent.kind)

    @strawberry.field(description="What the object is.")
    @staticmethod
    def entity_type(parent: strawberry.Parent[nodes.ChangeNode]) -> EntityType:
        return EntityType.of(parent.entity_type)


@strawberry.type(description="A change in a list of them.")
class ChangeEdge:
    node: Change = strawberry.field(description="The change.")
    cursor: str = strawberry.field(description="Opaque: the place of the change in the list.")


@strawberry.type(description="Where a part of a list stands in it (Relay's cursor connections).")
class PageInfo:
    has_next_page: bool = strawberry.field(description="Whether there are more after the last one.")
    has_previous_page: bool = strawberry.field(
        description="Always false: a list is only paged forwards."
    )
    start_cursor: str | None = strawberry.field(description="The cursor of the first one.")
    end_cursor: str | None = strawberry.field(
        description="The cursor of the last one, to go on after."
    )


@strawberry.type(description="Some of the changes of a team, newest first.")
class ChangeConnection:
    edges: list[ChangeEdge] = strawberry.field(description="The changes, with their cursors.")

    @strawberry.field(description="Where these stand among all changes.")
    @staticmethod
    def page_info(parent: strawberry.Parent[nodes.ChangesNode]) -> PageInfo:
        return PageInfo(
            has_next_page=parent.has_more,
            has_previous_page=False,
            start_cursor=parent.edges[0].cursor if parent.edges else None,
            end_cursor=parent.edges[-1].cursor if parent.edges else None,
        )


@strawberry.type(description="Changes of the team of the session, as they happened.")
class TeamChanges:
    cursor: str = strawberry.field(
        description="Opaque: what to subscribe with as `since` to go on after these."
    )

    @strawberry.field(
        description="The changes, oldest first, those of one object in the order of its versions. "
        "The first answer may have none: from its cursor on nothing is missed."
    )
    @staticmethod
    async def changes(
        info: strawberry.Info[RequestContext, None], parent: strawberry.Parent[Batch]
    ) -> list[Change]:
        return cast("list[Change]", await changes.changed(info.context, info._raw_info, parent))
