"""What is asked: one GraphQL operation each, over one team."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from bench.data import CREATE, LARGE, MEDIUM, SMALL, TeamSize, team_of
from data.entities import EntityType, Project, Resource
from resolvers.global_ids import to_global_id

__all__ = ["WORKLOADS", "Workload", "timeline_of", "tiny_of"]


@dataclass(frozen=True, slots=True)
class Workload:
    """One operation. `variables` makes those of the n-th request; `windowed` says that a peer can
    read it in two ways."""

    name: str
    team: TeamSize
    what: str
    document: str
    variables: Callable[[int], Mapping[str, object]] = field(default=lambda number: {})
    windowed: bool = False
    is_write: bool = False

    def body(self, number: int) -> bytes:
        """The body of the n-th request."""
        return json.dumps({"query": self.document, "variables": self.variables(number)}).encode()


_OWNERS = "resources { id name } projects { id name color }"
_NESTED = "{ id startDate endDateExclusive resource { id name } project { id name color } }"
_TIMELINE = f"query Timeline {{ team {{ {_OWNERS} assignments {_NESTED} }} }}"
_WINDOW = (
    "query Window($from: Date!, $to: Date!) "
    f"{{ team {{ {_OWNERS} assignments(from: $from, to: $to) {_NESTED} }} }}"
)
_TINY = "query Resources { team { resources { id name } } }"
_CREATE = (
    "mutation Create($input: CreateAssignmentInput!) { createAssignment(input: $input) { "
    "assignment { id startDate endDate endDateExclusive version createdAt } "
    "errors { code field message } } }"
)


def timeline_of(size: TeamSize) -> Workload:
    """All of a team, each assignment with its resource and its project."""
    numbers = f"{size.resources} resources, {size.projects} projects, {size.assignments:,}"
    return Workload(size.id, size, f"the whole timeline: {numbers} assignments", _TIMELINE)


def _new_assignment() -> Callable[[int], Mapping[str, object]]:
    team = [*team_of(CREATE)]
    resource = next(each for each in team if isinstance(each, Resource))
    project = next(each for each in team if isinstance(each, Project))
    owners = {
        "resourceId": to_global_id(EntityType.RESOURCE, resource.id),
        "projectId": to_global_id(EntityType.PROJECT, project.id),
    }

    def variables(number: int) -> Mapping[str, object]:
        # Every request its own days, as people plan: about 27,000 of them until the year 2100.
        start = date(2026, 1, 1) + timedelta(days=number % 27_000)
        end = start + timedelta(days=number % 14)
        return {"input": {**owners, "startDate": str(start), "endDate": str(end)}}

    return variables


def tiny_of(size: TeamSize) -> Workload:
    """The names of a team's resources: the smallest list that an interface asks for."""
    return Workload("tiny", size, f"{size.resources} resources", _TINY)


WORKLOADS: Final = {
    each.name: each
    for each in (
        tiny_of(SMALL),
        timeline_of(SMALL),
        timeline_of(MEDIUM),
        timeline_of(LARGE),
        Workload(
            "narrow",
            MEDIUM,
            "one month of the medium team, with its resources and projects",
            _WINDOW,
            lambda number: {"from": "2025-06-01", "to": "2025-06-30"},
            windowed=True,
        ),
        Workload(
            "create",
            CREATE,
            "one createAssignment",
            _CREATE,
            _new_assignment(),
            is_write=True,
        ),
    )
}
