"""What is deleted leaves a tombstone that says what, by whom and of which version, and that no read
of the plan has."""

from typing import Any

import pytest
from starlette.applications import Starlette

from data.clock import new_id
from data.entities import Deletion, EntityType, Membership, Role
from data.errors import Refused
from data.items import encode
from data.members import add_member, remove_member
from data.metering import Meter
from data.store import Store
from tests.api.samples import ERRORS, TIMELINE, gid, nothing_written, raw
from tests.api_client import Api, put
from tests.faults import Fault, Plan, faulty
from tests.tombstones import deletions, remaining

NOW = "2026-01-31T09:30:00.000Z"
DELETED = f"deletedResourceId deletedAssignmentIds {ERRORS}"


async def test_a_deleted_assignment_is_remembered_with_the_version_after_its_last(
    api: Api, store: Store
) -> None:
    owners = await api.resource(), await api.project()
    id = await api.assignment(*owners, "2024-01-10", "2024-01-12")
    for day in ("2024-01-09", "2024-01-08"):
        await api.mutate("updateAssignment", ERRORS, id=id, startDate=day)
    assert await deletions(store, api.team) == [], "a move deletes nothing"
    await api.mutate("deleteAssignment", ERRORS, id=id)
    assert await deletions(store, api.team) == [("Assignment", raw(id), 4, "user-1")]
    assert [item["sk"]["S"][:4] for item in await remaining(store, api.team)] == ["PRJ#", "RES#"]


@pytest.mark.parametrize("mutation", ["deleteAssignment", "deleteResource", "deleteProject"])
async def test_a_deletion_that_finds_nothing_leaves_nothing(
    api: Api, store: Store, mutation: str
) -> None:
    async with nothing_written(store, api.team):
        await api.mutate(mutation, ERRORS, id=gid(mutation.removeprefix("delete"), str(new_id())))


async def test_a_removed_member_is_remembered_by_the_users_id(store: Store, team: str) -> None:
    user = "auth0|5f7c8ec7c33c6c004bbafe82"
    await add_member(store, Membership(team_id=team, user_id=user, role=Role.MEMBER))
    await remove_member(store, team, user)
    assert await deletions(store, team) == [("Membership", user, 1, None)]
    assert await remaining(store, team) == []
    async with nothing_written(store, team):
        with pytest.raises(Refused, match="is no member"):
            await remove_member(store, team, user)


async def test_a_new_role_is_a_change_of_the_membership_that_there_is(
    store: Store, team: str
) -> None:
    member = Membership(team_id=team, user_id="u", role=Role.VIEWER, joined_at=NOW)
    await put(store, team, [member])
    changed = await add_member(store, Membership(team_id=team, user_id="u", role=Role.ADMIN))
    assert (changed.role, changed.joined_at) == (Role.ADMIN, NOW)
    assert (changed.updated_at or "") > NOW
    assert await remaining(store, team) == [encode(team, changed)]


def lost(operation: str) -> Plan:
    """The answer to the first request of this kind is lost, after it was carried out."""
    seen: list[int] = []

    def plan(index: int, sent: str) -> Fault | None:
        if sent != operation or seen:
            return None
        seen.append(index)
        return Fault.TIMEOUT_AFTER

    return plan


async def test_deletions_whose_answer_is_lost_are_remembered_once_on_any_engine(
    api: Api, app: Starlette, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """moto keeps no tokens, so it takes the second request for another one."""
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)
    owners = await api.resource(), await api.project()
    made = [await api.assignment(*owners, "2024-01-10", "2024-01-12") for _ in range(3)]
    await add_member(store, Membership(team_id=api.team, user_id="u", role=Role.MEMBER))
    first, *others = made
    behind: Store = app.state.store
    with faulty(behind, lost("TransactWriteItems")) as sent:
        payload = await api.mutate("deleteAssignment", f"deletedAssignmentId {ERRORS}", id=first)
        assert payload == {"deletedAssignmentId": first, "errors": []}
        assert [name for name, _ in sent.sent].count("TransactWriteItems") == 2
    with faulty(behind, lost("TransactWriteItems")):
        payload = await api.mutate("deleteResource", DELETED, id=owners[0])
        assert payload == {
            "deletedResourceId": owners[0],
            "deletedAssignmentIds": others,
            "errors": [],
        }
    with faulty(store, lost("TransactWriteItems")):
        await remove_member(store, api.team, "u")
    assert await deletions(store, api.team) == sorted(
        [
            *(("Assignment", raw(id), 2, "user-1") for id in made),
            ("Membership", "u", 1, None),
            ("Resource", raw(owners[0]), 2, "user-1"),
        ],
        key=str,
    )


def many(count: int) -> list[Deletion]:
    return [
        Deletion(
            id=new_id(),
            entity_type=EntityType.ASSIGNMENT,
            entity_id=new_id(),
            version=2,
            updated_at=NOW,
            updated_by="user-1",
        )
        for _ in range(count)
    ]


READS: dict[str, tuple[str, dict[str, Any]]] = {
    "the whole timeline": (TIMELINE, {}),
    "with a window": (
        """query($from: Date) { team { resources { id } projects { id }
        assignments(from: $from) { id } } }""",
        {"from": "2024-01-01"},
    ),
    "all assignments": ("{ team { assignments { id } } }", {}),
    "members and the timeline": (
        "{ team { name members { userId } resources { id } assignments { id } } }",
        {},
    ),
}


@pytest.mark.engines("local")
@pytest.mark.parametrize("name", READS)
async def test_what_was_deleted_costs_no_read_of_the_plan_anything(
    api: Api, app: Starlette, store: Store, name: str
) -> None:
    owners = await api.resource(), await api.project()
    await api.assignment(*owners, "2024-01-10", "2024-01-12")
    document, variables = READS[name]
    behind: Store = app.state.store

    async def read() -> tuple[dict[str, Any], float]:
        before = behind.meter.read_units
        answer = await api.run(document, **variables)
        return answer, behind.meter.read_units - before

    before = await read()
    await put(store, api.team, many(300))
    assert await read() == before
    assert before[1] > 0
    assert "extensions" not in before[0]
    # They would have cost a good deal.
    meter = Meter()
    await remaining(store.metered(meter), api.team)
    assert meter.read_units > 10 * before[1]
