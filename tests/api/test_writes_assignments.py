"""createAssignment, deleteAssignment: what is stored, and what is refused."""

from collections.abc import Mapping
from typing import Any

import pytest

from data.store import Store
from tests.api.samples import ERRORS, gid, nothing_written, raw
from tests.api_client import Api, everything, put
from tests.tombstones import remaining

ASSIGNMENT = """assignment { id resourceId projectId startDate endDate endDateExclusive note
  version createdAt updatedAt resource { id name } project { id name color } }"""


async def owners(api: Api) -> dict[str, Any]:
    return {"resourceId": await api.resource(), "projectId": await api.project()}


async def test_created_assignment_is_stored_half_open_with_its_type_stamps_and_version(
    api: Api, store: Store
) -> None:
    of = await owners(api)
    payload = await api.mutate(
        "createAssignment",
        f"{ASSIGNMENT} {ERRORS}",
        **of,
        startDate="2024-01-10",
        endDate="2024-01-12",
        note="First\n\tsecond",
    )
    assert payload["errors"] == []
    created = payload["assignment"]
    item = (await everything(store, api.team))[0]
    moment = item["createdAt"]
    assert created == {
        "id": created["id"],
        **of,
        "startDate": "2024-01-10",
        "endDate": "2024-01-12",
        "endDateExclusive": "2024-01-13",
        "note": "First\n\tsecond",
        "version": 1,
        "createdAt": moment["S"],
        "updatedAt": moment["S"],
        "resource": {"id": of["resourceId"], "name": "Ada"},
        "project": {"id": of["projectId"], "name": "Bridge", "color": "#336699"},
    }
    id = raw(created["id"])
    assert item == {
        "pk": {"S": f"TEAM#{api.team}"},
        "sk": {"S": f"ASN#2024-01-10#{id}"},
        "EntityType": {"S": "Assignment"},
        "id": {"S": id},
        "resourceId": {"S": raw(of["resourceId"])},
        "projectId": {"S": raw(of["projectId"])},
        "startDate": {"S": "2024-01-10"},
        "endDateExclusive": {"S": "2024-01-13"},
        "note": {"S": "First\n\tsecond"},
        "version": {"N": "1"},
        "createdAt": moment,
        "updatedAt": moment,
        "updatedBy": {"S": "user-1"},
    }


@pytest.mark.parametrize(("last", "long_end"), [("2024-03-02", None), ("2024-03-03", "2024-03-04")])
async def test_long_end_is_stored_only_with_more_than_62_days(
    api: Api, store: Store, last: str, long_end: str | None
) -> None:
    await api.assignment(**rename(await owners(api)), start="2024-01-01", end=last)
    item = (await everything(store, api.team))[0]
    assert item.get("longEnd") == ({"S": long_end} if long_end else None)


def rename(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"resource": of["resourceId"], "project": of["projectId"]}


@pytest.mark.parametrize("note", [{}, {"note": None}, {"note": ""}])
async def test_unset_note_is_absent_never_empty(
    api: Api, store: Store, note: dict[str, Any]
) -> None:
    await api.assignment(**rename(await owners(api)), start="2024-01-01", end="2024-01-01", **note)
    item = (await everything(store, api.team))[0]
    assert item["EntityType"] == {"S": "Assignment"}
    assert not {"note", "longEnd"} & item.keys()
    answer = await api.data("{ team { assignments { note } } }")
    assert answer["team"]["assignments"] == [{"note": None}]


BAD: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"endDate": "2024-01-09"}, "INVALID", ["endDate"]),
    ({"startDate": "1899-12-31"}, "INVALID", ["startDate"]),
    ({"endDate": "9999-12-31"}, "INVALID", ["endDate"]),
    ({"note": "x" * 2_001}, "INVALID", ["note"]),
    ({"note": "x" * 9_000}, "INVALID", ["note"]),
    ({"note": "a\x07b"}, "INVALID", ["note"]),
    ({"resourceId": gid("Resource", "nobody")}, "NOT_FOUND", ["resourceId"]),
    ({"projectId": gid("Project", "nothing")}, "NOT_FOUND", ["projectId"]),
    ({"resourceId": "nonsense"}, "NOT_FOUND", ["resourceId"]),
    ({"projectId": ""}, "NOT_FOUND", ["projectId"]),
    ({"id": "not-a-uuid"}, "INVALID", ["id"]),
]


