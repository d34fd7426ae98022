"""Several writes in one call: all or none, or in chunks that can be taken up again."""

import uuid
from datetime import date, timedelta
from typing import Any

import pytest

from data.entities import Assignment, EntityType, Project, Resource
from data.store import Store
from data.transactions import MAX_ACTIONS
from resolvers.global_ids import to_global_id
from tests.api_client import Api, Capture, everything, put
from tests.store.scenarios import STAMPS, assignment
from tests.tombstones import deletions

DAY = date(2024, 3, 1)
ERRORS = "errors { code field message }"


def gid(type: str, id: str) -> str:
    return to_global_id(EntityType(type), id)


async def plan(store: Store, team: str, count: int) -> None:
    """One project of two people, and `count` assignments of it, one a day."""
    await put(
        store,
        team,
        [
            Resource(id="r1", name="Ada", **STAMPS),
            Resource(id="r2", name="Ben", **STAMPS),
            Project(id="p1", name="Bridge", color="#000000", **STAMPS),
            *(
                assignment(f"a{n:02}", DAY + timedelta(n), DAY + timedelta(n + 2), "r1", "p1")
                for n in range(count)
            ),
        ],
    )


async def update(api: Api, *patches: dict[str, Any]) -> dict[str, Any]:
    return await api.mutate(
        "updateAssignments",
        f"assignments {{ id startDate endDate version resource {{ name }} }} {ERRORS}",
        patches=list(patches),
    )


async def test_patches_are_written_in_one_transaction(
    api: Api, store: Store, captured: Capture
) -> None:
    await plan(store, api.team, 25)
    patches = [
        {
            "id": gid("Assignment", f"a{n:02}"),
            "startDate": str(DAY + timedelta(n - 1)),
            "resourceId": gid("Resource", "r2"),
        }
        for n in range(25)
    ]
    payload = await update(api, *patches)
    assert payload["errors"] == []
    assert [each["id"] for each in payload["assignments"]] == [each["id"] for each in patches]
    assert {each["resource"]["name"] for each in payload["assignments"]} == {"Ben"}
    assert {each["version"] for each in payload["assignments"]} == {2}
    [transaction] = [p for name, p in captured.requests if name == "TransactWriteItems"]
    assert len(transaction["TransactItems"]) <= MAX_ACTIONS


async def test_one_bad_patch_and_nothing_is_written(api: Api, store: Store) -> None:
    await plan(store, api.team, 3)
    before = await everything(store, api.team)
    payload = await update(
        api,
        {"id": gid("Assignment", "a00"), "note": "fine"},
        {"id": gid("Assignment", "a01"), "endDate": str(DAY)},
        {"id": gid("Assignment", "nobody"), "note": "fine"},
        {"id": gid("Assignment", "a02"), "expectedVersion": 7, "note": "fine"},
    )
    assert payload["assignments"] == []
    assert [(error["code"], error["field"]) for error in payload["errors"]] == [
        ("INVALID", ["patches", "1", "endDate"]),
        ("NOT_FOUND", ["patches", "2", "id"]),
        ("CONFLICT", ["patches", "3", "expectedVersion"]),
    ]
    assert await everything(store, api.team) == before


async def test_an_owner_that_is_not_there_is_named_in_each_patch_that_names_it(
    api: Api, store: Store
) -> None:
    await plan(store, api.team, 3)
    before = await everything(store, api.team)
    nobody = gid("Resource", str(uuid.uuid4()))
    payload = await update(
        api,
        {"id": gid("Assignment", "a00"), "resourceId": nobody},
        {"id": gid("Assignment", "a01"), "note": "fine"},
        {"id": gid("Assignment", "a02"), "resourceId": nobody},
    )
    assert [(error["code"], error["field"]) for error in payload["errors"]] == [
        ("NOT_FOUND", ["patches", "0", "resourceId"]),
        ("NOT_FOUND", ["patches", "2", "resourceId"]),
    ]
    assert await everything(store, api.team) == before


@pytest.mark.parametrize(
    ("ids", "code", "field"),
    [
        (["a00", "a00"], "INVALID", ["patches", "1", "id"]),
        ([f"a{n:02}" for n in range(26)], "LIMIT_EXCEEDED", ["patches"]),
    ],
    ids=["twice the same", "too many"],
)
async def test_patches_that_no_transaction_can_hold_are_refused_before_any_request(
    api: Api, captured: Capture, ids: list[str], code: str, field: list[str]
) -> None:
    payload = await update(api, *({"id": gid("Assignment", id), "note": "x"} for id in ids))
    assert [(error["code"], error["field"]) for error in payload["errors"]] == [(code, field)]
    assert captured.requests == []


async def test_no_patches_are_no_write(api: Api, captured: Capture) -> None:
    assert await update(api) == {"assignments": [], "errors": []}
    assert captured.requests == []


async def shift(api: Api, **input: Any) -> dict[str, Any]:
    return await api.mutate(
        "shiftProject",
        f"project {{ name }} shiftedCount shiftedAssignmentIds isDone operationId {ERRORS}",
        id=gid("Project", "p1"),
        **input,
    )


async def starts(store: Store, team: str) -> dict[str, tuple[str, str]]:
    """First day and end of every stored assignment."""
    return {
        item["id"]["S"]: (item["startDate"]["S"], item["endDateExclusive"]["S"])
        for item in await everything(store, team)
        if item["EntityType"]["S"] == "Assignment"
    }


