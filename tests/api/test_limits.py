"""What a request may ask for: refused before DynamoDB hears of it, and the server lives on."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from graphql import get_introspection_query
from msgspec import structs
from starlette.applications import Starlette

from data.store import Store
from tests.api.samples import assignment, gid, project, resource
from tests.api_client import Api, Capture, put
from tests.unit.schema.test_limits import HOSTILE

pytestmark = pytest.mark.engines("local")

PRODUCT = "{ team { resources { assignments { project { assignments { id } } } } } }"


@contextmanager
def limits(app: Starlette, **changed: Any) -> Iterator[None]:
    """Other limits, for a while."""
    operations = app.state.operations
    before = operations._limits
    operations._limits = replace(before, **changed)
    try:
        yield
    finally:
        operations._limits = before


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_document_costs_no_request(api: Api, captured: Capture, name: str) -> None:
    """S-05, S-17."""
    answer = await api.run(HOSTILE[name])
    assert "data" not in answer
    codes = {each["extensions"]["code"] for each in answer["errors"]}
    assert codes <= {"LIMIT_EXCEEDED", "BAD_USER_INPUT"}
    assert captured.operations == []
    assert await api.data("{ viewer { id } }")


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        ("query($v: [ID!]!) { nodes(ids: $v) { id } }", ["x"] * 101),
        (
            "mutation($v: UpdateAssignmentsInput!) { updateAssignments(input: $v) "
            "{ errors { code } } }",
            {"patches": [{"id": "x"}] * 101},
        ),
        (
            "mutation($v: CreateProjectInput!) { createProject(input: $v) { errors { code } } }",
            {"name": "x", "color": "#000000", "tags": ["t"] * 36_000},
        ),
        (
            "mutation($v: CreateResourceInput!) { createResource(input: $v) { errors { code } } }",
            {f"name{n}": "x" for n in range(101)},
        ),
    ],
)
async def test_long_list_of_a_variable_costs_no_request(
    api: Api, captured: Capture, query: str, variables: Any
) -> None:
    answer = await api.run(query, v=variables)
    assert "data" not in answer
    assert [each["extensions"]["code"] for each in answer["errors"]] == ["LIMIT_EXCEEDED"]
    assert captured.operations == []


async def test_introspection_of_graphiql_still_passes(api: Api) -> None:
    """S-05."""
    assert (await api.data(get_introspection_query()))["__schema"]["types"]


async def test_lists_within_lists_are_an_error_when_the_data_make_them_too_long(
    api: Api, app: Starlette, store: Store
) -> None:
    """20 assignments of one resource and one project: 1 + 1 + 20 + 20 + 20 * 20 objects,
    the first of them the team."""
    one, job = resource("r"), project("p")
    days = [assignment("2024-01-01") for _ in range(20)]
    await put(store, api.team, [one, job, *days])
    with limits(app, objects=442):
        [only] = (await api.data(PRODUCT))["team"]["resources"]
        assert sum(len(each["project"]["assignments"]) for each in only["assignments"]) == 400
    with limits(app, objects=441):
        answer = await api.run(PRODUCT)
    assert answer["data"] is None
    [error] = answer["errors"]
    assert error["extensions"] == {"code": "LIMIT_EXCEEDED"}
    assert error["message"] == "The answer would have more than 441 objects."


async def test_answer_that_takes_too_long_to_put_together_is_an_error(
    api: Api, app: Starlette
) -> None:
    await api.resource()
    with limits(app, seconds=1e-9):
        answer = await api.run("{ team { resources { id } } }")
    assert answer["data"] is None
    assert [each["extensions"]["code"] for each in answer["errors"]] == ["LIMIT_EXCEEDED"]


async def test_what_is_repeated_counts_each_time(api: Api, app: Starlette, store: Store) -> None:
    """A related object by an alias, and text: 100 characters are an object."""
    long = structs.replace(project("p"), description="x" * 1_000)
    await put(store, api.team, [resource("r"), long, assignment("2024-01-01")])
    for query, objects in (
        ("{ team { assignments { a: resource { id } b: resource { id } } } }", 4),
        ("{ team { projects { a: description b: description } } }", 22),
    ):
        with limits(app, objects=objects):
            assert await api.data(query)
        with limits(app, objects=objects - 1):
            answer = await api.run(query)
            assert [each["extensions"]["code"] for each in answer["errors"]] == ["LIMIT_EXCEEDED"]


LONG_ID = gid("Resource", "a" * 690_000)
REPEATED = {
    "ids": ("query($v: ID!) { nodes(ids: [" + "$v " * 100 + "]) { id } }", LONG_ID),
    "owners": (
        "mutation($v: ID!) { updateAssignments(input: {patches: ["
        + "{id: $v, resourceId: $v, projectId: $v} " * 25
        + "]}) { errors { code } } }",
        LONG_ID,
    ),
    "blank names": (
        "mutation($v: String!) {"
        + "".join(
            f"m{n}: createResource(input: {{name: $v}}) {{ errors {{ code }} }} " for n in range(50)
        )
        + "}",
        " " * 900_000,
    ),
}


@pytest.mark.parametrize("name", REPEATED)
async def test_long_value_that_is_used_again_and_again_costs_little(
    api: Api, captured: Capture, name: str
) -> None:
    """It is sent once, and its length is looked at before anything else. CPU time, the lesser of
    two; each took seconds where every character was looked at."""
    query, value = REPEATED[name]
    times = []
    for _ in range(2):
        before = time.process_time()
        assert await api.data(query, v=value)
        times.append(time.process_time() - before)
    assert min(times) < 0.5
    assert captured.operations == []
