"""Updates are field-wise and guarded: no change is lost, nothing is created or brought back."""

import asyncio
from typing import Any

import pytest

from data.expressions import Item
from data.store import Store
from tests.api.samples import ERRORS, assignment, gid, nothing_written, project, raw, resource
from tests.api_client import Api, everything, put
from tests.tombstones import Deleted, deletions, remaining

DAYS = "assignment { startDate endDate endDateExclusive note version }"


async def booked(api: Api, start: str = "2024-01-10", end: str = "2024-01-12") -> str:
    return await api.assignment(await api.resource(), await api.project(), start, end, note="n")


async def test_absent_fields_of_an_assignment_stay_and_null_clears_its_note(
    api: Api, store: Store
) -> None:
    id = await booked(api)
    kept = {"startDate": "2024-01-10", "endDate": "2024-01-12", "endDateExclusive": "2024-01-13"}
    payload = await api.mutate("updateAssignment", f"{DAYS} {ERRORS}", id=id)
    assert payload == {"assignment": kept | {"note": "n", "version": 1}, "errors": []}
    payload = await api.mutate("updateAssignment", f"{DAYS} {ERRORS}", id=id, note=None)
    assert payload == {"assignment": kept | {"note": None, "version": 2}, "errors": []}
    assert "note" not in (await everything(store, api.team))[0]


@pytest.mark.parametrize("field", ["resourceId", "projectId", "startDate", "endDate"])
async def test_null_is_invalid_for_what_an_assignment_must_have(
    api: Api, store: Store, field: str
) -> None:
    id = await booked(api)
    async with nothing_written(store, api.team):
        payload = await api.mutate("updateAssignment", f"{DAYS} {ERRORS}", id=id, **{field: None})
    assert payload["assignment"] is None
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [("INVALID", [field])]


UPDATES: list[tuple[str, dict[str, Any]]] = [
    ("updateResource", {"name": "Grace"}),
    ("updateProject", {"color": "#000000"}),
    ("updateAssignment", {"note": "new"}),
    ("updateAssignment", {"startDate": "2024-01-09"}),
]


@pytest.mark.parametrize(("mutation", "change"), UPDATES)
async def test_expected_version_that_is_no_longer_so_is_a_conflict_and_nothing_is_written(
    api: Api, store: Store, mutation: str, change: dict[str, Any]
) -> None:
    await put(store, api.team, [resource("r"), project("p"), assignment("2024-01-10", 3, id="a")])
    type = mutation.removeprefix("update")
    input = {"id": gid(type, type[0].lower())} | change
    selection = f"{type.lower()} {{ version }} {ERRORS}"
    async with nothing_written(store, api.team):
        for stale in (0, 2, -1):
            payload = await api.mutate(mutation, selection, **input, expectedVersion=stale)
            assert payload[type.lower()] is None
            (error,) = payload["errors"]
            assert (error["code"], error["field"]) == ("CONFLICT", ["expectedVersion"])
    written = {type.lower(): {"version": 2}, "errors": []}
    assert await api.mutate(mutation, selection, **input, expectedVersion=1) == written
    async with nothing_written(store, api.team):  # It is what it would become.
        for expected in (2, None):
            payload = await api.mutate(mutation, selection, **input, expectedVersion=expected)
            assert payload == written


@pytest.mark.parametrize(("mutation", "change"), UPDATES)
async def test_of_two_updates_at_once_on_one_version_exactly_one_is_written(
    api: Api, store: Store, mutation: str, change: dict[str, Any]
) -> None:
    await put(store, api.team, [resource("r"), project("p"), assignment("2024-01-10", 3, id="a")])
    type = mutation.removeprefix("update")
    input = {"id": gid(type, type[0].lower()), "expectedVersion": 1} | change
    payloads = await asyncio.gather(*(api.mutate(mutation, ERRORS, **input) for _ in range(2)))
    assert sorted(len(each["errors"]) for each in payloads) == [0, 1]
    assert {e["code"] for each in payloads for e in each["errors"]} == {"CONFLICT"}
    versions = [item["version"] for item in await everything(store, api.team)]
    assert sorted(each["N"] for each in versions) == ["1", "1", "2"]


