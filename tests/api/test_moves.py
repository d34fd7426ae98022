"""Moving an assignment changes its sort key and never its id."""

import asyncio
from typing import Any

import pytest

from data.expressions import Item, s
from data.store import Store
from tests.api.samples import ERRORS, gid, nothing_written, raw
from tests.api_client import Api, everything

ASSIGNMENT = """assignment { id startDate endDate note version createdAt
  resource { id } project { id } }"""


async def stored(store: Store, team: str) -> list[Item]:
    """The assignments of the team."""
    return [e for e in await everything(store, team) if e["sk"]["S"].startswith("ASN#")]


async def test_moved_assignment_is_one_item_with_the_same_id_and_creation(
    api: Api, store: Store
) -> None:
    id = await api.assignment(await api.resource(), await api.project(), "2024-01-10", "2024-01-12")
    (before,) = await stored(store, api.team)
    for version, day in enumerate(("2024-01-05", "2023-12-31", "2024-01-12", "2024-01-10"), 2):
        payload = await api.mutate(
            "updateAssignment", f"{ASSIGNMENT} {ERRORS}", id=id, startDate=day
        )
        moved = payload["assignment"]
        assert payload["errors"] == []
        assert (moved["id"], moved["startDate"], moved["endDate"]) == (id, day, "2024-01-12")
        (item,) = await stored(store, api.team)
        assert item == before | {
            "sk": s(f"ASN#{day}#{raw(id)}"),
            "startDate": s(day),
            "version": {"N": str(version)},
            "updatedAt": item["updatedAt"],
        }
        node = await api.data(f'{{ node(id: "{id}") {{ ... on Assignment {{ startDate }} }} }}')
        assert node == {"node": {"startDate": day}}


async def test_moving_one_of_two_that_begin_together_leaves_the_other(
    api: Api, store: Store
) -> None:
    owners = await api.resource(), await api.project()
    one, two = [await api.assignment(*owners, "2024-01-10", "2024-01-12") for _ in range(2)]
    await api.mutate("updateAssignment", ERRORS, id=one, startDate="2024-01-11")
    keys = [each["sk"]["S"] for each in await stored(store, api.team)]
    assert keys == [f"ASN#2024-01-10#{raw(two)}", f"ASN#2024-01-11#{raw(one)}"]


@pytest.mark.parametrize("field", ["startDate", "endDate"])
async def test_long_end_follows_the_length(api: Api, store: Store, field: str) -> None:
    owners = await api.resource(), await api.project()
    id = await api.assignment(*owners, "2024-03-01", "2024-05-01")  # 62 days
    steps = {
        "startDate": [("2024-02-29", True), ("2024-03-01", False), ("2020-01-01", True)],
        "endDate": [("2024-05-02", True), ("2024-05-01", False), ("2028-01-01", True)],
    }
    for day, is_long in steps[field]:
        await api.mutate("updateAssignment", ERRORS, id=id, **{field: day})
        (item,) = await stored(store, api.team)
        assert item.get("longEnd") == (item["endDateExclusive"] if is_long else None)
        last = day if field == "endDate" else "2024-05-01"
        for window in (f'from: "{last}"', f'from: "{last}", to: "{last}"'):
            answer = await api.data(f"{{ team {{ assignments({window}) {{ id }} }} }}")
            assert [each["id"] for each in answer["team"]["assignments"]] == [id]


async def test_assignment_moves_to_other_owners_only_if_they_exist(api: Api, store: Store) -> None:
    id = await api.assignment(await api.resource(), await api.project(), "2024-01-10", "2024-01-12")
    owners = {"resourceId": await api.resource("Grace"), "projectId": await api.project("Tunnel")}
    days: tuple[dict[str, Any], ...] = ({}, {"startDate": "2024-01-09"})
    for day in days:
        async with nothing_written(store, api.team):
            for field, type in (("resourceId", "Resource"), ("projectId", "Project")):
                payload = await api.mutate(
                    "updateAssignment", ERRORS, id=id, **day, **{field: gid(type, "nobody")}
                )
                errors = [(each["code"], each["field"]) for each in payload["errors"]]
                assert errors == [("NOT_FOUND", [field])]
        payload = await api.mutate(
            "updateAssignment", f"{ASSIGNMENT} {ERRORS}", id=id, **day, **owners
        )
        assert payload["assignment"]["resource"] == {"id": owners["resourceId"]}
        assert payload["assignment"]["project"] == {"id": owners["projectId"]}


async def test_moves_at_once_leave_one_item(api: Api, store: Store) -> None:
    id = await api.assignment(await api.resource(), await api.project(), "2024-01-10", "2024-01-31")
    payloads = await asyncio.gather(
        *(
            api.mutate("updateAssignment", ERRORS, id=id, startDate=f"2024-01-{day:02}")
            for day in range(11, 16)
        )
    )
    assert all(each == {"errors": []} for each in payloads)
    (item,) = await stored(store, api.team)
    assert item["id"] == s(raw(id))
    assert item["version"] == {"N": "6"}


async def test_moved_assignment_can_be_deleted_at_once(api: Api, store: Store) -> None:
    id = await api.assignment(await api.resource(), await api.project(), "2024-01-10", "2024-01-12")
    await api.mutate("updateAssignment", ERRORS, id=id, startDate="2024-01-11")
    payload = await api.mutate("deleteAssignment", ERRORS, id=id)
    assert payload == {"errors": []}
    assert await stored(store, api.team) == []
