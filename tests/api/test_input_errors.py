"""What GraphQL itself refuses: BAD_USER_INPUT that names the field, before any request."""

import json
from typing import Any

import pytest

from tests.api.samples import gid
from tests.api_client import Api, Capture

pytestmark = pytest.mark.engines("local")

BAD_DAYS: dict[str, Any] = {
    "empty": "",
    "no such day": "2024-02-30",
    "no leap year": "2023-02-29",
    "month 13": "2024-13-01",
    "day 0": "2024-01-00",
    "year 0": "0000-01-01",
    "short": "2024-1-1",
    "basic form": "20240110",
    "week": "2024-W02-3",
    "a moment": "2024-01-10T00:00:00Z",
    "spaces": " 2024-01-10",
    "a line break": "2024-01-10\n",
    "slashes": "2024/01/10",
    "American": "01-10-2024",
    "other digits": "２０２４-01-10",
    "five digits": "12024-01-10",
    "negative": "-024-01-10",
    "words": "today",
    "a number": 20240110,
    "a boolean": True,
    "a list of numbers": [20240110],
    "an object": {"year": 2024},
}
MUTATION = """mutation($input: CreateAssignmentInput!) {
  createAssignment(input: $input) { errors { code } } }"""
UPDATE = """mutation($input: UpdateAssignmentInput!) {
  updateAssignment(input: $input) { errors { code } } }"""
OWNERS = {"resourceId": gid("Resource", "r"), "projectId": gid("Project", "p")}