@pytest.mark.engines("local")
async def test_two_editors_of_different_fields_both_keep_their_change_100_times(
    api: Api, store: Store
) -> None:
    id = await booked(api, "2024-01-10", "2024-03-31")
    owner, job = await api.resource("Grace"), await api.project("Tunnel")
    for n in range(100):
        end = f"2024-03-{n % 30 + 1:02}"
        edits = [{"note": f"note {n}"}, {"endDate": end}]
        # Every third time the day it begins moves too, which writes a new item.
        edits += [{"startDate": f"2024-02-{n % 28 + 1:02}"}] * (n % 3 == 0)
        payloads = await asyncio.gather(
            *(api.mutate("updateAssignment", ERRORS, id=id, **edit) for edit in edits)
        )
        assert all(each == {"errors": []} for each in payloads), payloads
        answer = await api.data("{ team { assignments { note startDate endDate } } }")
        assert answer["team"]["assignments"] == [
            {"note": f"note {n}", "endDate": end, "startDate": f"2024-02-{n // 3 * 3 % 28 + 1:02}"}
        ]
    names = [
        api.mutate("updateProject", ERRORS, id=job, name="Bridge"),
        api.mutate("updateProject", ERRORS, id=job, color="#ABCDEF"),
        api.mutate("updateProject", ERRORS, id=job, tags=["a"]),
        api.mutate("updateProject", ERRORS, id=job, description="d"),
        api.mutate("updateResource", ERRORS, id=owner, name="Hedy"),
    ]
    assert await asyncio.gather(*names) == [{"errors": []}] * 5
    stored = {item["id"]["S"]: item for item in await everything(store, api.team)}
    changed = {
        name: stored[raw(job)].get(name) for name in ("name", "color", "tags", "description")
    }
    assert changed == {
        "name": {"S": "Bridge"},
        "color": {"S": "#ABCDEF"},
        "tags": {"L": [{"S": "a"}]},
        "description": {"S": "d"},
    }
    assert stored[raw(job)]["version"] == {"N": "5"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"startDate": "2024-01-13"}, "startDate"),
        ({"endDate": "2024-01-09"}, "endDate"),
        ({"startDate": "2024-01-20", "endDate": "2024-01-19"}, "endDate"),
    ],
)
async def test_end_before_start_is_invalid_against_what_is_stored(
    api: Api, store: Store, change: dict[str, Any], field: str
) -> None:
    id = await booked(api)
    async with nothing_written(store, api.team):
        payload = await api.mutate("updateAssignment", f"{DAYS} {ERRORS}", id=id, **change)
    assert payload["assignment"] is None
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [("INVALID", [field])]


async def test_two_one_sided_updates_at_once_never_give_a_negative_range(
    api: Api, store: Store
) -> None:
    id = await booked(api, "2024-01-10", "2024-01-20")
    for _ in range(6):
        payloads = await asyncio.gather(
            api.mutate("updateAssignment", ERRORS, id=id, startDate="2024-01-18"),
            api.mutate("updateAssignment", ERRORS, id=id, endDate="2024-01-12"),
        )
        refused = [error for payload in payloads for error in payload["errors"]]
        assert [error["code"] for error in refused] == ["INVALID"]
        item = (await everything(store, api.team))[0]
        assert item["startDate"]["S"] < item["endDateExclusive"]["S"]
        payload = await api.mutate(
            "updateAssignment", ERRORS, id=id, startDate="2024-01-10", endDate="2024-01-20"
        )
        assert payload == {"errors": []}


@pytest.mark.parametrize("change", [{"note": "back"}, {"startDate": "2024-01-09"}])
async def test_update_and_delete_at_once_never_bring_an_assignment_back(
    api: Api, store: Store, change: dict[str, str]
) -> None:
    owners = await api.resource(), await api.project()
    said: list[Deleted] = []
    for _ in range(5):
        id = await api.assignment(*owners, "2024-01-10", "2024-01-12")
        gone, payload = await asyncio.gather(
            api.mutate("deleteAssignment", ERRORS, id=id),
            api.mutate("updateAssignment", ERRORS, id=id, **change),
        )
        assert gone == {"errors": []}
        assert [each["code"] for each in payload["errors"]] in ([], ["NOT_FOUND"])
        left = [each["sk"]["S"][:4] for each in await remaining(store, api.team)]
        assert left == ["PRJ#", "RES#"]
        # An update that succeeded came first, and the deletion is of the version after it.
        version = 3 if payload["errors"] == [] else 2
        said.append(("Assignment", raw(id), version, "user-1"))
        assert await deletions(store, api.team) == sorted(said)


@pytest.mark.parametrize("type", ["Resource", "Project"])
async def test_update_and_delete_at_once_never_bring_an_owner_back(
    api: Api, store: Store, type: str
) -> None:
    said: list[Deleted] = []
    for _ in range(5):
        id = await (api.resource() if type == "Resource" else api.project())
        gone, payload = await asyncio.gather(
            api.mutate(f"delete{type}", ERRORS, id=id),
            api.mutate(f"update{type}", ERRORS, id=id, name="back"),
        )
        assert gone == {"errors": []}
        assert [each["code"] for each in payload["errors"]] in ([], ["NOT_FOUND"])
        assert await remaining(store, api.team) == []
        version = 3 if payload["errors"] == [] else 2
        said.append((type, raw(id), version, "user-1"))
        assert await deletions(store, api.team) == sorted(said)


@pytest.mark.parametrize("type", ["Resource", "Project"])
async def test_owner_that_is_being_deleted_is_not_found_by_an_update(
    api: Api, store: Store, type: str
) -> None:
    await put(store, api.team, [resource("r"), project("p")])
    mark: Item = {"deletingAt": {"S": "2999-01-01T00:00:00.000Z"}}
    await put(store, api.team, [item | mark for item in await everything(store, api.team)])
    async with nothing_written(store, api.team):
        payload = await api.mutate(f"update{type}", ERRORS, id=gid(type, type[0].lower()), name="x")
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [("NOT_FOUND", ["id"])]


async def test_a_mutation_that_fails_does_not_hide_what_another_of_the_document_wrote(
    api: Api, store: Store
) -> None:
    crossed = 'assignments(from: "2024-02-02", to: "2024-01-01") { id }'
    answer = await api.run(
        'mutation { a: createResource(input: {name: "Ada"}) { resource { name } }'
        f' b: createResource(input: {{name: "Bo"}}) {{ resource {{ {crossed} }} }} }}'
    )
    assert answer["data"] == {"a": {"resource": {"name": "Ada"}}, "b": None}
    assert [error["path"] for error in answer["errors"]] == [["b"]]
    names = [item["name"] for item in await everything(store, api.team)]
    assert names == [{"S": "Ada"}]
