"""Deleting an owner deletes its assignments, however many, and never those of others (P-05)."""

import uuid
from collections.abc import AsyncIterator

import pytest

from data.administration import create_table
from data.expressions import s
from data.opening import open_store
from data.store import Store
from server.engines import DUMMY_CREDENTIALS
from tests.api.cascades import TYPES, booked, others, owner, seed
from tests.api.samples import ERRORS, gid
from tests.api_client import Api, Capture
from tests.tombstones import deletions, remaining


@pytest.fixture(scope="module", params=[(type, count) for type in TYPES for count in (0, 1, 101)])
def case(request: pytest.FixtureRequest) -> tuple[str, int]:
    """The type of an owner and the number of its assignments."""
    found: tuple[str, int] = request.param
    return found


@pytest.fixture(scope="module")
async def store(engine: str, case: tuple[str, int]) -> AsyncIterator[Store]:
    """A table for each case: moto copies all that ever was in it for each of a hundred deletes."""
    name = f"planner-{uuid.uuid4().hex}"
    async with open_store(name, endpoint_url=engine, credentials=DUMMY_CREDENTIALS) as store:
        await create_table(store)
        yield store


async def test_owner_goes_with_all_its_assignments_and_their_ids_are_told(
    api: Api, store: Store, captured: Capture, case: tuple[str, int]
) -> None:
    type, count = case
    await seed(store, api.team, others())
    left = await remaining(store, api.team)
    await seed(store, api.team, [owner(type), *booked(type, count)])
    selection = f"deleted{type}Id deletedAssignmentIds {ERRORS}"
    payload = await api.mutate(f"delete{type}", selection, id=gid(type, "x"))
    assert payload == {
        f"deleted{type}Id": gid(type, "x"),
        "deletedAssignmentIds": [gid("Assignment", f"a{n:03}") for n in range(count)],
        "errors": [],
    }
    assert await remaining(store, api.team) == left
    said = [
        *(("Assignment", f"a{n:03}", 2, "user-1") for n in range(count)),
        (type, "x", 2, "user-1"),
    ]
    assert await deletions(store, api.team) == said
    # From the table, never from an index that may lag; the owner last; at most 100 at once.
    assert captured.index_queries == []
    assert captured.operations[:3] == ["UpdateItem", "GetItem", "Query"]
    transactions = [p["TransactItems"] for name, p in captured.requests if name[:8] == "Transact"]
    # Each has the guard that the owner is still marked, and the last one the owner's end; whatever
    # is deleted, its tombstone is in the same one.
    full = max(count - 1, 0) // 49
    assert [len(each) for each in transactions] == [99] * full + [2 * (count - 49 * full) + 2]
    prefix = "RES#x" if type == "Resource" else "PRJ#x"
    assert transactions[-1][0]["Delete"]["Key"]["sk"] == s(prefix)
    for each in transactions:
        deleted = {action["Delete"]["Key"]["sk"]["S"] for action in each if "Delete" in action}
        remembered = [action["Put"]["Item"]["deletedId"]["S"] for action in each if "Put" in action]
        assert sorted(remembered) == sorted(sk.rpartition("#")[2] for sk in deleted)
    again = await api.mutate(f"delete{type}", selection, id=gid(type, "x"))
    assert (again[f"deleted{type}Id"], again["deletedAssignmentIds"]) == (None, [])
    assert [(each["code"], each["field"]) for each in again["errors"]] == [("NOT_FOUND", ["id"])]
    assert await deletions(store, api.team) == said, "what was not there leaves nothing"


async def test_number_of_items_that_a_read_may_have_does_not_limit_a_deletion(
    api: Api,
    store: Store,
    captured: Capture,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[str, int],
) -> None:
    type, count = case
    await seed(store, api.team, [owner(type), *booked(type, min(count, 12))])
    monkeypatch.setattr(captured.store, "_max_items", 5)
    payload = await api.mutate(f"delete{type}", "deletedAssignmentIds", id=gid(type, "x"))
    assert len(payload["deletedAssignmentIds"]) == min(count, 12)
    assert await remaining(store, api.team) == []
