"""The object types. They declare; the objects behind them are those of `resolvers.graph`."""

import enum
from datetime import date
from typing import Annotated, Any

import strawberry

from data.rules import MAX_LABEL
from resolvers import graph
from resolvers.selection import window
from resolvers.session import Session

__all__ = ["Assignment", "Link", "Node", "Project", "Resource", "Role", "Team", "Viewer"]

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
        parent: strawberry.Parent[graph.ResourceNode], from_: From = None, to: To = None
    ) -> list["Assignment"]:
        return parent.assignments(window(from_, to))  # type: ignore[return-value]

    @classmethod
    def is_type_of(cls, value: object, _: Any) -> bool:
        return isinstance(value, graph.ResourceNode)


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
        parent: strawberry.Parent[graph.ProjectNode], from_: From = None, to: To = None
    ) -> list["Assignment"]:
        return parent.assignments(window(from_, to))  # type: ignore[return-value]

    @classmethod
    def is_type_of(cls, value: object, _: Any) -> bool:
        return isinstance(value, graph.ProjectNode)


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
        return isinstance(value, graph.AssignmentNode)


@strawberry.type(description="The team of the session: its people, its jobs and its plan.")
class Team(Node):
    name: str = strawberry.field(
        description="What people call it; its id when it has never been named."
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
        parent: strawberry.Parent[graph.TeamNode], from_: From = None, to: To = None
    ) -> list[Assignment]:
        return parent.assignments(window(from_, to))  # type: ignore[return-value]

    @classmethod
    def is_type_of(cls, value: object, _: Any) -> bool:
        return isinstance(value, graph.TeamNode)


@strawberry.enum(description="What a member of a team may do.")
class Role(enum.Enum):
    ADMIN = strawberry.enum_value("admin", description="May read and write.")
    MEMBER = strawberry.enum_value("member", description="May read and write.")
    VIEWER = strawberry.enum_value("viewer", description="May read.")


@strawberry.type(description="Who is asking.")
class Viewer:
    id: strawberry.ID = strawberry.field(description="The user id of the session.")
    role: Role = strawberry.field(description="What this user may do in the team.")

    @classmethod
    def of(cls, session: Session) -> "Viewer":
        return cls(id=strawberry.ID(session.user_id), role=Role[session.role.name])
