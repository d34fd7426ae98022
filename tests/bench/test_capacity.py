"""The capacity section of the benchmark, with small teams and small pages."""

import uuid
from collections.abc import AsyncIterator

import pytest

from bench.capacity import WINDOWS, section
from data.administration import create_table
from data.opening import open_store
from data.store import Store
from server.engines import DUMMY_CREDENTIALS

pytestmark = pytest.mark.engines("local")


@pytest.fixture
async def small_pages(engine: str) -> AsyncIterator[Store]:
    """A store of its own, since its pages have 50 items."""
    name = f"planner-{uuid.uuid4().hex}"
    async with open_store(
        name, endpoint_url=engine, credentials=DUMMY_CREDENTIALS, page_size=50
    ) as store:
        await create_table(store)
        yield store


async def test_the_table_shows_what_each_window_costs_each_team(small_pages: Store) -> None:
    heard: list[str] = []
    text = await section(small_pages, heard.append, years=(1, 4), a_year=200)
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ][2:]
    assert [row[:2] for row in rows] == [[years, title] for years in "14" for title in WINDOWS]
    # Units, Queries and pages of the first request, the next one, and of assignments alone.
    costs = {
        (years, title): [tuple(map(float, cell.replace(",", "").split("/"))) for cell in cells]
        for years, title, *cells in rows
    }
    for (years, title), (first, second, alone) in costs.items():
        queries = [int(cost[1]) for cost in (first, second, alone)]
        assert queries == ([1, 1, 1] if title == "none" else [4, 3, 2]), (years, title)
        assert first[0] >= second[0] > alone[0] > 0, (years, title)
    assert costs["4", "none"][1] > costs["1", "none"][1]
    assert costs["4", "this month"][1][0] < costs["4", "none"][1][0] / 2
    assert len(heard) == 2 * (1 + len(WINDOWS))
