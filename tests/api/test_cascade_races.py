"""Whatever happens while an owner is deleted: no orphan, and nothing of others is lost (A3)."""

import asyncio

import pytest

from data.expressions import s
from data.store import Store
from tests.api.cascades import TYPES, booked, others, owner, seed
from tests.api.samples import ERRORS, gid, project, resource
from tests.api_client import Api
from tests.tombstones import deletions, remaining


@pytest.mark.parametrize("type", TYPES)
async def test_deletions_of_one_owner_at_once_report_each_assignment_once(
    api: Api, store: Store, type: str
) -> None:
    await seed(store, api.team, [owner(type), *booked(type, 12)])
    selection = f"deletedAssignmentIds {ERRORS}"
    payloads = await asyncio.gather(
        *(api.mutate(f"delete{type}", selection, id=gid(type, "x")) for _ in range(3))
    )
    assert await remaining(store, api.team) == []
    reported = [id for payload in payloads for id in payload["deletedAssignmentIds"]]
    assert sorted(reported) == sorted(gid("Assignment", f"a{n:03}") for n in range(12))
    assert await deletions(store, api.team) == [
        *(("Assignment", f"a{n:03}", 2, "user-1") for n in range(12)),
        (type, "x", 2, "user-1"),
    ]
    codes = {error["code"] for payload in payloads for error in payload["errors"]}
    assert codes <= {"NOT_FOUND"}


@pytest.mark.parametrize("type", TYPES)
async def test_assignments_created_while_the_owner_is_deleted_leave_no_orphan(
    api: Api, store: Store, type: str
) -> None:
    await seed(store, api.team, [resource("r"), project("p")])
    for _ in range(3):
        await seed(store, api.team, [owner(type), *booked(type, 3)])
        input = {
            "resourceId": gid("Resource", "x" if type == "Resource" else "r"),
            "projectId": gid("Project", "x" if type == "Project" else "p"),
        } | {"startDate": "2024-01-10", "endDate": "2024-01-12"}
        gone, *made = await asyncio.gather(
            api.mutate(f"delete{type}", ERRORS, id=gid(type, "x")),
            *(api.mutate("createAssignment", ERRORS, **input) for _ in range(4)),
        )
        assert gone == {"errors": []}
        fields = [error["field"] for payload in made for error in payload["errors"]]
        assert all(field == [f"{type.lower()}Id"] for field in fields)
        assert [item["sk"]["S"] for item in await remaining(store, api.team)] == ["PRJ#p", "RES#r"]


@pytest.mark.parametrize("type", TYPES)
async def test_assignment_moved_to_another_owner_meanwhile_is_spared_or_deleted_never_lost(
    api: Api, store: Store, type: str
) -> None:
    await seed(store, api.team, others())
    input = {"id": gid("Assignment", "a000"), f"{type.lower()}Id": gid(type, "xx")}
    for _ in range(3):
        await seed(store, api.team, [owner(type), *booked(type, 1)])
        gone, moved = await asyncio.gather(
            api.mutate(f"delete{type}", f"deletedAssignmentIds {ERRORS}", id=gid(type, "x")),
            api.mutate("updateAssignment", ERRORS, **input),
        )
        assert gone["errors"] == []
        there = [item for item in await remaining(store, api.team) if item["id"] == s("a000")]
        assert len(there) == (moved["errors"] == [] and gone["deletedAssignmentIds"] == [])
        assert all(item[f"{type.lower()}Id"] == s("xx") for item in there)
        await api.mutate("deleteAssignment", ERRORS, id=gid("Assignment", "a000"))
