"""With introspection off nothing gives away a name, and no id trips anything up (S-18)."""

import uuid
from typing import Any

import pytest
from pydantic import SecretStr

from server.settings import Settings
from tests.api.samples import ERRORS, gid
from tests.api_client import SECRET, Api, Capture

pytestmark = pytest.mark.engines("local")

CREATE = "mutation($i: CreateProjectInput!) { createProject(input: $i) { errors { code } } }"
UPDATE = "mutation($i: UpdateAssignmentInput!) { updateAssignment(input: $i) { errors { code } } }"

# A name that is nearly right, in every place that takes one: what the mistake is, the document and
# its variables.
NEARLY: dict[str, tuple[str, dict[str, Any]]] = {
    "field": ("{ teem { name } }", {}),
    "field below": ("{ team { resorces { id } } }", {}),
    "field of an interface": ('{ node(id: "x") { nam } }', {}),
    "field of another type": ('{ node(id: "x") { name } }', {}),
    "field of a mutation": ("mutation { createResourc { errors { code } } }", {}),
    "field of a payload": (
        'mutation { createResource(input: {name: "x"}) { resorce { id } } }',
        {},
    ),
    "argument": ('{ node(idd: "x") { id } }', {}),
    "argument of a directive": ("{ team { id @include(iff: true) } }", {}),
    "directive": ("{ team { id @includ(if: true) } }", {}),
    "type of a fragment": ("{ team { ... on Teem { id } } }", {}),
    "type of a named fragment": ("{ team { ...F } } fragment F on Teem { id }", {}),
    "type of a variable": ("query($d: Dat) { team { assignments(from: $d) { id } } }", {}),
    "fragment": ("{ team { ...Fields } } fragment Field on Team { id }", {}),
    "variable": ("query($from: Date) { team { assignments(from: $form) { id } } }", {}),
    "input field": (
        'mutation { createProject(input: {name: "x", colour: "x"}) { errors { code } } }',
        {},
    ),
    "input field of a variable": (CREATE, {"i": {"name": "x", "color": "x", "tag": []}}),
    "nested input field of a variable": (
        CREATE,
        {"i": {"name": "x", "color": "x", "links": [{"labl": "x", "url": "x"}]}},
    ),
    "missing input field of a variable": (CREATE, {"i": {"nam": "x"}}),
    "input field of an update": (UPDATE, {"i": {"id": "x", "startDat": "2024-01-01"}}),
    "enum value for a text": (
        "mutation { createResource(input: {name: ADMI}) { errors { code } } }",
        {},
    ),
    "a field without its selection": ("{ team }", {}),
    "a field with one too many": ("{ team { name { x } } }", {}),
    "introspection": ("{ __schema { queryType { name } } }", {}),
    "introspection of a type": ('{ __type(name: "Team") { fields { name } } }', {}),
    "introspection below": ("{ team { id __typ } }", {}),
    "value of an enum": (
        "{ team { recentChanges(entityType: RESOURC) { edges { cursor } } } }",
        {},
    ),
    "value of an enum in a variable": (
        "query($t: EntityType) { team { recentChanges(entityType: $t) { edges { cursor } } } }",
        {"t": "RESOURC"},
    ),
    "operation": ("query Team { team { id } } query Teams { team { id } }", {}),
}


@pytest.fixture(scope="module")
def settings() -> Settings:
    """As in production. Nothing listens there: none of this may ask the store."""
    return Settings(
        auth_secret=SecretStr(SECRET), endpoint_url="http://127.0.0.1:9", region="us-east-1"
    )


@pytest.mark.parametrize(("query", "variables"), NEARLY.values(), ids=NEARLY.keys())
async def test_a_name_that_is_nearly_right_is_refused_without_a_suggestion(
    api: Api, captured: Capture, query: str, variables: dict[str, Any]
) -> None:
    response = await api.post(query, variables)
    answer = response.json()
    assert "data" not in answer
    assert {each["extensions"]["code"] for each in answer["errors"]} == {"BAD_USER_INPUT"}
    assert "did you mean" not in response.text.lower()
    assert captured.requests == []


