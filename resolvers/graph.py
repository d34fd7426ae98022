"""The objects behind the GraphQL types: entities of one operation, linked to each other.

Attributes are named as the schema's fields are in Python, so that most fields need no resolver.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Literal, TypeVar

from data.days import Window, last_day
from data.entities import Assignment, EntityType, Link, Membership, Project, Resource, Role, Team
from data.loader import Identified, Part
from data.slices import (
    AssignmentsSlice,
    ItemSlice,
    MembersSlice,
    ProjectsSlice,
    ResourcesSlice,
    Slice,
    TeamSlice,
)
from resolvers.budget import Budget
from resolvers.global_ids import membership_id, to_global_id

__all__ = [
    "AssignmentNode",
    "Graph",
    "MembershipNode",
    "Node",
    "ProjectNode",
    "ResourceNode",
    "TeamNode",
]


Listed = TypeVar("Listed")


class Graph:
    """What one read brought. A node asks it for its relations, so each is found without a further
    read. `items` has the slices that were read for global ids; `failure` is that of a read after
    a write, which the relations then raise. What its lists have is taken from the budget."""

    def __init__(
        self,
        team_id: str,
        parts: Mapping[Slice, Part],
        budget: Budget,
        *,
        items: Mapping[str, tuple[ItemSlice, ...]] | None = None,
        failure: Exception | None = None,
    ) -> None:
        self.team_id = team_id
        self._parts = parts
        self._budget = budget
        self._items = items or {}
        self._failure = failure
        self._assignments: dict[Window, list[AssignmentNode]] = {}
        self._grouped: dict[tuple[Window, str], dict[str, list[AssignmentNode]]] = {}

    def part(self, slice: Slice) -> Part:
        """The part that a slice brought; the slice is one that was foreseen in the selection."""
        if self._failure is not None:
            raise self._failure
        return self._parts[slice]

    @cached_property
    def team(self) -> Team:
        """The team's own item; where there is none, the team is called by its id."""
        return self.part(TeamSlice()).team or Team(id=self.team_id, name=self.team_id)

    @cached_property
    def members(self) -> list["MembershipNode"]:
        """All memberships, in the order of the user ids."""
        return [MembershipNode.of(each) for each in self.part(MembersSlice()).members]

    @cached_property
    def resources(self) -> dict[str, "ResourceNode"]:
        """All resources, by raw id, in the order of their ids."""
        part = self.part(ResourcesSlice())
        return {each.id: ResourceNode.of(each, self) for each in part.resources}

    @cached_property
    def projects(self) -> dict[str, "ProjectNode"]:
        """All projects, by raw id, in the order of their ids."""
        part = self.part(ProjectsSlice())
        return {each.id: ProjectNode.of(each, self) for each in part.projects}

    def one(self, node: Listed) -> Listed:
        """A related object as a value of the answer. Raises Overspent."""
        self._budget.spend(1)
        return node

    def text(self, text: str | None) -> str | None:
        """Long text as a value of the answer; it counts as an object for each 100 characters.
        Raises Overspent."""
        if text:
            self._budget.spend(len(text) // 100)
        return text

    def listed(self, nodes: list[Listed]) -> list[Listed]:
        """The nodes as a list of the answer. Raises Overspent."""
        self._budget.spend(len(nodes))
        return nodes

    def assignments(self, window: Window) -> list["AssignmentNode"]:
        """The assignments in the window, by first day and then by id."""
        if window not in self._assignments:
            part = self.part(AssignmentsSlice(window))
            self._assignments[window] = [AssignmentNode.of(e, self) for e in part.assignments]
        return self._assignments[window]

    def assignments_of(
        self, owner: Literal["resource_id", "project_id"], id: str, window: Window
    ) -> list["AssignmentNode"]:
        """The assignments in the window whose `owner` has this raw id."""
        if (window, owner) not in self._grouped:
            groups: dict[str, list[AssignmentNode]] = {}
            for each in self.assignments(window):
                groups.setdefault(getattr(each.entity, owner), []).append(each)
            self._grouped[window, owner] = groups
        return self._grouped[window, owner].get(id, [])

    def named(self, global_id: str) -> "Node | None":
        """The node with this global id, if the read was asked for it and the team has it."""
        if global_id == to_global_id(EntityType.TEAM, self.team_id):
            return TeamNode.of(self)
        entities = (self.part(slice).item for slice in self._items.get(global_id, ()))
        entity = next((each for each in entities if each), None)
        return self.node(entity) if entity else None

    def node(self, entity: Identified) -> "Node":
        """The node of any entity of the team, linked to this graph."""
        match entity:
            case Membership():
                return MembershipNode.of(entity)
            case Resource():
                return ResourceNode.of(entity, self)
            case Project():
                return ProjectNode.of(entity, self)
            case Assignment():
                return AssignmentNode.of(entity, self)


@dataclass(slots=True, eq=False, kw_only=True)
class TeamNode:
    """The session's team. Its own item may be missing; its name is then its id."""

    graph: Graph
    id: str

    @classmethod
    def of(cls, graph: Graph) -> "TeamNode":
        return cls(graph=graph, id=to_global_id(EntityType.TEAM, graph.team_id))

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
    def members(self) -> list["MembershipNode"]:
        return self.graph.listed(self.graph.members)

    @property
    def resources(self) -> list["ResourceNode"]:
        return self.graph.listed(list(self.graph.resources.values()))

    @property
    def projects(self) -> list["ProjectNode"]:
        return self.graph.listed(list(self.graph.projects.values()))

    def assignments(self, window: Window) -> list["AssignmentNode"]:
        return self.graph.listed(self.graph.assignments(window))


@dataclass(slots=True, eq=False, kw_only=True)
class MembershipNode:
    id: str
    user_id: str
    role: Role
    joined_at: str | None

    @classmethod
    def of(cls, entity: Membership) -> "MembershipNode":
        return cls(
            id=to_global_id(EntityType.MEMBERSHIP, membership_id(entity.team_id, entity.user_id)),
            user_id=entity.user_id,
            role=entity.role,
            joined_at=entity.joined_at,
        )


@dataclass(slots=True, eq=False, kw_only=True)
class ResourceNode:
    graph: Graph
    entity: Resource
    id: str
    name: str
    version: int
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, entity: Resource, graph: Graph) -> "ResourceNode":
        return cls(
            graph=graph,
            entity=entity,
            id=to_global_id(EntityType.RESOURCE, entity.id),
            name=entity.name,
            version=entity.version,
            created_at=entity.created_at,
            updated_at=entity.updated_at,
        )

    def assignments(self, window: Window) -> list["AssignmentNode"]:
        return self.graph.listed(self.graph.assignments_of("resource_id", self.entity.id, window))