def literal(value: Any) -> str:
    """A JSON value as GraphQL writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {literal(each)}" for name, each in value.items()) + "}"
    return json.dumps(value)


def refusal(answer: dict[str, Any]) -> dict[str, Any]:
    """The extensions of the only error of an answer that has no data."""
    assert answer.get("data") is None
    (error,) = answer["errors"]
    assert error["message"]
    extensions: dict[str, Any] = error["extensions"]
    return extensions


@pytest.mark.parametrize("day", BAD_DAYS.values(), ids=BAD_DAYS.keys())
@pytest.mark.parametrize("field", ["startDate", "endDate"])
async def test_bad_day_in_a_variable_is_named_and_nothing_is_asked(
    api: Api, captured: Capture, day: Any, field: str
) -> None:
    create = OWNERS | {"startDate": "2024-01-10", "endDate": "2024-01-12"} | {field: day}
    expected = {"code": "BAD_USER_INPUT", "field": ["input", field]}
    assert refusal(await api.run(MUTATION, input=create)) == expected
    update = {"id": gid("Assignment", "a"), field: day}
    assert refusal(await api.run(UPDATE, input=update)) == expected
    assert captured.requests == []


@pytest.mark.parametrize("day", BAD_DAYS.values(), ids=BAD_DAYS.keys())
async def test_bad_day_in_a_literal_is_named_and_nothing_is_asked(
    api: Api, captured: Capture, day: Any
) -> None:
    input = OWNERS | {"startDate": "2024-01-10", "endDate": day}
    answer = await api.run(
        f"mutation {{ createAssignment(input: {literal(input)}) {{ errors {{ code }} }} }}"
    )
    assert refusal(answer) == {"code": "BAD_USER_INPUT", "field": ["input", "endDate"]}
    assert captured.requests == []


@pytest.mark.parametrize("day", BAD_DAYS.values(), ids=BAD_DAYS.keys())
async def test_bad_day_of_a_window_is_named_and_nothing_is_asked(
    api: Api, captured: Capture, day: Any
) -> None:
    document = "query($to: Date) { team { assignments(to: $to) { id } } }"
    expected = {"code": "BAD_USER_INPUT", "field": ["to"]}
    assert refusal(await api.run(document, to=day)) == expected
    answer = await api.run(f"{{ team {{ assignments(to: {literal(day)}) {{ id }} }} }}")
    assert refusal(answer) == expected
    assert captured.requests == []


@pytest.mark.parametrize(
    "document",
    [
        "{ team { assignments(from: $f, to: $t) { id } } }",
        "{ team { name resources { assignments(from: $f, to: $t) { id } } } }",
        "{ team { ... on Team { projects { name assignments(from: $f, to: $t) { id } } } } }",
    ],
)
async def test_from_after_to_is_refused_before_any_request(
    api: Api, captured: Capture, document: str
) -> None:
    document = f"query($f: Date, $t: Date) {document}"
    answer = await api.run(document, f="2024-01-02", t="2024-01-01")
    assert refusal(answer) == {"code": "BAD_USER_INPUT", "field": ["from"]}
    assert captured.requests == []


async def test_from_after_to_below_a_node_is_refused_before_any_request(
    api: Api, captured: Capture
) -> None:
    answer = await api.run(
        """query($id: ID!) { node(id: $id) { ... on Resource {
        assignments(from: "2024-01-02", to: "2024-01-01") { id } } } }""",
        id=OWNERS["resourceId"],
    )
    assert answer["data"] == {"node": None}
    (error,) = answer["errors"]
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": ["from"]}
    assert captured.requests == []


@pytest.mark.parametrize("missing", ["resourceId", "projectId", "startDate", "endDate"])
@pytest.mark.parametrize("null", [False, True])
async def test_missing_or_null_field_is_refused_and_named(
    api: Api, captured: Capture, missing: str, null: bool
) -> None:
    input: dict[str, Any] = OWNERS | {"startDate": "2024-01-10", "endDate": "2024-01-12"}
    input |= {missing: None}
    if not null:
        del input[missing]
    answer = await api.run(MUTATION, input=input)
    extensions = refusal(answer)
    assert extensions["code"] == "BAD_USER_INPUT"
    assert missing in answer["errors"][0]["message"]
    assert extensions["field"] == ["input", missing]
    assert captured.requests == []


@pytest.mark.parametrize(
    ("document", "variables"),
    [
        ("{ team { salary } }", {}),
        ('{ team(id: "x") { name } }', {}),
        ("{ team { name }", {}),
        ("", {}),
        ("query($x: Nothing) { team { name } }", {}),
        ("query($x: Date) { team { name } }", {}),
        ("{ team { ...Nothing } }", {}),
        ("{ a: node(id: 1.5) { id } }", {}),
        ("{ nodes(ids: [null]) { id } }", {}),
        ("query($i: ID!) { node(id: $i) { id } }", {"i": None}),
        ("query($i: ID!) { node(id: $i) { id } }", {"i": {}}),
        ("query($b: Boolean!) { team { name @include(if: $b) } }", {"b": "yes"}),
        ("query($b: Boolean!) { team { name @include(if: $b) } }", {}),
        ("subscription { team { name } }", {}),
        (MUTATION, {"input": "no object"}),
        (
            MUTATION,
            {"input": OWNERS | {"startDate": "2024-01-10", "endDate": "2024-01-10", "x": 1}},
        ),
        (UPDATE, {"input": {"id": "x", "expectedVersion": "1"}}),
        (UPDATE, {"input": {"id": "x", "expectedVersion": 2**31}}),
        (UPDATE, {"input": {"id": "x", "expectedVersion": 1.5}}),
        (UPDATE, {"input": {"id": "x", "note": 5}}),
    ],
)
async def test_malformed_request_is_bad_user_input_and_asks_nothing(
    api: Api, captured: Capture, document: str, variables: dict[str, Any]
) -> None:
    answer = await api.run(document, **variables)
    assert answer.get("data") is None
    assert {each["extensions"]["code"] for each in answer["errors"]} == {"BAD_USER_INPUT"}
    assert captured.requests == []


async def test_introspection_needs_no_request_and_more_than_100_nodes_are_refused(
    api: Api, captured: Capture
) -> None:
    assert (await api.data("{ __schema { queryType { name } } }"))["__schema"]
    many = [gid("Resource", f"{n}") for n in range(101)]
    answer = await api.run("query($i: [ID!]!) { nodes(ids: $i) { id } }", i=many)
    assert refusal(answer) == {"code": "LIMIT_EXCEEDED"}
    assert captured.requests == []
