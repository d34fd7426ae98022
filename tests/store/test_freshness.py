"""Whoever writes sees it at once."""

from datetime import date, timedelta

from data.store import Store
from tests.api_client import Api, Capture
from tests.store.test_bulk import gid, plan

DAY = date(2024, 3, 1)


async def test_what_was_created_is_in_the_next_timeline_200_times(
    api: Api, store: Store, captured: Capture
) -> None:
    await plan(store, api.team, 0)
    ids: list[str] = []
    for n in range(200):
        day = DAY + timedelta(n % 40)
        ids.append(await api.assignment(gid("Resource", "r1"), gid("Project", "p1"), day, day))
        captured.clear()
        window = f'(from: "{day}", to: "{day}")'
        data = await api.data(f"{{ team {{ resources {{ id }} assignments{window} {{ id }} }} }}")
        assert ids[-1] in [each["id"] for each in data["team"]["assignments"]]
        # Consistent by request, and not only since this emulator is always consistent.
        assert [query["ConsistentRead"] for query in captured.table_queries] == [True]
        assert captured.index_queries == []


async def test_what_a_mutation_reads_is_strongly_consistent_or_only_leads_to_what_is(
    api: Api, store: Store, captured: Capture
) -> None:
    await plan(store, api.team, 1)
    assignment, owner = gid("Assignment", "a00"), gid("Resource", "r1")
    captured.clear()
    await api.mutate("updateAssignment", "errors { code }", id=assignment, note="x")
    await api.mutate("updateResource", "errors { code }", id=owner, name="x")
    await api.mutate("shiftProject", "errors { code }", id=gid("Project", "p1"), days=1)
    await api.mutate("deleteResource", "errors { code }", id=owner)
    reads = [
        (name, request.get("IndexName"), request.get("ConsistentRead"))
        for name, request in captured.requests
        if name in ("GetItem", "Query")
    ]
    # The index tells where an assignment stands; the item itself is then read from the table.
    assert set(reads) == {
        ("GetItem", None, True),
        ("Query", None, True),
        ("Query", "byId", None),
    }
