"""What a timeline costs does not grow with the team's history, and what it says stays exact.

On DynamoDB Local: its pages have 1 MB and it reports the capacity that was consumed. moto has the
same answers by `test_windows`, with small pages.
"""

import asyncio
from datetime import date, timedelta
from typing import Any, NamedTuple

import httpx
import pytest
from starlette.applications import Starlette

from bench.capacity import TODAY, fill, history
from data.entities import Assignment, Entity
from data.recent import Recent
from data.store import Store
from tests.api.cascades import marked
from tests.api.samples import gid, ids
from tests.api_client import Api, Capture, put

pytestmark = pytest.mark.engines("local")

DAY = timedelta(days=1)
TIMELINE = """query($f: Date, $t: Date) { team { name resources { id assignments(from: $f, to: $t)
  { id } } projects { id } assignments(from: $f, to: $t) { id startDate project { name } } } }"""
MONTH = (TODAY.replace(day=1), TODAY.replace(day=30))
WINDOWS: dict[str, tuple[date | None, date | None]] = {
    "this month": MONTH,
    "a year ago": (date(2025, 6, 1), date(2025, 6, 30)),
    "before the history": (date(2001, 1, 1), date(2001, 12, 31)),
    "from today on": (TODAY, None),
    "up to a year ago": (None, date(2025, 6, 30)),
    "all days": (None, None),
}


class Planned(NamedTuple):
    """A team and all that it has."""

    api: Api
    entities: list[Entity]

    def found(self, first: date | None, last: date | None) -> list[str]:
        """The ids of the assignments with a day in the window, by a search through all."""
        planned = [each for each in self.entities if isinstance(each, Assignment)]
        return [
            each.id
            for each in sorted(planned, key=lambda each: (each.start_date, each.id))
            if (last is None or each.start_date <= last)
            and (first is None or each.end_date_exclusive - DAY >= first)
        ]


async def planned(http: httpx.AsyncClient, store: Store, years: int) -> Planned:
    # A long note on each, so that some hundred assignments are a page.
    team = f"years-{years}"
    entities = list(history(team, years, a_year=550, note="x" * 2_000))
    await fill(store, team, entities)
    return Planned(Api(http, team), entities)


@pytest.fixture(scope="module")
async def year(http: httpx.AsyncClient, store: Store) -> Planned:
    return await planned(http, store, 1)


@pytest.fixture(scope="module")
async def three(http: httpx.AsyncClient, store: Store) -> Planned:
    return await planned(http, store, 3)


@pytest.fixture(scope="module")
async def decade(http: httpx.AsyncClient, store: Store) -> Planned:
    return await planned(http, store, 10)


@pytest.fixture(autouse=True)
def large_teams(app: Starlette) -> Recent:
    """Nothing is known of any team yet."""
    app.state.store.large_teams = Recent()
    remembered: Recent = app.state.store.large_teams
    return remembered


def arguments(window: tuple[date | None, date | None]) -> dict[str, str | None]:
    first, last = window
    return {"f": first.isoformat() if first else None, "t": last.isoformat() if last else None}


async def units(app: Starlette, planned: Planned, **window: Any) -> float:
    """The read capacity units of one timeline."""
    before = app.state.store.meter.read_units
    await planned.api.data(TIMELINE, **window)
    return float(app.state.store.meter.read_units - before)


async def test_this_month_costs_a_team_of_ten_years_what_it_costs_one_of_a_year(
    app: Starlette, year: Planned, decade: Planned
) -> None:
    month = arguments(MONTH)
    first = await units(app, decade, **month)
    of_a_decade = [await units(app, decade, **month) for _ in range(2)]
    await units(app, year, **month)
    of_a_year = await units(app, year, **month)
    assert max(of_a_decade) <= 1.3 * of_a_year
    # The first request has read one page too much: 1 MB, which is 256 units.
    assert first <= max(of_a_decade) + 260
    assert max(of_a_decade) < await units(app, decade, f=None, t=None) / 10


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS.keys())
async def test_a_large_team_has_what_a_search_through_all_finds(
    three: Planned, window: tuple[date | None, date | None]
) -> None:
    expected = three.found(*window)
    for _ in ("the first request", "from the second on"):
        team = (await three.api.data(TIMELINE, **arguments(window)))["team"]
        assert ids(team["assignments"]) == expected
        assert sorted(id for each in team["resources"] for id in ids(each["assignments"])) == (
            sorted(expected)
        )
        assert (len(team["resources"]), len(team["projects"])) == (40, 60)
        assert team["name"] == "A team"
        assert all(each["project"]["name"] for each in team["assignments"])


