"""createResource, updateResource, deleteResource: what is stored, and what is refused."""

import re
from typing import Any

import pytest

from data.store import Store
from tests.api.samples import ERRORS, gid, nothing_written, raw
from tests.api_client import Api, everything
from tests.tombstones import deletions, remaining

RESOURCE = "resource { id name version createdAt updatedAt }"
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

NAMES = {
    "empty": "",
    "blank": "   ",
    "tabs": "\t\t",
    "a zero-width space": "\u200b",
    "an ideographic space": "\u3000",
    "101 characters": "x" * 101,
    "256 characters": "x" * 256,
    "10,000 emoji": "😀" * 10_000,
    "a line break": "a\nb",
}


async def test_created_resource_is_stored_with_its_type_stamps_and_version(
    api: Api, store: Store
) -> None:
    payload = await api.mutate("createResource", f"{RESOURCE} {ERRORS}", name="Ada")
    created = payload["resource"]
    assert payload["errors"] == []
    assert MOMENT.fullmatch(created["createdAt"])
    assert created["updatedAt"] == created["createdAt"]
    id = raw(created["id"])
    assert UUID7.fullmatch(id)
    assert created["id"] == gid("Resource", id)
    assert (created["name"], created["version"]) == ("Ada", 1)
    assert await everything(store, api.team) == [
        {
            "pk": {"S": f"TEAM#{api.team}"},
            "sk": {"S": f"RES#{id}"},
            "EntityType": {"S": "Resource"},
            "id": {"S": id},
            "name": {"S": "Ada"},
            "version": {"N": "1"},
            "createdAt": {"S": created["createdAt"]},
            "updatedAt": {"S": created["updatedAt"]},
            "updatedBy": {"S": "user-1"},
        }
    ]


async def test_updated_resource_keeps_its_id_and_creation_and_counts_its_version(
    api: Api, store: Store
) -> None:
    id = await api.resource("Ada")
    (before,) = await everything(store, api.team)
    payload = await api.mutate("updateResource", f"{RESOURCE} {ERRORS}", id=id, name="Grace")
    assert payload["errors"] == []
    (after,) = await everything(store, api.team)
    assert payload["resource"] == {
        "id": id,
        "name": "Grace",
        "version": 2,
        "createdAt": before["createdAt"]["S"],
        "updatedAt": after["updatedAt"]["S"],
    }
    changed = {"name": {"S": "Grace"}, "version": {"N": "2"}, "updatedAt": after["updatedAt"]}
    assert after == before | changed
    assert after["updatedAt"]["S"] >= before["updatedAt"]["S"]


async def test_deleted_resource_is_gone_and_a_second_time_not_found(api: Api, store: Store) -> None:
    id = await api.resource()
    selection = f"deletedResourceId deletedAssignmentIds {ERRORS}"
    gone = {"deletedResourceId": id, "deletedAssignmentIds": [], "errors": []}
    assert await api.mutate("deleteResource", selection, id=id) == gone
    assert await remaining(store, api.team) == []
    again = await api.mutate("deleteResource", selection, id=id)
    assert (again["deletedResourceId"], again["deletedAssignmentIds"]) == (None, [])
    assert [(each["code"], each["field"]) for each in again["errors"]] == [("NOT_FOUND", ["id"])]
    assert await deletions(store, api.team) == [("Resource", raw(id), 2, "user-1")]


async def test_created_resources_are_listed_in_the_order_of_their_creation(api: Api) -> None:
    names = [f"{n}" for n in (3, 1, 2, 5, 4)]
    for name in names:
        await api.resource(name)
    answer = await api.data("{ team { resources { name } } }")
    assert [each["name"] for each in answer["team"]["resources"]] == names


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
async def test_bad_name_is_invalid_and_nothing_is_written(
    api: Api, store: Store, name: str
) -> None:
    id = await api.resource()
    writes: dict[str, dict[str, Any]] = {"createResource": {}, "updateResource": {"id": id}}
    async with nothing_written(store, api.team):
        for mutation, more in writes.items():
            payload = await api.mutate(mutation, f"{RESOURCE} {ERRORS}", name=name, **more)
            assert payload["resource"] is None
            (error,) = payload["errors"]
            assert (error["code"], error["field"]) == ("INVALID", ["name"])
            assert error["message"].startswith("name ")


@pytest.mark.parametrize("name", ["x" * 100, "😀" * 100, " x ", "0"])
async def test_name_of_1_to_100_code_points_is_stored_as_sent(
    api: Api, store: Store, name: str
) -> None:
    id = await api.resource(name)
    assert (await everything(store, api.team))[0]["name"] == {"S": name}
    answer = await api.data("{ team { resources { id name } } }")
    assert answer["team"]["resources"] == [{"id": id, "name": name}]


async def test_null_name_is_invalid_in_an_update(api: Api, store: Store) -> None:
    id = await api.resource()
    async with nothing_written(store, api.team):
        payload = await api.mutate("updateResource", ERRORS, id=id, name=None)
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [("INVALID", ["name"])]


@pytest.mark.parametrize("same", [{}, {"name": "Ada"}, {"name": "Ada", "expectedVersion": 1}])
async def test_update_to_what_is_stored_already_writes_nothing(
    api: Api, store: Store, same: dict[str, Any]
) -> None:
    id = await api.resource("Ada")
    async with nothing_written(store, api.team):
        payload = await api.mutate("updateResource", f"{RESOURCE} {ERRORS}", id=id, **same)
    assert payload["errors"] == []
    assert (payload["resource"]["name"], payload["resource"]["version"]) == ("Ada", 1)
