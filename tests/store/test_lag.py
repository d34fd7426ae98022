"""The index `byId` follows the table a moment later; DynamoDB Local's does not, so here it is
made to: it answers as it was before the last write, or knows nothing at all."""

import asyncio
import json
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from data.entities import Assignment
from data.errors import Refused
from data.metering import Operation
from data.store import Store
from data.transport import Sender
from resolvers import assignment_writes
from tests.api_client import Capture
from tests.store.scenarios import _id, context, patch, planned, state


class LaggingIndex:
    """A transport whose `byId` has the same answer for ever: none, or an old key."""

    def __init__(self, transport: Sender, items: list[dict[str, Any]]) -> None:
        self._transport = transport
        self._answer = json.dumps({"Items": items, "Count": len(items)}).encode()

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        if request.get("IndexName") == "byId":
            return self._answer
        return await self._transport.send(operation, request)


STALE = [{"pk": {"S": "?"}, "sk": {"S": "ASN#1999-01-01#a1"}, "id": {"S": "a1"}}]


@pytest.mark.parametrize("items", [[], STALE], ids=["knows nothing", "has an old key"])
async def test_a_write_finds_what_the_index_does_not_know_yet(
    store: Store, monkeypatch: pytest.MonkeyPatch, team: str, items: list[dict[str, Any]]
) -> None:
    planner = await planned(store, team)
    monkeypatch.setattr(store, "transport", LaggingIndex(store.transport, items))
    moved = await assignment_writes.update_assignment(
        planner, patch("a1", start_date=date(2024, 1, 5))
    )
    assert isinstance(moved, Assignment)
    assert moved.start_date == date(2024, 1, 5)
    await assignment_writes.delete_assignment(planner, id=_id("Assignment", "a1"))
    left = [item["id"] for item in await state(store, team) if "startDate" in item]
    assert {"S": "a1"} not in left
    assert len(left) == 11


async def test_moves_at_once_of_the_same_assignments_never_answer_that_they_are_not_there(
    store: Store, team: str
) -> None:
    await planned(store, team)
    ids = [f"b{n:02}" for n in range(10)]

    async def move(n: int) -> None:
        order = ids[n:] + ids[:n]
        patches = [
            patch(id, start_date=date(2024, 2, 1 + (n + i) % 20)) for i, id in enumerate(order)
        ]
        await assignment_writes.update_assignments(context(store, team), patches)

    answers = await asyncio.gather(*(move(n) for n in range(8)), return_exceptions=True)
    codes = {p.code.value for a in answers for p in getattr(a, "problems", ())}
    assert codes <= {"CONFLICT"}
    assert None in answers, "somebody got through"


async def test_what_the_index_does_not_know_is_looked_for_together(
    store: Store, monkeypatch: pytest.MonkeyPatch, team: str
) -> None:
    """However many they are, the team's assignments are read once, or twice for what is nowhere."""
    planner = await planned(store, team)
    capture = Capture(store)
    nowhere = [patch(f"nowhere-{n}", start_date=date(2024, 1, 5)) for n in range(25)]
    with pytest.raises(Refused) as refused:
        await assignment_writes.update_assignments(planner, nowhere)
    assert len(refused.value.problems) == 25
    assert len(capture.table_queries) == 2
    capture.clear()
    monkeypatch.setattr(store, "transport", LaggingIndex(store.transport, []))
    there = [patch(id, start_date=date(2024, 1, 5)) for id in ("a1", "b00", "b01")]
    assert len(await assignment_writes.update_assignments(planner, there)) == 3
    assert len(capture.table_queries) == 1
    capture.stop()


async def test_many_writes_of_one_request_that_find_nothing_read_the_assignments_five_times(
    store: Store, team: str
) -> None:
    """Twice for the first id, once for the second, and then twice for all ids there are."""
    planner = await planned(store, team)
    capture = Capture(store)
    for number in range(20):
        await assignment_writes.delete_assignment(
            planner, id=_id("Assignment", f"nowhere-{number}")
        )
    assert len(capture.table_queries) == 5
    assert len(capture.index_queries) == 20 * 2
    capture.clear()
    # Another request knows nothing of it.
    await assignment_writes.delete_assignment(context(store, team), id=_id("Assignment", "nowhere"))
    assert len(capture.table_queries) == 2
    capture.stop()


async def test_what_a_request_creates_it_finds_after_all_that_it_did_not_find(
    store: Store, monkeypatch: pytest.MonkeyPatch, team: str
) -> None:
    """The index lags throughout; the ids are a client's own, or of an assignment that moves."""
    planner = await planned(store, team)
    monkeypatch.setattr(store, "transport", LaggingIndex(store.transport, []))
    for number in range(3):
        with pytest.raises(Refused):
            await assignment_writes.update_assignment(
                planner, patch(f"nowhere-{number}", start_date=date(2024, 1, 5))
            )
    # There before, and on another day than when the ids were listed.
    for day in (7, 8):
        moved = await assignment_writes.update_assignment(
            planner, patch("a1", start_date=date(2024, 1, day))
        )
        assert moved.start_date == date(2024, 1, day)
    created = [
        await assignment_writes.create_assignment(
            planner,
            id=chosen,
            resource_id=_id("Resource", moved.resource_id),
            project_id=_id("Project", moved.project_id),
            start_date=date(2024, 3, 1),
            end_date=date(2024, 3, 2),
            note=None,
        )
        for chosen in ("01890000-0000-7000-8000-000000000001", None)
    ]
    for each in created:
        changed = await assignment_writes.update_assignment(
            planner, patch(each.id, start_date=date(2024, 3, 2))
        )
        assert changed.start_date == date(2024, 3, 2)


async def test_what_a_request_deletes_twice_is_not_searched_for_again(
    store: Store, team: str
) -> None:
    planner = await planned(store, team)
    for id in ("nowhere-1", "nowhere-2"):
        await assignment_writes.delete_assignment(planner, id=_id("Assignment", id))
    await assignment_writes.delete_assignment(planner, id=_id("Assignment", "a1"))
    capture = Capture(store)
    await assignment_writes.delete_assignment(planner, id=_id("Assignment", "a1"))
    assert capture.table_queries == []
    capture.stop()