async def test_the_first_request_stops_after_one_page_and_the_next_does_not_begin_with_it(
    decade: Planned, captured: Capture
) -> None:
    month = arguments(MONTH)
    await decade.api.data(TIMELINE, **month)
    whole, *apart = captured.requests
    assert whole[1]["KeyConditionExpression"] == "#pk = :pk AND #sk > :deletions"
    captured.clear()
    await decade.api.data(TIMELINE, **month)
    assert captured.requests == apart
    ranges = [
        [query["ExpressionAttributeValues"][name]["S"] for name in (":low", ":high")]
        for query in captured.table_queries
        if "ExclusiveStartKey" not in query
    ]
    assert ranges == [["ASN#2026-04-01", "ASN#2026-06-30$"], ["META", "RES$"]]
    assert [query["IndexName"] for query in captured.index_queries] == ["byLongEnd"]


async def test_all_days_of_a_large_team_are_one_query_of_all_its_pages(
    three: Planned, captured: Capture, large_teams: Recent
) -> None:
    large_teams.add(three.api.team)
    await three.api.data(TIMELINE)
    first, *others = captured.table_queries
    assert len(captured.requests) == len(captured.table_queries) > 2
    for query in others:
        del query["ExclusiveStartKey"]
        assert query == first


async def test_an_old_assignment_by_its_id_costs_a_large_team_no_history(
    app: Starlette, decade: Planned, captured: Capture
) -> None:
    oldest = min(
        (each for each in decade.entities if isinstance(each, Assignment)),
        key=lambda each: each.start_date,
    )
    document = """query($i: ID!) { node(id: $i) { ... on Assignment { startDate
      resource { name } project { name } } } }"""
    variables = {"i": gid("Assignment", oldest.id)}
    first = await decade.api.data(document, **variables)
    before = app.state.store.meter.read_units
    captured.clear()
    assert await decade.api.data(document, **variables) == first
    assert first["node"]["startDate"] == str(oldest.start_date)
    assert first["node"]["resource"]["name"]
    assert first["node"]["project"]["name"]
    assert len(captured.table_queries) == 2
    assert app.state.store.meter.read_units - before < 10


async def test_an_owner_that_is_being_deleted_is_hidden_in_a_large_team_too(
    api: Api, store: Store, large_teams: Recent, captured: Capture
) -> None:
    """Whichever owners the document asks for, both kinds are read."""
    month = [
        each
        for each in history(api.team, 1, a_year=60)
        if not isinstance(each, Assignment) or each.end_date_exclusive > MONTH[0]
    ]
    await put(store, api.team, [*month, marked("Resource", 5), marked("Project", 5)])
    hidden = [
        Assignment(
            id=f"hidden-{number}",
            resource_id=resource,
            project_id=project,
            start_date=start,
            end_date_exclusive=MONTH[1],
            version=1,
        )
        for number, (resource, project, start) in enumerate(
            [
                ("x", "p001", MONTH[0]),
                ("r001", "x", MONTH[0]),
                ("x", "p001", date(2025, 1, 1)),
                ("r001", "x", date(2025, 1, 1)),
            ]
        )
    ]
    await put(store, api.team, hidden)
    documents = [
        f'{{ team {{ {more} assignments(from: "{MONTH[0]}", to: "{MONTH[1]}") {{ id }} }} }}'
        for more in ("name", "resources { id }", "projects { id }", "members { id }")
    ]
    small = [(await api.data(document))["team"] for document in documents]
    large_teams.add(api.team)
    captured.clear()
    large = [(await api.data(document))["team"] for document in documents]
    assert len(captured.index_queries) == len(documents)
    assert large == small
    for team in large:
        assert team["assignments"]
        assert not [id for id in ids(team["assignments"]) if id.startswith("hidden")]


async def test_many_first_requests_at_once_are_all_exact(three: Planned) -> None:
    expected = three.found(*MONTH)
    answers = await asyncio.gather(
        *(three.api.data(TIMELINE, **arguments(MONTH)) for _ in range(5))
    )
    assert all(ids(answer["team"]["assignments"]) == expected for answer in answers)
