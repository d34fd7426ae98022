"""Wherever the user is: in English and Japanese, and in any time zone, where days stay days."""

import re
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from playwright.async_api import expect

from tests.api_client import Api
from tests.browser.axe import violations
from tests.browser.board import Board, stored
from tests.browser.conftest import Shoot, Visit

pytestmark = pytest.mark.web


async def test_the_language_is_the_browsers_until_another_is_chosen_which_is_kept(
    visit: Visit, shoot: Shoot
) -> None:
    page = await visit("/", now=None, locale="ja-JP")
    board = Board(page)
    html = page.locator("html")
    await expect(html).to_have_attribute("lang", "ja")
    await expect(board.button("予定を追加")).to_be_visible()
    await expect(page.locator(".vis-text.vis-major").last).to_have_text(
        re.compile(r"^\d{4}年\d+月$")
    )
    await expect(board.bars.first).to_be_visible()
    await shoot(page, "timeline-japanese")
    assert await violations(page) == []
    await board.button("English").click()
    await expect(html).to_have_attribute("lang", "en")
    await page.reload()
    await expect(board.button("Add assignment")).to_be_visible()
    await expect(page.locator(".vis-text.vis-major").last).to_have_text(
        re.compile(r"^[A-Z][a-z]+ \d{4}$")
    )


async def test_a_browser_in_any_other_language_gets_english(visit: Visit) -> None:
    page = await visit("/", locale="de-DE")
    await expect(Board(page).button("Add assignment")).to_be_visible()


@pytest.mark.parametrize(
    ("zone", "now", "today"),
    [
        # Fourteen hours before, and eleven after, what Greenwich has.
        ("Pacific/Kiritimati", datetime(2026, 3, 2, 12, tzinfo=UTC), "2026-03-03"),
        ("Pacific/Pago_Pago", datetime(2026, 3, 3, 9, tzinfo=UTC), "2026-03-02"),
        # A quarter to midnight; two hours later the clocks go forward.
        ("America/St_Johns", datetime(2026, 3, 8, 3, 15, tzinfo=UTC), "2026-03-07"),
        # Where the day of the change begins at one o'clock.
        ("America/Havana", datetime(2026, 3, 7, 12, tzinfo=UTC), "2026-03-07"),
    ],
)
async def test_a_day_is_the_same_day_in_every_time_zone(
    visit: Visit, api: Api, team: str, zone: str, now: datetime, today: str
) -> None:
    """P-02: days have no time zone; only which of them is today depends on where one is."""
    await api.resource("Ada")
    await api.project("Bridge")
    page = await visit("/", team=team, timezone_id=zone, now=now)
    board = Board(page)
    await expect(page.locator(".vis-time-axis mark")).to_have_text(str(int(today[-2:])))
    await board.button("Add assignment").click()
    await expect(page.get_by_label("First day")).to_have_value(today)
    await page.get_by_role("combobox", name="Person").select_option("Ada")
    await page.get_by_role("combobox", name="Project").select_option("Bridge")
    await page.get_by_label("First day").fill("2026-03-07")
    await page.get_by_label("Last day").fill("2026-03-09")
    await board.button("Save").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    data = await api.data("{ team { assignments { id startDate endDate } } }")
    [made] = data["team"]["assignments"]
    assert (made["startDate"], made["endDate"]) == ("2026-03-07", "2026-03-09")
    await board.shows(made["id"], "7 – 9 Mar 2026")
    async with board.writing("UpdateAssignment"):
        await board.drag(made["id"], days=1)
    await board.shows(made["id"], "8 – 10 Mar 2026")
    found = await stored(api, made["id"])
    assert (found["startDate"], found["endDateExclusive"]) == ("2026-03-08", "2026-03-11")
    await page.reload()
    await board.shows(made["id"], "8 – 10 Mar 2026")


@pytest.mark.parametrize("width", [1280, 800])
async def test_the_axis_follows_the_width_of_the_page(
    visit: Visit, api: Api, team: str, shoot: Shoot, width: int
) -> None:
    """As wide as it was loaded, the other width, and back: the number of every day, or of Mondays
    and today; weekends are shaded and today is marked with either."""
    await api.resource("Ada")
    page = await visit("/", team=team, viewport={"width": width, "height": 700})
    labels = page.locator(".vis-time-axis .vis-text.vis-minor:not(.vis-measure)")
    numbers = labels.filter(has_text=re.compile(r"\d"))
    for each in (width, 2080 - width, width):
        await page.set_viewport_size({"width": each, "height": 700})
        tuesday = numbers.filter(has_text=re.compile("^10$"))  # 10 March 2026
        await expect(tuesday).to_have_count(1 if each == 1280 else 0)
        await expect(numbers.filter(has_text=re.compile("^16$"))).to_have_count(1)
        await expect(page.locator(".vis-time-axis mark")).to_have_text("2")
        weekends = page.locator(".vis-time-axis .vis-grid.vis-minor.vis-saturday")
        await expect(weekends).not_to_have_count(0)
        lefts = sorted(
            [box["x"] for one in await numbers.all() if (box := await one.bounding_box())]
        )
        assert min(b - a for a, b in pairwise(lefts)) > 20
        await shoot(page, f"timeline-axis-{each}")
