"""A window is two calendar days, both inclusive: what touches it is in it, and nothing else is."""

import asyncio
import time
import uuid
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from data.entities import Assignment, Entity
from data.store import Store
from tests.api.samples import assignment, ids, project, resource
from tests.api_client import Api, everything, put

Window = tuple[date | None, date | None]

DAY = timedelta(days=1)
EPOCH = date(2024, 1, 1)
DAYS = [date(2024, 1, day) for day in range(8, 15)]
WINDOWS: list[Window] = [
    (first, last)
    for first in (None, *DAYS)
    for last in (None, *DAYS)
    if first is None or last is None or first <= last
]
ZONES = ("Pacific/Kiritimati", "America/St_Johns", "Pacific/Pago_Pago", "Europe/Madrid", "UTC")
PAGE_SIZES = (None, 1, 2, 7, 100)

ASSIGNMENTS = "query($f: Date, $t: Date) { team { assignments(from: $f, to: $t) { id } } }"
TIMELINE = """query($f: Date, $t: Date) { team { assignments(from: $f, to: $t) { id }
  resources { id assignments(from: $f, to: $t) { id } }
  projects { id assignments(from: $f, to: $t) { id } } } }"""


def arguments(window: Window) -> dict[str, str | None]:
    first, last = window
    return {"f": first.isoformat() if first else None, "t": last.isoformat() if last else None}


def aliased(windows: list[Window], more: str = "") -> str:
    """One document that asks for all the windows."""
    fields = ""
    for number, (first, last) in enumerate(windows):
        start, end = (f'"{day}"' if day else "null" for day in (first, last))
        fields += f" w{number}: assignments(from: {start}, to: {end}) {{ id }}"
    return f"{{ team {{ {more} {fields} }} }}"


@pytest.fixture(params=ZONES)
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The time zone of the machine that the application runs on."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


async def test_10_to_12_january_is_10_to_12_january_in_any_time_zone(
    api: Api, store: Store, zone: str
) -> None:
    owners = {"resourceId": await api.resource(), "projectId": await api.project()}
    payload = await api.mutate(
        "createAssignment",
        "assignment { id startDate endDate endDateExclusive } errors { message }",
        **owners,
        startDate="2024-01-10",
        endDate="2024-01-12",
    )
    days = {
        "startDate": "2024-01-10",
        "endDate": "2024-01-12",
        "endDateExclusive": "2024-01-13",
    }
    created = payload["assignment"]
    assert created == {"id": created["id"], **days}
    item = (await everything(store, api.team))[0]
    assert (item["startDate"], item["endDateExclusive"]) == (
        {"S": "2024-01-10"},
        {"S": "2024-01-13"},
    )
    read = await api.data("{ team { assignments { startDate endDate endDateExclusive } } }")
    assert read["team"]["assignments"] == [days]
    for more in ("", "resources { id } projects { id }"):
        team = (await api.data(aliased(WINDOWS, more)))["team"]
        for number, (first, last) in enumerate(WINDOWS):
            touched = (first or date.min) <= date(2024, 1, 12) and date(2024, 1, 10) <= (
                last or date.max
            )
            assert (team[f"w{number}"] != []) == touched, (zone, first, last)


async def test_one_window_at_a_time_has_what_touches_it_and_nothing_else(
    api: Api, store: Store
) -> None:
    await put(store, api.team, [assignment("2024-01-10", 3, id="a")])
    for first, last in WINDOWS:
        touched = (first is None or first.day <= 12) and (last is None or last.day >= 10)
        answer = await api.data(ASSIGNMENTS, **arguments((first, last)))
        assert ids(answer["team"]["assignments"]) == ["a"] * touched, (first, last)


@pytest.mark.parametrize("days", [1, 2, 61, 62, 63, 64, 365, 2_000])
async def test_assignment_that_began_before_the_window_is_in_it_until_its_last_day(
    api: Api, store: Store, days: int
) -> None:
    await put(store, api.team, [assignment(EPOCH, days, id="a"), resource("r"), project("p")])
    last = EPOCH + (days - 1) * DAY
    for window, there in {
        (last, last): True,
        (last, None): True,
        (last, last + 500 * DAY): True,
        (last + DAY, None): False,
        (last + DAY, last + DAY): False,
        (EPOCH, EPOCH): True,
        (None, EPOCH): True,
        (None, EPOCH - DAY): False,
        (EPOCH - 3 * DAY, EPOCH - DAY): False,
    }.items():
        for document in (ASSIGNMENTS, TIMELINE):
            answer = await api.data(document, **arguments(window))
            assert ids(answer["team"]["assignments"]) == ["a"] * there, (window, document)