@pytest.mark.parametrize(("change", "code", "field"), BAD)
async def test_bad_value_of_an_assignment_is_refused_and_nothing_is_written(
    api: Api, store: Store, change: dict[str, Any], code: str, field: list[str]
) -> None:
    of = await owners(api)
    good = of | {"startDate": "2024-01-10", "endDate": "2024-01-12"}
    async with nothing_written(store, api.team):
        payload = await api.mutate("createAssignment", f"{ASSIGNMENT} {ERRORS}", **(good | change))
    assert payload["assignment"] is None
    (error,) = payload["errors"]
    assert (error["code"], error["field"]) == (code, field)


@pytest.mark.parametrize(("change", "code", "field"), BAD[:-1])
async def test_bad_value_in_an_update_is_refused_and_nothing_is_written(
    api: Api, store: Store, change: dict[str, Any], code: str, field: list[str]
) -> None:
    of = await owners(api)
    id = await api.assignment(**rename(of), start="2024-01-10", end="2024-01-12")
    async with nothing_written(store, api.team):
        payload = await api.mutate("updateAssignment", f"{ASSIGNMENT} {ERRORS}", id=id, **change)
    assert payload["assignment"] is None
    (error,) = payload["errors"]
    assert (error["code"], error["field"]) == (code, field)


async def test_both_unknown_owners_are_told_at_once(api: Api, store: Store) -> None:
    async with nothing_written(store, api.team):
        payload = await api.mutate(
            "createAssignment",
            ERRORS,
            resourceId=gid("Resource", "nobody"),
            projectId=gid("Project", "nothing"),
            startDate="2024-01-10",
            endDate="2024-01-12",
        )
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [
        ("NOT_FOUND", ["resourceId"]),
        ("NOT_FOUND", ["projectId"]),
    ]


@pytest.mark.parametrize("owner", ["RES#{resourceId}", "PRJ#{projectId}"])
async def test_owner_that_is_being_deleted_gets_no_assignment(
    api: Api, store: Store, owner: str
) -> None:
    of = await owners(api)
    sk = owner.format(**{name: raw(id) for name, id in of.items()})
    (item,) = [each for each in await everything(store, api.team) if each["sk"] == {"S": sk}]
    await put(store, api.team, [item | {"deletingAt": {"S": "2999-01-01T00:00:00.000Z"}}])
    async with nothing_written(store, api.team):
        payload = await api.mutate(
            "createAssignment", ERRORS, **of, startDate="2024-01-10", endDate="2024-01-12"
        )
    field = "resourceId" if owner.startswith("RES") else "projectId"
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [("NOT_FOUND", [field])]


async def test_overlapping_assignments_of_one_resource_are_both_stored(api: Api) -> None:
    of = rename(await owners(api))
    made = [await api.assignment(**of, start="2024-01-10", end="2024-01-12") for _ in range(3)]
    answer = await api.data("{ team { assignments { id } } }")
    assert [each["id"] for each in answer["team"]["assignments"]] == made


async def test_deleting_an_assignment_again_is_no_error(api: Api, store: Store) -> None:
    id = await api.assignment(**rename(await owners(api)), start="2024-01-10", end="2024-01-12")
    gone = {"deletedAssignmentId": id, "errors": []}
    selection = f"deletedAssignmentId {ERRORS}"
    assert await api.mutate("deleteAssignment", selection, id=id) == gone
    left = [each["sk"]["S"][:4] for each in await remaining(store, api.team)]
    assert left == ["PRJ#", "RES#"]
    async with nothing_written(store, api.team):
        assert await api.mutate("deleteAssignment", selection, id=id) == gone


async def test_a_write_is_in_the_very_next_read(api: Api) -> None:
    of = rename(await owners(api))
    made = []
    for day in range(1, 21):
        made.append(await api.assignment(**of, start=f"2024-01-{day:02}", end="2024-05-01"))
        answer = await api.data('{ team { assignments(from: "2024-01-01") { id } } }')
        assert [each["id"] for each in answer["team"]["assignments"]] == made


async def test_selection_of_a_mutation_is_checked_before_anything_is_written(
    api: Api, store: Store
) -> None:
    async with nothing_written(store, api.team):
        answer = await api.run(
            """mutation { createResource(input: {name: "x"}) { errors { code } resource {
            assignments(from: "2024-02-01", to: "2024-01-01") { id } } } }"""
        )
    (error,) = answer["errors"]
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": ["from"]}