@pytest.mark.parametrize("days", [10, -10, 1])
async def test_a_shift_moves_what_starts_on_or_after_the_day_and_says_how_many(
    api: Api, store: Store, days: int
) -> None:
    await plan(store, api.team, 70)
    before = await starts(store, api.team)
    first = DAY + timedelta(20)
    payload = await shift(api, days=days, **{"from": str(first)})
    assert (payload["errors"], payload["isDone"], payload["shiftedCount"]) == ([], True, 50)
    by = timedelta(days)
    expected = {
        id: (start, end)
        if start < str(first)
        else (str(date.fromisoformat(start) + by), str(date.fromisoformat(end) + by))
        for id, (start, end) in before.items()
    }
    assert await starts(store, api.team) == expected


async def test_the_same_shift_again_moves_nothing_twice(api: Api, store: Store) -> None:
    await plan(store, api.team, 40)
    operation = str(uuid.uuid4())
    first = await shift(api, days=3, operationId=operation)
    moved = await starts(store, api.team)
    again = await shift(api, days=3, operationId=operation)
    assert (first["shiftedCount"], again["shiftedCount"], again["isDone"]) == (40, 0, True)
    assert await starts(store, api.team) == moved
    another = await shift(api, days=3)
    assert another["shiftedCount"] == 40
    assert another["operationId"] not in (None, operation)


async def test_a_shift_that_was_done_stays_done_whatever_came_after(api: Api, store: Store) -> None:
    await plan(store, api.team, 3)
    one, other = str(uuid.uuid4()), str(uuid.uuid4())
    assert (await shift(api, days=10, operationId=one))["shiftedCount"] == 3
    assert (await shift(api, days=1, operationId=other))["shiftedCount"] == 3
    await put(store, api.team, [assignment("new", DAY, DAY + timedelta(1), "r1", "p1")])
    before = await starts(store, api.team)
    again = await shift(api, days=10, operationId=one)
    assert (again["shiftedCount"], again["isDone"], again["errors"]) == (0, True, [])
    assert await starts(store, api.team) == before


@pytest.mark.parametrize("other", [{"days": 8}, {"days": 7, "from": "2024-03-02"}])
async def test_the_id_of_one_shift_is_not_that_of_another(
    api: Api, store: Store, other: dict[str, Any]
) -> None:
    await plan(store, api.team, 3)
    operation = str(uuid.uuid4())
    await shift(api, days=7, operationId=operation)
    before = await everything(store, api.team)
    payload = await shift(api, operationId=operation, **other)
    assert [(e["code"], e["field"]) for e in payload["errors"]] == [("CONFLICT", ["operationId"])]
    assert await everything(store, api.team) == before


async def test_what_stays_anyway_does_not_keep_the_rest_from_the_end_of_the_calendar(
    api: Api, store: Store
) -> None:
    await plan(store, api.team, 3)
    last = assignment("z", date(9999, 12, 1), date(9999, 12, 31), "gone", "p1")
    await put(store, api.team, [last])
    payload = await shift(api, days=5)
    assert (payload["shiftedCount"], payload["isDone"], payload["errors"]) == (3, True, [])


async def test_a_shift_out_of_the_calendar_is_refused_and_nothing_moves(
    api: Api, store: Store
) -> None:
    await plan(store, api.team, 3)
    before = await everything(store, api.team)
    for days in (3_000_000, -3_000_000, 2**31 - 1, -(2**31)):
        payload = await shift(api, days=days)
        assert [(e["code"], e["field"]) for e in payload["errors"]] == [("INVALID", ["days"])]
    assert await everything(store, api.team) == before


async def test_what_has_no_resource_any_more_stays_and_does_not_hold_up_the_rest(
    api: Api, store: Store
) -> None:
    await plan(store, api.team, 40)
    await put(store, api.team, [assignment("z", DAY, DAY + timedelta(1), "gone", "p1")])
    payload = await shift(api, days=5)
    assert (payload["shiftedCount"], payload["isDone"]) == (40, True)
    assert (await starts(store, api.team))["z"] == (str(DAY), str(DAY + timedelta(1)))


async def test_a_shift_of_no_project_is_not_found(api: Api) -> None:
    payload = await shift(api, days=1)
    assert [(e["code"], e["field"]) for e in payload["errors"]] == [("NOT_FOUND", ["id"])]


async def test_a_resource_with_2500_assignments_goes_in_chunks_and_every_id_is_told(
    api: Api, store: Store, captured: Capture
) -> None:
    many: list[Assignment] = [
        assignment(f"b{n}", DAY + timedelta(n % 900), DAY + timedelta(n % 900 + 5), "r1", "p1")
        for n in range(2_500)
    ]
    await plan(store, api.team, 1)
    await put(store, api.team, many)
    captured.clear()
    payload = await api.mutate(
        "deleteResource", f"deletedAssignmentIds {ERRORS}", id=gid("Resource", "r1")
    )
    assert payload["errors"] == []
    ids = payload["deletedAssignmentIds"]
    assert len(ids) == len(set(ids)) == 2_501
    chunks = [
        len(p["TransactItems"]) for name, p in captured.requests if name == "TransactWriteItems"
    ]
    # 49 of 2,501 go at once, and the last two with their owner.
    assert chunks == [1 + 2 * 49] * 51 + [2 + 2 * 2]
    assert await starts(store, api.team) == {}
    said = await deletions(store, api.team)
    assert len(said) == len({each[:2] for each in said}) == 2_502
    assert {each[2:] for each in said} == {(2, "user-1")}