@dataclass(slots=True, eq=False, kw_only=True)
class ProjectNode:
    graph: Graph
    entity: Project
    id: str
    name: str
    color: str
    tags: tuple[str, ...]
    links: tuple[Link, ...]
    version: int
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, entity: Project, graph: Graph) -> "ProjectNode":
        return cls(
            graph=graph,
            entity=entity,
            id=to_global_id(EntityType.PROJECT, entity.id),
            name=entity.name,
            color=entity.color,
            tags=entity.tags,
            links=entity.links,
            version=entity.version,
            created_at=entity.created_at,
            updated_at=entity.updated_at,
        )

    @property
    def description(self) -> str | None:
        return self.graph.text(self.entity.description)

    def assignments(self, window: Window) -> list["AssignmentNode"]:
        return self.graph.listed(self.graph.assignments_of("project_id", self.entity.id, window))


@dataclass(slots=True, eq=False, kw_only=True)
class AssignmentNode:
    graph: Graph
    entity: Assignment
    id: str
    resource_id: str
    project_id: str
    start_date: date
    end_date: date
    end_date_exclusive: date
    version: int
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, entity: Assignment, graph: Graph) -> "AssignmentNode":
        return cls(
            graph=graph,
            entity=entity,
            id=to_global_id(EntityType.ASSIGNMENT, entity.id),
            resource_id=to_global_id(EntityType.RESOURCE, entity.resource_id),
            project_id=to_global_id(EntityType.PROJECT, entity.project_id),
            start_date=entity.start_date,
            end_date=last_day(entity.end_date_exclusive),
            end_date_exclusive=entity.end_date_exclusive,
            version=entity.version,
            created_at=entity.created_at,
            updated_at=entity.updated_at,
        )

    @property
    def note(self) -> str | None:
        return self.graph.text(self.entity.note)

    @property
    def resource(self) -> ResourceNode | None:
        """Its resource; None when a row written elsewhere names one that does not exist."""
        return self.graph.one(self.graph.resources.get(self.entity.resource_id))

    @property
    def project(self) -> ProjectNode | None:
        """Its project; None when a row written elsewhere names one that does not exist."""
        return self.graph.one(self.graph.projects.get(self.entity.project_id))


Node = TeamNode | MembershipNode | ResourceNode | ProjectNode | AssignmentNode