# Most are near the 62 days that decide where an assignment is found.
lengths = st.one_of(
    st.integers(1, 8), st.sampled_from([61, 62, 63, 64]), st.integers(1, 130), st.integers(1, 2_000)
)


@st.composite
def plans(draw: st.DrawFn) -> tuple[list[Assignment], list[Window]]:
    """Assignments of 1 to 2,000 days, and windows that begin and end near their ends."""
    spans = draw(st.lists(st.tuples(st.integers(0, 400), lengths), min_size=1, max_size=10))
    planned = [
        assignment(
            EPOCH + start * DAY,
            days,
            id=f"{n * 7 % 10}{'x' * (n % 3)}",
            resource=f"r{n % 2}",
            project=f"p{n % 3}",
        )
        for n, (start, days) in enumerate(spans)
    ]
    edges = sorted({e.start_date for e in planned} | {e.end_date_exclusive for e in planned})
    near = st.builds(
        lambda edge, days: edge + days * DAY,
        st.sampled_from(edges),
        st.sampled_from([-63, -62, -61, -1, 0, 1, 61, 62]) | st.integers(-100, 100),
    )
    day = st.none() | near
    windows = draw(st.lists(st.tuples(day, day), min_size=1, max_size=3))
    return planned, [
        (last, first) if first and last and last < first else (first, last)
        for first, last in windows
    ]


def brute_force(planned: list[Assignment], window: Window) -> list[Assignment]:
    """Every assignment that has a day in the window, by first day and then id."""
    first, last = window
    return sorted(
        (
            each
            for each in planned
            if (last is None or each.start_date <= last)
            and (first is None or each.end_date_exclusive - DAY >= first)
        ),
        key=lambda each: (each.start_date, each.id),
    )


@pytest.mark.deep
@given(plan=plans(), page_size=st.sampled_from(PAGE_SIZES))
async def test_windows_hold_what_a_brute_force_search_finds_in_stable_order(
    app: Starlette,
    http: httpx.AsyncClient,
    store: Store,
    plan: tuple[list[Assignment], list[Window]],
    page_size: int | None,
) -> None:
    """With small pages the team is a large one, which is asked for its windows alone."""
    planned, windows = plan
    api = Api(http, f"window-{uuid.uuid4().hex}")
    owners: list[Entity] = [
        *(resource(f"r{n}") for n in range(2)),
        *(project(f"p{n}") for n in range(3)),
    ]
    await asyncio.gather(*(put(store, api.team, [each]) for each in [*owners, *planned]))
    app.state.store._page_size = page_size
    try:
        await compare(api, planned, windows)
        pages = 1 if page_size is None else -(-len([*owners, *planned]) // page_size)
        if pages > 1 and any(window != (None, None) for window in windows):
            assert api.team in app.state.store.large_teams
    finally:
        app.state.store._page_size = None


async def compare(api: Api, planned: list[Assignment], windows: list[Window]) -> None:
    for window in windows:
        expected = brute_force(planned, window)
        only = (await api.data(ASSIGNMENTS, **arguments(window)))["team"]
        assert ids(only["assignments"]) == [each.id for each in expected]
        team = (await api.data(TIMELINE, **arguments(window)))["team"]
        assert ids(team["assignments"]) == [each.id for each in expected]
        assert grouped(team["resources"]) == {
            f"r{n}": [each.id for each in expected if each.resource_id == f"r{n}"] for n in range(2)
        }
        assert grouped(team["projects"]) == {
            f"p{n}": [each.id for each in expected if each.project_id == f"p{n}"] for n in range(3)
        }
    for more in ("", "resources { id }"):
        together = (await api.data(aliased(windows, more)))["team"]
        for number, window in enumerate(windows):
            found = ids(together[f"w{number}"])
            assert found == [each.id for each in brute_force(planned, window)]


def grouped(owners: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {ids([owner])[0]: ids(owner["assignments"]) for owner in owners}