async def test_typename_is_no_introspection(api: Api) -> None:
    assert await api.data("{ __typename viewer { __typename } }") == {
        "__typename": "Query",
        "viewer": {"__typename": "Viewer"},
    }


IDS = {
    "a:b": gid("a", "b"),
    "Query:1": gid("Query", "1"),
    "Viewer:1": gid("Viewer", "1"),
    "Node:1": gid("Node", "1"),
    "UserError:1": gid("UserError", "1"),
    "__Schema:1": gid("__Schema", "1"),
    "Resource:": gid("Resource", ""),
    ":1": gid("", "1"),
    "a membership": gid("Membership", "user-1"),
    "a claim": gid("Claim", "1"),
    "no base64": "%%%",
    "padding": "=",
    "control characters": gid("Resource", "a\x00\x1b[2J\x7f\r\n"),
    "bare control characters": "\x00\x1b\x7f",
    "a lone surrogate": "\udfff",
    "a right-to-left mark": gid("Resource", "\u202e") + "\u202e",
    "900 kB": "A" * 900_000,
    "900 kB inside": gid("Resource", "x" * 670_000),
}
TYPES = ("Resource", "Project", "Assignment")


@pytest.mark.parametrize("id", IDS.values(), ids=IDS.keys())
async def test_an_id_that_was_never_made_is_null_or_not_found_and_nothing_else_is_said(
    api: Api, captured: Capture, id: str
) -> None:
    document = "query($i: ID!) { node(id: $i) { id } nodes(ids: [$i]) { id } }"
    assert await api.data(document, i=id) == {"node": None, "nodes": [None]}
    for type in TYPES:
        for mutation in (f"update{type}", f"delete{type}"):
            payload = await api.mutate(mutation, ERRORS, id=id)
            assert payload["errors"] == [
                {
                    "code": "NOT_FOUND",
                    "message": f"there is no such {type.lower()}",
                    "field": ["id"],
                }
            ]
    assert captured.requests == []


@pytest.mark.parametrize("type", TYPES)
async def test_an_id_of_another_type_is_not_found_before_anything_is_asked(
    api: Api, captured: Capture, type: str
) -> None:
    for other in {*TYPES, "Team"} - {type}:
        payload = await api.mutate(f"update{type}", ERRORS, id=gid(other, str(uuid.uuid4())))
        assert [each["code"] for each in payload["errors"]] == ["NOT_FOUND"]
    assert captured.requests == []


# As many as the limits of a request let through (tests/api/test_limits.py).
WRONG = " ".join(f"n{n}: 1" for n in range(90))
LONG = "a" * 900_000
COSTLY: dict[str, tuple[str, dict[str, Any]]] = {
    "a long unknown field": (f"{{ {LONG} }}", {}),
    "many unknown fields": ("{" + " ".join(f"teem{n}" for n in range(900)) + "}", {}),
    "a long unknown input field": (CREATE, {"i": {LONG: 1}}),
    "many unknown input fields": (CREATE, {"i": {f"nane{n}": 1 for n in range(100)}}),
    "many wrong values": (CREATE, {"i": {"name": "x", "color": "x", "tags": [1] * 100}}),
    "many unknown input fields beside a long value": (
        f'mutation {{ createProject(input: {{name: "{LONG}" {WRONG}}}) {{ errors {{ code }} }} }}',
        {},
    ),
}


@pytest.mark.parametrize(("query", "variables"), COSTLY.values(), ids=COSTLY.keys())
async def test_what_is_wrong_many_times_over_is_said_a_few_times_and_in_short(
    api: Api, query: str, variables: dict[str, Any]
) -> None:
    response = await api.post(query, variables)
    errors = response.json()["errors"]
    assert 1 <= len(errors) <= 11
    assert errors[0]["extensions"]["code"] in ("BAD_USER_INPUT", "LIMIT_EXCEEDED")
    assert len(response.content) < 20_000
