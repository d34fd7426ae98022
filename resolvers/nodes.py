"""The objects behind the GraphQL types, linked to each other by the graph that made them.

Attributes are named as the schema's fields are in Python, so that most fields need no resolver.
"""

from datetime import date
from typing import TYPE_CHECKING

from msgspec import Struct

from data.changes import ChangeKind
from data.days import Window
from data.entities import EntityType, Link, Role
from resolvers.global_ids import to_global_id

if TYPE_CHECKING:
    from resolvers.graph import Graph

__all__ = [
    "AssignmentNode",
    "ChangeEdgeNode",
    "ChangeNode",
    "ChangesNode",
    "MembershipNode",
    "Node",
    "OverlapNode",
    "ProjectNode",
    "ResourceNode",
    "TeamNode",
]


class TeamNode:
    """The session's team. Its own item may be missing; its name is then its id."""

    def __init__(self, graph: "Graph") -> None:
        self.graph = graph
        self.id = to_global_id(EntityType.TEAM, graph.team_id)

    @property
    def name(self) -> str:
        return self.graph.team.name

    @property
    def version(self) -> int:
        return self.graph.team.version

    @property
    def created_at(self) -> str | None:
        return self.graph.team.created_at

    @property
    def updated_at(self) -> str | None:
        return self.graph.team.updated_at

    @property
    def updated_by(self) -> str | None:
        return self.graph.team.updated_by

    @property
    def members(self) -> list["MembershipNode"]:
        return self.graph.members

    @property
    def resources(self) -> list["ResourceNode"]:
        return list(self.graph.resources.values())

    @property
    def projects(self) -> list["ProjectNode"]:
        return list(self.graph.projects.values())

    def assignments(self, window: Window) -> list["AssignmentNode"]:
        return self.graph.assignments(window)

    def overlaps(self, window: Window) -> list["OverlapNode"]:
        return self.graph.overlaps(window)


class MembershipNode(Struct, eq=False, kw_only=True):
    id: str
    user_id: str
    role: Role
    joined_at: str | None


class ResourceNode(Struct, eq=False, kw_only=True):
    graph: "Graph"
    id: str
    name: str
    version: int
    created_at: str | None
    updated_at: str | None
    updated_by: str | None

    def assignments(self, window: Window) -> list["AssignmentNode"]:
        return self.graph.assignments_of("resource_id", self.id, window)


class ProjectNode(Struct, eq=False, kw_only=True):
    graph: "Graph"
    id: str
    name: str
    color: str
    description: str | None
    tags: tuple[str, ...]
    links: tuple[Link, ...]
    version: int
    created_at: str | None
    updated_at: str | None
    updated_by: str | None

    def assignments(self, window: Window) -> list["AssignmentNode"]:
        return self.graph.assignments_of("project_id", self.id, window)


class AssignmentNode(Struct, eq=False, kw_only=True):
    """`resource` and `project` are None when a row written elsewhere names one that is not there;
    an exception in their place is raised where they are asked for."""

    id: str
    resource_id: str
    project_id: str
    resource: ResourceNode | None
    project: ProjectNode | None
    start_date: date
    end_date: date
    end_date_exclusive: date
    note: str | None
    version: int
    created_at: str | None
    updated_at: str | None
    updated_by: str | None


class OverlapNode(Struct, eq=False, kw_only=True):
    """Days on each of which the resource has two assignments or more, and all that are on them."""

    resource: ResourceNode
    start_date: date
    end_date: date
    end_date_exclusive: date
    assignments: list[AssignmentNode]


class ChangeNode(Struct, eq=False, kw_only=True):
    """One change. `entity` is the object as the change left it, None for a deletion."""

    kind: ChangeKind
    entity_type: EntityType
    entity_id: str
    entity: "Node | None"
    version: int
    changed_at: str | None
    changed_by: str | None


class ChangeEdgeNode(Struct, eq=False):
    node: ChangeNode
    cursor: str


class ChangesNode(Struct, eq=False):
    """Some of the changes of a team, newest first."""

    edges: list[ChangeEdgeNode]
    has_more: bool


Node = TeamNode | MembershipNode | ResourceNode | ProjectNode | AssignmentNode
