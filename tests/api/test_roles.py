"""Who may only read gets FORBIDDEN from every mutation, and nothing is written."""

from typing import Any

import httpx
import pytest

from data.store import Store
from schema import schema
from tests.api.samples import (
    TIMELINE,
    assignment,
    gid,
    input_type,
    nothing_written,
    project,
    resource,
)
from tests.api_client import Api, Capture, put

pytestmark = pytest.mark.engines("local")

RESOURCE, PROJECT, ASSIGNMENT, FEED = (
    gid(t, t[0].lower()) for t in ("Resource", "Project", "Assignment", "CalendarFeed")
)
INPUTS: dict[str, dict[str, Any]] = {
    "createResource": {"name": "x"},
    "createProject": {"name": "x", "color": "#123456"},
    "createAssignment": {
        "resourceId": RESOURCE,
        "projectId": PROJECT,
        "startDate": "2024-01-10",
        "endDate": "2024-01-12",
    },
    "updateResource": {"id": RESOURCE, "name": "x"},
    "updateProject": {"id": PROJECT, "name": "x"},
    "updateAssignment": {"id": ASSIGNMENT, "note": "x"},
    "updateAssignments": {"patches": [{"id": ASSIGNMENT, "note": "x"}]},
    "shiftProject": {"id": PROJECT, "days": 1},
    "deleteResource": {"id": RESOURCE},
    "deleteProject": {"id": PROJECT},
    "deleteAssignment": {"id": ASSIGNMENT},
    "createCalendarFeed": {"subjectId": RESOURCE},
    "deleteCalendarFeed": {"id": FEED},
}


def test_every_mutation_of_the_schema_is_in_this_table() -> None:
    mutation = schema._schema.mutation_type
    assert mutation is not None
    assert INPUTS.keys() == mutation.fields.keys()


@pytest.mark.parametrize("role", ["viewer", "owner", "Member", ""])
async def test_role_that_may_only_read_is_forbidden_every_mutation(
    http: httpx.AsyncClient, store: Store, captured: Capture, team: str, role: str
) -> None:
    reader = Api(http, team, role=role)
    await put(store, team, [resource("r"), project("p"), assignment("2024-01-10", id="a")])
    async with nothing_written(store, team):
        for name, input in INPUTS.items():
            document = f"mutation($i: {input_type(name)}!) {{ {name}(input: $i) {{ __typename }} }}"
            response = await reader.post(document, {"i": input})
            assert response.status_code == 200
            answer = response.json()
            assert not any(answer["data"].values())
            (error,) = answer["errors"]
            assert error["extensions"] == {"code": "FORBIDDEN"}, name
            assert error["path"] == [name]
    assert captured.requests == []
    answer = await reader.data(TIMELINE)
    assert [len(each) for each in answer["team"].values()] == [1, 1, 1]
    assert await reader.data("{ viewer { id role } }") == {
        "viewer": {"id": "user-1", "role": "VIEWER"}
    }


@pytest.mark.parametrize(
    ("role", "shown"), [("admin", "ADMIN"), ("member", "MEMBER"), (None, "MEMBER")]
)
async def test_role_that_may_write_is_let_through_to_every_mutation(
    http: httpx.AsyncClient, store: Store, team: str, role: str | None, shown: str
) -> None:
    writer = Api(http, team, role=role)
    assert (await writer.data("{ viewer { role } }")) == {"viewer": {"role": shown}}
    for name, input in INPUTS.items():
        await put(store, team, [resource("r"), project("p"), assignment("2024-01-10", id="a")])
        payload = await writer.mutate(name, "errors { message }", **input)
        assert payload == {"errors": []}, name


async def test_forbidden_in_one_mutation_of_several_writes_none_of_them(
    http: httpx.AsyncClient, store: Store, team: str
) -> None:
    reader = Api(http, team, role="viewer")
    async with nothing_written(store, team):
        answer = await reader.run(
            """mutation { a: createResource(input: {name: "a"}) { resource { id } }
            b: createResource(input: {name: "b"}) { resource { id } } }"""
        )
    assert not any(answer["data"].values())
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}
