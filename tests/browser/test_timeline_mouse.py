"""The timeline by mouse: drawn, dragged, resized, and taken back when others were first."""

import json
from itertools import pairwise
from typing import Any

import pytest
from playwright.async_api import Page, Request, expect

from tests.api_client import Api
from tests.browser.axe import violations
from tests.browser.board import Board, stored
from tests.browser.conftest import Shoot, Visit

pytestmark = pytest.mark.web


async def test_the_demo_is_drawn_with_a_row_for_each_person_and_today_marked(
    visit: Visit, shoot: Shoot
) -> None:
    page = await visit("/", now=None)
    board = Board(page)
    await expect(page.locator(".row-name")).to_have_count(12)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Demo team")
    await expect(board.bars.first).to_be_visible()
    await expect(page.locator(".vis-item.today")).to_be_visible()
    colors = await board.bars.evaluate_all(
        "bars => bars.map(bar => getComputedStyle(bar).backgroundColor)"
    )
    assert len(set(colors)) > 4
    assert "rgb(31, 119, 180)" in colors  # Harbour crossing's, as it is stored
    await shoot(page, "timeline-month")
    assert await violations(page) == []
    await board.button("Quarter").click()
    await expect(board.button("Quarter")).to_have_attribute("aria-pressed", "true")
    await shoot(page, "timeline-quarter")
    assert await violations(page) == []


async def test_a_drag_survives_a_reload(visit: Visit, api: Api, team: str) -> None:
    page, id = await with_one(visit, api, team)
    board = Board(page)
    async with board.writing("UpdateAssignment"):
        await board.drag(id, days=3)
    await board.shows(id, "Bridge, Ada, 7 – 10 Mar 2026")
    await page.reload()
    await board.shows(id, "Bridge, Ada, 7 – 10 Mar 2026")
    found = await stored(api, id)
    assert (found["startDate"], found["endDate"], found["version"]) == (
        "2026-03-07",
        "2026-03-10",
        2,
    )


async def test_a_drag_to_another_row_gives_the_work_to_that_person(
    visit: Visit, api: Api, team: str
) -> None:
    page, id = await with_one(visit, api, team)
    board = Board(page)
    async with board.writing("UpdateAssignment"):
        await board.drag(id, rows=1)
    await board.shows(id, "Bridge, Ken, 4 – 7 Mar 2026")
    found = await stored(api, id)
    assert found["resource"] == {"name": "Ken"}
    assert (found["startDate"], found["endDate"]) == ("2026-03-04", "2026-03-07")


@pytest.mark.parametrize(
    ("edge", "days", "expected"),
    [
        ("right", 2, ("2026-03-04", "2026-03-09")),
        ("right", -1, ("2026-03-04", "2026-03-06")),
        ("left", -2, ("2026-03-02", "2026-03-07")),
        ("left", 9, ("2026-03-07", "2026-03-07")),  # past the other end: a day is left
    ],
)
async def test_an_end_that_is_dragged_changes_that_day_alone(
    visit: Visit, api: Api, team: str, edge: str, days: int, expected: tuple[str, str]
) -> None:
    page, id = await with_one(visit, api, team)
    board = Board(page)
    async with board.writing("UpdateAssignment"):
        await board.drag(id, days=days, edge=edge)
    found = await stored(api, id)
    assert (found["startDate"], found["endDate"]) == expected


async def test_a_conflict_shows_what_the_other_one_made_of_it_and_says_so(
    visit: Visit, api: Api, team: str, shoot: Shoot
) -> None:
    page, id = await with_one(visit, api, team, live=False)
    board = Board(page)
    await api.mutate("updateAssignment", "errors { code }", id=id, endDate="2026-03-12")
    async with board.writing("Again"):
        await board.drag(id, days=3)
    await expect(page.get_by_role("log")).to_contain_text("was not changed")
    await expect(page.get_by_role("log")).to_contain_text("Somebody else changed it first")
    await board.shows(id, "Bridge, Ada, 4 – 12 Mar 2026")
    await shoot(page, "timeline-conflict")
    assert await violations(page) == []
    found = await stored(api, id)
    assert (found["startDate"], found["version"]) == ("2026-03-04", 2)
    async with board.writing("UpdateAssignment"):
        await board.drag(id, days=1)  # Now that it is known how it is.
    await board.shows(id, "Bridge, Ada, 5 – 13 Mar 2026")


