"""The object types. They declare; the objects behind them are those of `resolvers.graph`."""

import enum
from datetime import date
from typing import Annotated, Any

import strawberry

from data.entities import Role as StoredRole
from data.rules import MAX_LABEL
from resolvers import nodes, viewer
from resolvers.selection import window

__all__ = [
    "Assignment",
    "CalendarFeed",
    "Link",
    "Membership",
    "Node",
    "Overlap",
    "Project",
    "Resource",
    "Role",
    "Team",
    "Viewer",
    "ViewerTeam",
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

_VERSION = "Counts the changes; what `expectedVersion` is compared with. 0 when never counted."
_CREATED = "When it was created: ISO 8601, UTC. Null for rows written elsewhere without it."
_UPDATED = "When it was last changed: ISO 8601, UTC. Null for rows written elsewhere without it."
_JOINED = "When the user joined: ISO 8601, UTC. Null for rows written elsewhere without it."
_IN_WINDOW = (
    "The assignments with at least one day in the window, by first day and then by id. Both days "
    "of the window are inclusive; the list is complete or an error."
)


@strawberry.interface(description="An object with an id that is unique over all types.")
class Node:
    id: strawberry.ID = strawberry.field(description="Opaque and stable; never changes.")


@strawberry.type(description="Somebody who can be planned.")
class Resource(Node):
    name: str = strawberry.field(description="What people call it.")
    version: int = strawberry.field(description=_VERSION)
    created_at: str | None = strawberry.field(description=_CREATED)
    updated_at: str | None = strawberry.field(description=_UPDATED)

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
    created_at: str | None = strawberry.field(description=_CREATED)
    updated_at: str | None = strawberry.field(description=_UPDATED)

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
    created_at: str | None = strawberry.field(description=_CREATED)
    updated_at: str | None = strawberry.field(description=_UPDATED)

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
    joined_at: str | None = strawberry.field(description=_JOINED)

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
    created_at: str | None = strawberry.field(description=_CREATED)
    updated_at: str | None = strawberry.field(description=_UPDATED)

    @strawberry.field(description=_IN_WINDOW)
    @staticmethod
    def assignments(
        parent: strawberry.Parent[nodes.TeamNode], from_: From = None, to: To = None
    ) -> list[Assignment]:
        return parent.assignments(window(from_, to))  # type: ignore[return-value]

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


@strawberry.type(description="A team that the viewer belongs to.")
class ViewerTeam:
    id: strawberry.ID = strawberry.field(
        description="Opaque and stable; of this entry, not of its team."
    )
    team_id: strawberry.ID = strawberry.field(description="The id of the team: that of its `Team`.")
    joined_at: str | None = strawberry.field(description=_JOINED)
    is_current: bool = strawberry.field(description="Whether it is the team of this session.")

    @strawberry.field(description="What the viewer may do in it.")
    @staticmethod
    def role(parent: strawberry.Parent[viewer.ViewerTeam]) -> Role:
        return Role.of(parent.role)

    @strawberry.field(description="What people call it; its id when it has never been named.")
    @staticmethod
    async def name(parent: strawberry.Parent[viewer.ViewerTeam]) -> str:
        return await parent.name()


@strawberry.type(
    description="That whoever has its address may read one calendar, until it is deleted."
)
class CalendarFeed:
    id: strawberry.ID = strawberry.field(description="Opaque and stable; never changes.")
    subject_id: strawberry.ID = strawberry.field(
        description="The id of the resource or project whose calendar it is. It may be gone."
    )
    user_id: strawberry.ID = strawberry.field(description="Who made it, as sessions have it.")
    created_at: str | None = strawberry.field(description=_CREATED)


@strawberry.type(description="Who is asking.")
class Viewer:
    id: strawberry.ID = strawberry.field(description="The user id of the session.")

    @strawberry.field(description="What this user may do in the team of the session.")
    @staticmethod
    def role(parent: strawberry.Parent[viewer.Viewer]) -> Role:
        return Role.of(parent.role)

    @strawberry.field(
        description="The teams that this user belongs to, by id. That of the session is always "
        "among them, with the role that counts in it; the others are those whose membership is "
        "stored, and a new one shows a moment late."
    )
    @staticmethod
    async def teams(parent: strawberry.Parent[viewer.Viewer]) -> list[ViewerTeam]:
        return await parent.teams()  # type: ignore[return-value]

    @strawberry.field(
        description="The calendar feeds that this user made in the team of the session, in the "
        "order of their creation; to an admin, those of all its users. Their addresses are not "
        "known any more."
    )
    @staticmethod
    async def calendar_feeds(parent: strawberry.Parent[viewer.Viewer]) -> list[CalendarFeed]:
        return await parent.calendar_feeds()  # type: ignore[return-value]
