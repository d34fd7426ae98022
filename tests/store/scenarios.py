"""One call of every mutation, each on a small plan of its own, for the tests of faults."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

import strawberry

from data.cascade import Cascades
from data.clock import now
from data.entities import Assignment, CalendarFeed, Entity, EntityType, Project, Resource, Role
from data.expressions import Item, KeyQuery, s
from data.keys import claims_pk, feeds_pk, team_pk
from data.store import Store
from resolvers import assignment_writes, feed_writes, owner_writes
from resolvers.assignment_writes import AssignmentPatch
from resolvers.context import RequestContext
from resolvers.global_ids import to_global_id
from resolvers.session import Session
from tests.api_client import put
from tests.limits import budget

__all__ = [
    "SCENARIOS",
    "STAMPS",
    "Scenario",
    "assignment",
    "context",
    "patch",
    "planned",
    "state",
]

NEW = "01890000-0000-7000-8000-000000000001"
OPERATION = "01890000-0000-7000-8000-000000000002"


@dataclass(frozen=True)
class Scenario:
    """A mutation. `again` is the error code that the same call has once it was done, if any;
    `in_chunks` says that a reader may see a part of it done, `buries` that what it deletes leaves
    tombstones."""

    name: str
    call: Callable[[RequestContext], Awaitable[Any]]
    again: str | None = None
    in_chunks: bool = False
    buries: bool = False

    def __repr__(self) -> str:
        return self.name


def context(store: Store, team: str) -> RequestContext:
    session = Session(user_id="user-1", team_id=team, role=Role.MEMBER)
    return RequestContext(session, store, Cascades(store), budget(), max_feeds=2)


STAMPS: Any = {"version": 1, "created_at": now(), "updated_at": now()}


def plan_of_a_team() -> list[Entity]:
    """Two people, two projects, and 12 assignments, 11 of them of the first of each."""
    return [
        Resource(id="r1", name="Ada", **STAMPS),
        Resource(id="r2", name="Ben", **STAMPS),
        Project(id="p1", name="Bridge", color="#000000", **STAMPS),
        Project(id="p2", name="Tunnel", color="#ffffff", **STAMPS),
        assignment("a1", date(2024, 1, 10), date(2024, 1, 13), "r1", "p1"),
        assignment("a2", date(2024, 1, 10), date(2024, 5, 13), "r2", "p2"),
        *(
            assignment(f"b{n:02}", date(2024, 2, 1 + n), date(2024, 3, 1), "r1", "p1")
            for n in range(10)
        ),
    ]


def assignment(id: str, start: date, end: date, resource: str, project: str) -> Assignment:
    return Assignment(
        id=id,
        resource_id=resource,
        project_id=project,
        start_date=start,
        end_date_exclusive=end,
        **STAMPS,
    )


async def state(store: Store, team: str) -> list[Item]:
    """All that is stored for a team, without what differs from run to run, in one order."""
    items: list[Item] = []
    for pk in (team_pk(team), claims_pk(team), feeds_pk(team)):
        items += await store.query(KeyQuery("#pk = :pk", {":pk": s(pk)}))
    varying = {"pk", "createdAt", "updatedAt", "expires", "deletingAt", "doneAt"}
    kept = [{k: v for k, v in item.items() if k not in varying} for item in items]
    for item in kept:
        if item["EntityType"] == s(EntityType.DELETION):
            del item["sk"]
    return sorted(kept, key=partial(json.dumps, sort_keys=True))


def patch(id: str, **fields: Any) -> AssignmentPatch:
    given = {name: strawberry.Some(value) for name, value in fields.items()}
    names = ("resource_id", "project_id", "start_date", "end_date", "note")
    return AssignmentPatch(
        id=_id("Assignment", id),
        expected_version=None,
        **{name: given.get(name) for name in names},
    )


def _id(type: str, id: str) -> str:
    return to_global_id(EntityType(type), id)


SCENARIOS = (
    Scenario("create resource", lambda c: owner_writes.create_resource(c, id=NEW, name="Eve")),
    Scenario(
        "create project",
        lambda c: owner_writes.create_project(
            c, id=NEW, name="Road", color="#123456", description=None, tags=["a"], links=None
        ),
    ),
    Scenario(
        "create assignment",
        lambda c: assignment_writes.create_assignment(
            c,
            id=NEW,
            resource_id=_id("Resource", "r1"),
            project_id=_id("Project", "p1"),
            start_date=date(2024, 1, 20),
            end_date=date(2024, 1, 21),
            note="new",
        ),
    ),
    Scenario(
        "update resource",
        lambda c: owner_writes.update_resource(
            c, id=_id("Resource", "r1"), name=strawberry.Some("Ada B."), expected_version=1
        ),
        again="CONFLICT",
    ),
    Scenario(
        "update project without expected version",
        lambda c: owner_writes.update_project(
            c,
            id=_id("Project", "p1"),
            name=None,
            color=strawberry.Some("#abcdef"),
            description=strawberry.Some("text"),
            tags=None,
            links=None,
            expected_version=None,
        ),
    ),
    Scenario(
        "note an assignment",
        lambda c: assignment_writes.update_assignment(c, patch("a1", note="hi")),
    ),
    Scenario(
        "give an assignment to somebody else",
        lambda c: assignment_writes.update_assignment(
            c, patch("a1", resource_id=_id("Resource", "r2"))
        ),
    ),
    Scenario(
        "move an assignment",
        lambda c: assignment_writes.update_assignment(
            c, patch("a1", start_date=date(2023, 12, 1), end_date=date(2024, 6, 1))
        ),
    ),
    Scenario(
        "update several assignments",
        lambda c: assignment_writes.update_assignments(
            c, [patch("a1", start_date=date(2024, 1, 9)), patch("a2", note="hi")]
        ),
    ),
    Scenario(
        "shift a project",
        lambda c: owner_writes.shift_project(
            c,
            id=_id("Project", "p1"),
            days=40,
            first=date(2024, 1, 10),
            operation_id=OPERATION,
        ),
        in_chunks=True,
    ),
    Scenario(
        "delete an assignment",
        lambda c: assignment_writes.delete_assignment(c, id=_id("Assignment", "a1")),
        buries=True,
    ),
    Scenario(
        "delete a calendar feed",
        lambda c: feed_writes.delete_calendar_feed(c, id=_id("CalendarFeed", "f1")),
    ),
    Scenario(
        "delete a resource",
        lambda c: owner_writes.delete_resource(c, id=_id("Resource", "r1")),
        again="NOT_FOUND",
        buries=True,
    ),
    Scenario(
        "delete a project",
        lambda c: owner_writes.delete_project(c, id=_id("Project", "p1")),
        again="NOT_FOUND",
        buries=True,
    ),
)


async def planned(store: Store, team: str) -> RequestContext:
    """A fresh plan, and the context of a request to it."""
    feed = CalendarFeed(
        id="f1", team_id=team, user_id="user-1", token_hash="0" * 64, resource_id="r1"
    )
    await put(store, team, [*plan_of_a_team(), feed])
    return context(store, team)