async def test_what_somebody_else_has_deleted_goes_from_the_board(
    visit: Visit, api: Api, team: str
) -> None:
    page, id = await with_one(visit, api, team, live=False)
    board = Board(page)
    await api.mutate("deleteAssignment", "errors { code }", id=id)
    await board.drag(id, days=3)
    await expect(page.get_by_role("log")).to_contain_text("It is not there any more")
    await expect(board.bar(id)).to_have_count(0)


async def test_scrolling_asks_for_what_comes_into_view_and_for_nothing_twice(
    visit: Visit, api: Api, team: str
) -> None:
    page, id = await with_one(visit, api, team)
    board = Board(page)
    asked: list[dict[str, str]] = []

    def note(request: Request) -> None:
        if "assignments(from" in (sent := request.post_data or ""):
            asked.append(json.loads(sent)["variables"])

    page.on("request", note)
    person = await api.resource("Eve")
    later = await api.assignment(person, await api.project("Tunnel"), "2026-08-03", "2026-08-04")
    for _ in range(6):
        async with board.writing("Overlaps"):
            await board.button("Later").click()
    await expect(board.bar(later)).to_be_visible()
    await expect(board.bar(id)).to_have_count(0)
    for _ in range(6):
        await board.button("Earlier").click()
    await expect(board.bar(id)).to_be_visible()
    spans = sorted((each["from"], each["to"]) for each in asked)
    assert spans[0][0] == "2026-05-01"  # Up to the end of April was there from the start.
    assert all(one[1] < other[0] for one, other in pairwise(spans))


async def test_overlaps_are_marked_and_listed_and_block_nothing(
    visit: Visit, api: Api, team: str, shoot: Shoot
) -> None:
    page, id = await with_one(visit, api, team)
    board = Board(page)
    await expect(page.locator(".vis-item.overlap")).to_have_count(0)
    await api.assignment(
        await person_of(api, id), await api.project("Tunnel", "#aa3377"), "2026-03-09", "2026-03-12"
    )
    await page.reload()
    await board.drag(id, days=3)
    await expect(page.locator(".vis-item.overlap")).to_have_count(1)
    await board.shows(id, "overlaps with another")
    summary = page.get_by_text("1 overlap in view")
    await summary.click()
    await expect(page.get_by_role("listitem").filter(has_text="9 – 10 Mar 2026")).to_contain_text(
        "Ada"
    )
    await shoot(page, "timeline-overlap")
    assert await violations(page) == []
    await board.button("Later").click()
    await expect(page.locator(".overlaps")).to_have_count(0)
    await board.button("Earlier").click()
    await expect(summary).to_be_visible()
    await board.drag(id, days=-3)
    await expect(summary).to_have_count(0)
    await expect(page.locator(".vis-item.overlap")).to_have_count(0)


async def person_of(api: Api, id: str) -> str:
    data = await api.data(
        "query($id: ID!) { node(id: $id) { ... on Assignment { resourceId } } }", id=id
    )
    return str(data["node"]["resourceId"])


async def with_one(visit: Visit, api: Api, team: str, **more: Any) -> tuple[Page, str]:
    """A page of a team with two people, and one assignment of the first: 4 to 7 March 2026."""
    person = await api.resource("Ada")
    await api.resource("Ken")
    id = await api.assignment(person, await api.project("Bridge"), "2026-03-04", "2026-03-07")
    page = await visit("/", team=team, **more)
    await expect(Board(page).bar(id)).to_be_visible()
    return page, id
