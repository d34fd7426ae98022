"""An id that is malformed, of another type, of another team, or of nothing: all the same."""

import asyncio
import base64
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from data.store import Store
from tests.api.samples import (
    ERRORS,
    assignment,
    gid,
    input_type,
    nothing_written,
    project,
    raw,
    resource,
)
from tests.api_client import Api, Capture, everything, put
from tests.tombstones import deletions, remaining

# What a client may send in place of a global id of the type, be it by mistake or not (D-12).
MALFORMED: dict[str, Callable[[str], str]] = {
    "empty": lambda _: "",
    "a space": lambda _: " ",
    "a delimiter": lambda _: "#",
    "keys": lambda _: "a#ASSIGNMENT#b",
    "a sort key": lambda _: "RES#1",
    "a raw id": lambda _: NOBODY,
    "a null byte": lambda _: "a\u0000",
    "a lone surrogate": lambda _: "\ud800",
    "not ASCII": lambda _: "Ресурс",
    "1,100 bytes": lambda _: "x" * 1_100,
    "a delimiter inside": lambda kind: gid(kind, "a#ASSIGNMENT#b"),
    "only a delimiter inside": lambda kind: gid(kind, "#"),
    "nothing inside": lambda kind: gid(kind, ""),
    "a null byte inside": lambda kind: gid(kind, "a\u0000"),
    "1,100 bytes inside": lambda kind: gid(kind, "x" * 1_100),
    "no type": lambda _: gid("a", "b"),
    "the root": lambda _: gid("Query", "1"),
    "lower case": lambda kind: gid(kind.lower(), "1"),
    "a membership": lambda _: gid("Membership", "user-1"),
    "padded": lambda kind: gid(kind, "1") + "=" * (-len(gid(kind, "1")) % 4 or 4),
    "not UTF-8": lambda kind: base64.urlsafe_b64encode(f"{kind}:".encode() + b"\xff").decode(),
    "a character less": lambda kind: gid(kind, "1")[:-1],
    "a line break more": lambda kind: gid(kind, "1") + "\n",
}
NOBODY = "0198c0de-0000-7000-8000-000000000000"
TYPES = ("Resource", "Project", "Assignment")
DAYS = {"startDate": "2024-01-10", "endDate": "2024-01-12"}


def lookups(type: str, id: str) -> dict[str, dict[str, Any]]:
    """Each mutation that is about an existing object of the type."""
    found: dict[str, dict[str, Any]] = {f"update{type}": {"id": id}, f"delete{type}": {"id": id}}
    if type != "Assignment":
        owner = f"{type.lower()}Id"
        others = {"resourceId": gid("Resource", "r"), "projectId": gid("Project", "p")}
        found |= {
            "createAssignment": others | DAYS | {owner: id},
            "updateAssignment": {"id": gid("Assignment", "a"), owner: id},
        }
    return found


async def seed(store: Store, team: str) -> None:
    await put(store, team, [resource("r"), project("p"), assignment("2024-01-10", 3, id="a")])


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("made", MALFORMED.values(), ids=MALFORMED.keys())
async def test_malformed_id_is_not_found_and_nothing_is_asked(
    api: Api, captured: Capture, type: str, made: Callable[[str], str]
) -> None:
    id = made(type)
    for mutation, input in lookups(type, id).items():
        (error,) = (await api.mutate(mutation, ERRORS, **input))["errors"]
        assert error["code"] == "NOT_FOUND"
        assert error["message"] == f"there is no such {type.lower()}"
        assert input[error["field"][0]] == id
    document = "query($i: ID!) { node(id: $i) { id } nodes(ids: [$i]) { id } }"
    assert await api.data(document, i=id) == {"node": None, "nodes": [None]}
    assert captured.requests == []


@pytest.mark.parametrize("type", TYPES)
async def test_id_of_another_type_is_not_found_even_if_the_raw_id_exists(
    api: Api, store: Store, type: str
) -> None:
    await put(
        store,
        api.team,
        [resource("1"), project("1"), assignment("2024-01-10", id="1", resource="1", project="1")],
    )
    async with nothing_written(store, api.team):
        for other in {*TYPES, "Team"} - {type}:
            for mutation, input in lookups(type, gid(other, "1")).items():
                (error,) = (await api.mutate(mutation, ERRORS, **input))["errors"]
                assert (error["code"], input[error["field"][0]]) == ("NOT_FOUND", gid(other, "1"))


