"""The object types. They declare; the objects behind them are those of `resolvers.graph`."""

import enum
from datetime import date
from typing import Annotated, Any, cast

import strawberry

from data.entities import Role as StoredRole
from data.rules import MAX_LABEL
from resolvers import changes, nodes
from resolvers.context import RequestContext
from resolvers.selection import window
from schema.changes import ChangeConnection, EntityType
from schema.node import Node

__all__ = [
    "CREATED",
    "JOINED",
    "Assignment",
    "Link",
    "Membership",
    "Overlap",
    "Project",
    "Resource",
    "Role",
    "Team",
]

From = Annotated[
    date | None,
    strawberry.argument(
        name="from", description="The first day of the window, inclusive. Open when left out."
    ),
]
To = Annotated[
    date | None,
    strawberry.argument(description="The last day of the window, inclusive. Open when left out."),
]

First = Annotated[
    int | None,
    strawberry.argument(description=f"How many, from 1 to {changes.MAX_CHANGES}."),
]
After = Annotated[
    str | None,
    strawberry.argument(description="A cursor of this list: what comes is older than its change."),
]
OfType = Annotated[
    EntityType | None,
    strawberry.argument(
        description="Only changes of such objects. What is left out is read, and paid for, all the "
        "same."
    ),
]

_VERSION = "Counts the changes; what `expectedVersion` is compared with. 0 when never counted."
CREATED = "When it was created: ISO 8601, UTC. Null for rows written elsewhere without it."
_UPDATED = "When it was last changed: ISO 8601, UTC. Null for rows written elsewhere without it."
_UPDATED_BY = (
    "The user who last changed it, as sessions have it. Null when that was an operator, or is not "
    "known."
)
JOINED = "When the user joined: ISO 8601, UTC. Null for rows written elsewhere without it."
_IN_WINDOW = (
    "The assignments with at least one day in the window, by first day and then by id. Both days "
    "of the window are inclusive; the list is complete or an error."
)


@strawberry.type(description="Somebody who can be planned.")
class Resource(Node):
    name: str = strawberry.field(description="What people call it.")
    version: int = strawberry.field(description=_VERSION)
    created_at: str | None = strawberry.field(description=CREATED)
    updated_at: str | None = strawberry.field(description=_UPDATED)
    updated_by: strawberry.ID | None = strawberry.field(description=_UPDATED_BY)

    @strawberry.field(description=_IN_WINDOW)
    @staticmethod
    def assignments(
        parent: strawberry.Parent[nodes.ResourceNode], from_: From = None, to: To = None
    ) -> list["Assignment"]:
        return parent.assignments(window(from_, to))  # type: ignore[return-value]

    @classmethod
    def is_type_of(cls, value: object, _: Any) -> bool:
        return isinstance(value, nodes.ResourceNode)


@strawberry.type(description="A labelled address.")
class Link:
    label: str = strawberry.field(description=f"What to show, at most {MAX_LABEL} characters.")
    url: str = strawberry.field(description="A complete http or https address.")


@strawberry.type(description="A job that resources are assigned to.")
class Project(Node):
    name: str = strawberry.field(description="What people call it.")
    color: str = strawberry.field(description="The colour of its bars, `#RRGGBB`.")
    description: str | None = strawberry.field(description="Free text; lines may break.")
    tags: list[str] = strawberry.field(description="Words to find it by, each once.")
    links: list[Link] = strawberry.field(description="Where to read more.")
    version: int = strawberry.field(description=_VERSION)
    created_at: str | None = strawberry.field(description=CREATED)
    updated_at: str | None = strawberry.field(description=_UPDATED)
    updated_by: strawberry.ID | None = strawberry.field(description=_UPDATED_BY)

    @strawberry.field(description=_IN_WINDOW)
    @staticmethod
    def assignments(
        parent: strawberry.Parent[nodes.ProjectNode], from_: From = None, to: To = None
    ) -> list["Assignment"]:
        return parent.assignments(window(from_, to))  # type: ignore[return-value]

    @classmethod
    def is_type_of(cls, value: object, _: Any) -> bool:
        return isinstance(value, nodes.ProjectNode)


