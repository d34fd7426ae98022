"""What one operation read, linked: from a team's parts to the nodes behind the GraphQL types."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal

from data.days import Window, last_day
from data.entities import Assignment, EntityType, Membership, Project, Resource, Team
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
from resolvers.global_ids import membership_id, to_global_id, to_global_ids
from resolvers.nodes import (
    AssignmentNode,
    MembershipNode,
    Node,
    OverlapNode,
    ProjectNode,
    ResourceNode,
    TeamNode,
)
from resolvers.overlaps import overlaps

__all__ = ["Graph"]


_NOT_READ: Final = object()
"""In place of an owner that the selection did not foresee: completing it fails."""


class _GlobalIds(dict[str, str]):
    """Raw ids of one type -> global ids: a plan names few owners again and again."""

    def __init__(self, type: EntityType) -> None:
        self._type = type

    def __missing__(self, id: str) -> str:
        self[id] = to_global_id(self._type, id)
        return self[id]


class Graph:
    """What one read brought, as nodes that are linked to each other, so that no relation needs a
    further read. `items` has the slices that were read for global ids; `failure` is that of a read
    after a write, which the relations then raise."""

    def __init__(
        self,
        team_id: str,
        parts: Mapping[Slice, Part],
        *,
        items: Mapping[str, tuple[ItemSlice, ...]] | None = None,
        failure: Exception | None = None,
    ) -> None:
        self.team_id = team_id
        self._parts = parts
        self._items = items or {}
        self._failure = failure
        self._resource_ids = _GlobalIds(EntityType.RESOURCE)
        self._project_ids = _GlobalIds(EntityType.PROJECT)
        self._assignments: dict[Window, list[AssignmentNode]] = {}
        self._grouped: dict[tuple[Window, str], dict[str, list[AssignmentNode]]] = {}

    def part(self, slice: Slice) -> Part:
        """The part that a slice brought; the slice is one that was foreseen in the selection."""
        if self._failure is not None:
            raise self._failure
        return self._parts[slice]

    def release(self) -> None:
        """Lets go of what was read. Nodes and graph hold each other, and would wait together for
        a collection of garbage."""
        self.__dict__.clear()

    @cached_property
    def team(self) -> Team:
        """The team's own item; where there is none, the team is called by its id."""
        return self.part(TeamSlice()).team or Team(id=self.team_id, name=self.team_id)

    @cached_property
    def members(self) -> list[MembershipNode]:
        """All memberships, in the order of the user ids."""
        return list(map(_membership, self.part(MembersSlice()).members))

    @cached_property
    def resources(self) -> dict[str, ResourceNode]:
        """All resources, by raw id, in the order of their ids."""
        return {each.id: self._resource(each) for each in self.part(ResourcesSlice()).resources}

    @cached_property
    def projects(self) -> dict[str, ProjectNode]:
        """All projects, by raw id, in the order of their ids."""
        return {each.id: self._project(each) for each in self.part(ProjectsSlice()).projects}

    def assignments(self, window: Window) -> list[AssignmentNode]:
        """The assignments in the window, by first day and then by id."""
        if window not in self._assignments:
            part = self.part(AssignmentsSlice(window))
            self._assignments[window] = self._linked(part.assignments)
        return self._assignments[window]

    def assignments_of(
        self, owner: Literal["resource_id", "project_id"], id: str, window: Window
    ) -> list[AssignmentNode]:
        """The assignments in the window whose `owner` has this global id."""
        if (window, owner) not in self._grouped:
            groups: dict[str, list[AssignmentNode]] = {}
            for each in self.assignments(window):
                groups.setdefault(getattr(each, owner), []).append(each)
            self._grouped[window, owner] = groups
        return self._grouped[window, owner].get(id, [])

    def overlaps(self, window: Window) -> list[OverlapNode]:
        """Where assignments of one resource share days of the window: by resource, in the order
        of their ids, and then by first day."""
        return [
            OverlapNode(
                resource=resource,
                start_date=each.first,
                end_date=last_day(each.end_exclusive),
                end_date_exclusive=each.end_exclusive,
                assignments=each.assignments,
            )
            for resource in self.resources.values()
            for each in overlaps(resource.assignments(window), window)
        ]

    def named(self, global_id: str) -> Node | None:
        """The node with this global id, if the read was asked for it and the team has it."""
        if global_id == to_global_id(EntityType.TEAM, self.team_id):
            return TeamNode(self)
        entities = (self.part(slice).item for slice in self._items.get(global_id, ()))
        entity = next((each for each in entities if each), None)
        return self.node(entity) if entity else None

    def node(self, entity: Identified) -> Node:
        """The node of any entity of the team, linked to this graph."""
        match entity:
            case Membership():
                return _membership(entity)
            case Resource():
                return self._resource(entity)
            case Project():
                return self._project(entity)
            case Assignment():
                return self._linked([entity])[0]

    def _resource(self, entity: Resource) -> ResourceNode:
        return ResourceNode(
            graph=self,
            id=self._resource_ids[entity.id],
            name=entity.name,
            version=entity.version,
            created_at=entity.created_at,
            updated_at=entity.updated_at,
            updated_by=entity.updated_by,
        )

    def _project(self, entity: Project) -> ProjectNode:
        return ProjectNode(
            graph=self,
            id=self._project_ids[entity.id],
            name=entity.name,
            color=entity.color,
            description=entity.description,
            tags=entity.tags,
            links=entity.links,
            version=entity.version,
            created_at=entity.created_at,
            updated_at=entity.updated_at,
            updated_by=entity.updated_by,
        )

    @cached_property
    def _resource_of(self) -> Callable[[str], Any]:
        if self._failure is not None:
            return lambda _: self._failure
        if ResourcesSlice() in self._parts:
            return self.resources.get
        return lambda _: _NOT_READ

    @cached_property
    def _project_of(self) -> Callable[[str], Any]:
        if self._failure is not None:
            return lambda _: self._failure
        if ProjectsSlice() in self._parts:
            return self.projects.get
        return lambda _: _NOT_READ

    def _linked(self, entities: Sequence[Assignment]) -> list[AssignmentNode]:
        resource_ids, project_ids = self._resource_ids, self._project_ids
        resource_of, project_of = self._resource_of, self._project_of
        ids = to_global_ids(EntityType.ASSIGNMENT, [each.id for each in entities])
        return [
            AssignmentNode(
                id=id,
                resource_id=resource_ids[each.resource_id],
                project_id=project_ids[each.project_id],
                resource=resource_of(each.resource_id),
                project=project_of(each.project_id),
                start_date=each.start_date,
                end_date=last_day(each.end_date_exclusive),
                end_date_exclusive=each.end_date_exclusive,
                note=each.note,
                version=each.version,
                created_at=each.created_at,
                updated_at=each.updated_at,
                updated_by=each.updated_by,
            )
            for id, each in zip(ids, entities, strict=True)
        ]


def _membership(entity: Membership) -> MembershipNode:
    return MembershipNode(
        id=to_global_id(EntityType.MEMBERSHIP, membership_id(entity.team_id, entity.user_id)),
        user_id=entity.user_id,
        role=entity.role,
        joined_at=entity.joined_at,
    )