@pytest.mark.parametrize("type", TYPES)
async def test_id_of_another_team_answers_byte_for_byte_as_one_that_never_existed(
    api: Api, stranger: Api, store: Store, type: str
) -> None:
    await seed(store, api.team)
    theirs = "0198c0de-0000-7000-8000-00000000cafe"
    await put(
        store,
        stranger.team,
        [
            resource(theirs),
            project(theirs),
            assignment("2024-01-10", id=theirs, resource=theirs, project=theirs),
        ],
    )
    node = "query($i: ID!) { node(id: $i) { id __typename } }"
    async with nothing_written(store, api.team, stranger.team):
        answers = []
        for id in (gid(type, theirs), gid(type, NOBODY)):
            documents: list[tuple[str, dict[str, Any]]] = [(node, {"i": id})]
            for mutation, input in lookups(type, id).items():
                declared = f"mutation($i: {input_type(mutation)}!)"
                document = f"{declared} {{ {mutation}(input: $i) {{ {ERRORS} }} }}"
                documents.append((document, {"i": input}))
            answers.append([(await api.post(*each)).content for each in documents])
        assert answers[0] == answers[1]
    assert (await stranger.data(node, i=gid(type, theirs)))["node"]["id"] == gid(type, theirs)


async def test_deleting_resource_1_does_not_touch_what_is_of_resource_10(
    api: Api, store: Store
) -> None:
    await put(
        store,
        api.team,
        [
            *(resource("1"), resource("10"), project("p")),
            assignment("2024-01-10", id="1", resource="10"),
            assignment("2024-01-10", id="10", resource="1"),
        ],
    )
    payload = await api.mutate("deleteResource", "deletedAssignmentIds", id=gid("Resource", "1"))
    assert payload["deletedAssignmentIds"] == [gid("Assignment", "10")]
    left = [item["sk"]["S"] for item in await remaining(store, api.team)]
    assert left == ["ASN#2024-01-10#1", "PRJ#p", "RES#10"]
    gone = [("Assignment", "10", 2, "user-1"), ("Resource", "1", 2, "user-1")]
    assert await deletions(store, api.team) == gone


@pytest.mark.parametrize(
    "id", ["", " ", "1", "a#b", "{uuid}x", "urn:uuid:{uuid}", "\ud800", "{uuid}\n"]
)
@pytest.mark.parametrize("mutation", ["createResource", "createProject", "createAssignment"])
async def test_client_id_that_is_no_uuid_is_invalid_and_nothing_is_asked(
    api: Api, captured: Capture, mutation: str, id: str
) -> None:
    inputs: dict[str, dict[str, Any]] = {
        "createResource": {"name": "x"},
        "createProject": {"name": "x", "color": "#123456"},
        "createAssignment": lookups("Project", gid("Project", "p"))["createAssignment"],
    }
    payload = await api.mutate(
        mutation, ERRORS, **inputs[mutation], id=id.replace("{uuid}", NOBODY)
    )
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [("INVALID", ["id"])]
    assert captured.requests == []


CREATES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("createResource", {"name": "Ada"}, {"name": "Grace"}),
    ("createProject", {"name": "x", "color": "#123456", "tags": ["a"]}, {"tags": ["b"]}),
    ("createAssignment", DAYS, {"endDate": "2024-01-13"}),
    ("createAssignment", DAYS, {"startDate": "2024-01-11"}),
    ("createAssignment", DAYS | {"note": "a"}, {"note": None}),
]


@pytest.mark.parametrize(("mutation", "input", "change"), CREATES)
@pytest.mark.parametrize("upper", [False, True])
async def test_same_create_with_a_client_id_gives_one_item_and_one_answer(
    api: Api,
    store: Store,
    mutation: str,
    input: dict[str, Any],
    change: dict[str, Any],
    upper: bool,
) -> None:
    await seed(store, api.team)
    type = mutation.removeprefix("create")
    if type == "Assignment":
        input = input | {"resourceId": gid("Resource", "r"), "projectId": gid("Project", "p")}
    client_id = str(uuid.uuid4())
    input = input | {"id": client_id.upper() if upper else client_id}
    selection = f"{type.lower()} {{ id version createdAt }} {ERRORS}"
    together = await asyncio.gather(*(api.mutate(mutation, selection, **input) for _ in range(5)))
    afterwards = await api.mutate(mutation, selection, **input)
    assert all(each == afterwards for each in together)
    assert afterwards["errors"] == []
    assert raw(afterwards[type.lower()]["id"]) == client_id
    async with nothing_written(store, api.team):
        other = await api.mutate(mutation, selection, **(input | change))
    assert [(each["code"], each["field"]) for each in other["errors"]] == [("CONFLICT", ["id"])]
    items = [e for e in await everything(store, api.team) if e["id"] == {"S": client_id}]
    assert len(items) == 1
    assert items[0]["version"] == {"N": "1"}


async def test_two_creates_at_once_with_one_id_and_different_days_never_make_two_items(
    api: Api, store: Store
) -> None:
    # The sort key, which begins with the day, would guard each day for itself.
    await seed(store, api.team)
    client_id = str(uuid.uuid4())
    input = lookups("Project", gid("Project", "p"))["createAssignment"] | {"id": client_id}
    await asyncio.gather(
        *(
            api.mutate("createAssignment", ERRORS, **(input | {"startDate": f"2024-01-0{day}"}))
            for day in range(1, 5)
        )
    )
    items = [e for e in await everything(store, api.team) if e["id"] == {"S": client_id}]
    assert len(items) == 1