@strawberry.type(description="Who works on what, when.")
class Assignment(Node):
    resource_id: strawberry.ID = strawberry.field(description="The id of who works.")
    project_id: strawberry.ID = strawberry.field(description="The id of what is worked on.")
    resource: Resource | None = strawberry.field(
        description="Who works. Null when a row written elsewhere names nobody that exists."
    )
    project: Project | None = strawberry.field(
        description="What is worked on. Null when a row written elsewhere names none that exists."
    )
    start_date: date = strawberry.field(description="The first day.")
    end_date: date = strawberry.field(description="The last day, inclusive.")
    end_date_exclusive: date = strawberry.field(
        description="The day after the last one: what calendars and chart libraries ask for."
    )
    note: str | None = strawberry.field(description="Free text; lines may break.")
    version: int = strawberry.field(description=_VERSION)
    created_at: str | None = strawberry.field(description=CREATED)
    updated_at: str | None = strawberry.field(description=_UPDATED)
    updated_by: strawberry.ID | None = strawberry.field(description=_UPDATED_BY)

    @classmethod
    def is_type_of(cls, value: object, _: Any) -> bool:
        return isinstance(value, nodes.AssignmentNode)


@strawberry.type(description="Days for which somebody is planned more than once. Only a warning.")
class Overlap:
    resource: Resource = strawberry.field(description="Who is planned more than once.")
    start_date: date = strawberry.field(description="The first of these days.")
    end_date: date = strawberry.field(description="The last of these days, inclusive.")
    end_date_exclusive: date = strawberry.field(description="The day after the last of these days.")
    assignments: list[Assignment] = strawberry.field(
        description="The assignments with any of these days, by first day and then by id."
    )


@strawberry.enum(description="What a member of a team may do.")
class Role(enum.Enum):
    ADMIN = strawberry.enum_value("admin", description="May read and write.")
    MEMBER = strawberry.enum_value("member", description="May read and write.")
    VIEWER = strawberry.enum_value("viewer", description="May read.")

    @classmethod
    def of(cls, role: StoredRole) -> "Role":
        return cls[role.name]


@strawberry.type(description="That a user belongs to the team, and as what.")
class Membership(Node):
    user_id: strawberry.ID = strawberry.field(description="The user's id, as sessions have it.")
    joined_at: str | None = strawberry.field(description=JOINED)

    @strawberry.field(description="What the user may do. A stored role that is not known reads.")
    @staticmethod
    def role(parent: strawberry.Parent[nodes.MembershipNode]) -> Role:
        return Role.of(parent.role)

    @classmethod
    def is_type_of(cls, value: object, _: Any) -> bool:
        return isinstance(value, nodes.MembershipNode)


@strawberry.type(description="The team of the session: its people, its jobs and its plan.")
class Team(Node):
    name: str = strawberry.field(
        description="What people call it; its id when it has never been named."
    )
    members: list[Membership] = strawberry.field(
        description="All memberships that are stored, by user id."
    )
    resources: list[Resource] = strawberry.field(
        description="All resources, by id: in the order of creation, unless a client chose an id."
    )
    projects: list[Project] = strawberry.field(
        description="All projects, by id: in the order of creation, unless a client chose an id."
    )
    version: int = strawberry.field(description=_VERSION)
    created_at: str | None = strawberry.field(description=CREATED)
    updated_at: str | None = strawberry.field(description=_UPDATED)
    updated_by: strawberry.ID | None = strawberry.field(description=_UPDATED_BY)

    @strawberry.field(description=_IN_WINDOW)
    @staticmethod
    def assignments(
        parent: strawberry.Parent[nodes.TeamNode], from_: From = None, to: To = None
    ) -> list[Assignment]:
        return parent.assignments(window(from_, to))  # type: ignore[return-value]

    @strawberry.field(
        description="The latest changes, newest first: what was created, changed or deleted, by "
        "whom and when. Of each object it is the last change alone that shows; a deletion shows "
        "for 30 days. It lags behind the table, mostly by milliseconds."
    )
    @staticmethod
    def recent_changes(
        info: strawberry.Info[RequestContext, None],
        parent: strawberry.Parent[nodes.TeamNode],
        first: First = changes.DEFAULT_CHANGES,
        after: After = None,
        entity_type: OfType = None,
    ) -> ChangeConnection:
        found = changes.recent(
            info.context,
            parent.graph,
            first=changes.DEFAULT_CHANGES if first is None else first,
            after=after,
            type=entity_type.stored if entity_type else None,
        )
        return cast("ChangeConnection", found)

    @strawberry.field(
        description="Where assignments of one resource share days of the window: the longest runs "
        "of days on each of which there are two or more, by resource and then by first day."
    )
    @staticmethod
    def overlaps(
        parent: strawberry.Parent[nodes.TeamNode], from_: From = None, to: To = None
    ) -> list[Overlap]:
        return parent.overlaps(window(from_, to))  # type: ignore[return-value]

    @classmethod
    def is_type_of(cls, value: object, _: Any) -> bool:
        return isinstance(value, nodes.TeamNode)
