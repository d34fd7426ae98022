"""The size of the store's pages changes nothing: a limit counts items before the filter (D-01)."""

import asyncio
from datetime import date, timedelta

import pytest

from data.entities import Entity
from data.store import Store
from tests.api.samples import assignment, ids, project, resource
from tests.api_client import Api, Capture, put

DAY = timedelta(days=1)
ASSIGNMENTS = "query($f: Date, $t: Date) { team { assignments(from: $f, to: $t) { id } } }"
TIMELINE = """query($f: Date, $t: Date) { team { assignments(from: $f, to: $t) { id }
  resources { id } projects { id } } }"""


async def test_three_of_500_assignments_are_found_whatever_the_page_size(
    api: Api, store: Store, captured: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = date(2024, 6, 10), date(2024, 6, 20)
    others = [assignment(date(2024, 4, 15) + n % 50 * DAY, 1 + n % 6) for n in range(40)]
    others += [assignment(date(2024, 6, 21) + n * DAY, 90) for n in range(100)]
    others += [assignment(date(2022, 1, 1) + n * DAY, 100) for n in range(357)]
    assert all(each.end_date_exclusive <= first or each.start_date > last for each in others)
    wanted = [
        assignment("2022-01-01", 2_000, id="long"),
        assignment("2024-05-01", 41, id="short"),
        assignment("2024-06-20", 1, id="in"),
    ]
    items: list[Entity] = [resource("r"), project("p"), *wanted, *others]
    for start in range(0, len(items), 50):
        await asyncio.gather(*(put(store, api.team, [e]) for e in items[start : start + 50]))
    window = {"f": str(first), "t": str(last)}
    for size in (1, 2, 7, 100):
        monkeypatch.setattr(captured.store, "_page_size", size)
        answer = await api.data(ASSIGNMENTS, **window)
        assert ids(answer["team"]["assignments"]) == ["long", "short", "in"], size
        if size > 7:  # moto reads the whole partition for each page of it
            answer = await api.data(TIMELINE, **window)
            assert ids(answer["team"]["assignments"]) == ["long", "short", "in"], size
