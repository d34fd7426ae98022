"""An owner that is being deleted is gone for readers and writers, and in the end for good."""

import asyncio
from typing import Any

import pytest
from starlette.applications import Starlette

from data.store import Store
from tests.api.cascades import TYPES, booked, marked, others, seed
from tests.api.samples import ERRORS, TIMELINE, gid, ids
from tests.api_client import Api, everything
from tests.tombstones import deletions, remaining


@pytest.mark.parametrize("type", TYPES)
async def test_owner_that_is_being_deleted_is_hidden_with_its_assignments_and_left_alone(
    api: Api, app: Starlette, store: Store, type: str
) -> None:
    await seed(store, api.team, [*others(), marked(type, 30), *booked(type, 2)])
    before = await everything(store, api.team)
    team = (await api.data(TIMELINE))["team"]
    assert ids(team["resources"]) == ["r0", "r1", "xx"]
    assert ids(team["projects"]) == ["p0", "p1", "xx"]
    assert ids(team["assignments"]) == ["other", "x"]
    lists = "projects" if type == "Resource" else "resources"
    nested = (
        f"{{ team {{ resources {{ id }} projects {{ id }} {lists} {{ assignments {{ id }} }} }} }}"
    )
    team = (await api.data(nested))["team"]
    assert sorted(id for each in team[lists] for id in ids(each["assignments"])) == ["other", "x"]
    document = "query($i: ID!) { node(id: $i) { id } }"
    assert await api.data(document, i=gid(type, "x")) == {"node": None}
    assert not app.state.cascades.under_way
    assert await everything(store, api.team) == before


@pytest.mark.parametrize(
    "document",
    [
        "{ team { projects { assignments { id } } } }",
        "{ team { projects { id } assignments { id } } }",
        "{ team { name assignments { id } } }",
    ],
)
async def test_assignments_of_a_marked_resource_are_hidden_where_resources_are_not_asked_for(
    api: Api, store: Store, document: str
) -> None:
    await seed(store, api.team, [*others(), marked("Resource", 5), *booked("Resource", 2)])
    answer = (await api.post(document)).text
    assert gid("Assignment", "other") in answer
    assert gid("Assignment", "a000") not in answer
    assert gid("Assignment", "a001") not in answer


READS: dict[str, dict[str, str]] = {
    "Resource": {"list": "{ team { resources { id } } }", "timeline": TIMELINE},
    "Project": {"list": "{ team { projects { id } } }", "timeline": TIMELINE},
}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("read", ["list", "timeline", "node"])
async def test_mark_older_than_a_minute_is_finished_after_any_read_that_sees_it(
    api: Api, store: Store, type: str, read: str
) -> None:
    await seed(store, api.team, others())
    left = await remaining(store, api.team)
    await seed(store, api.team, [marked(type, 61), *booked(type, 3)])
    node = f'{{ node(id: "{gid(type, "x")}") {{ id }} }}'
    await api.data(READS[type].get(read, node))
    for _ in range(500):
        if await remaining(store, api.team) == left:
            break
        await asyncio.sleep(0.02)
    assert await remaining(store, api.team) == left
    # Whoever reads it did not delete it.
    assert await deletions(store, api.team) == [
        *(("Assignment", f"a{n:03}", 2, "user-0") for n in range(3)),
        (type, "x", 2, "user-0"),
    ]
    assert ids((await api.data(TIMELINE))["team"]["assignments"]) == ["other", "x"]


@pytest.mark.parametrize("type", TYPES)
async def test_deletion_that_broke_off_is_finished_by_the_same_call(
    api: Api, store: Store, type: str
) -> None:
    await seed(store, api.team, others())
    left = await remaining(store, api.team)
    rest = booked(type, 7)[3:]  # The first three went before it broke off.
    await seed(store, api.team, [marked(type, 5), *rest])
    payload: dict[str, Any] = await api.mutate(
        f"delete{type}", f"deletedAssignmentIds {ERRORS}", id=gid(type, "x")
    )
    assert payload["errors"] == []
    assert payload["deletedAssignmentIds"] == [gid("Assignment", each.id) for each in rest]
    assert await remaining(store, api.team) == left
    said = [("Assignment", each.id, 2, "user-1") for each in rest]
    assert await deletions(store, api.team) == [*said, (type, "x", 2, "user-1")]
