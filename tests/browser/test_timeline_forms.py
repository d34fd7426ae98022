"""The timeline's forms: from an empty team to a plan, and what goes when something is deleted."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.api_client import Api
from tests.browser.axe import violations
from tests.browser.board import Board
from tests.browser.conftest import Shoot, Visit

pytestmark = pytest.mark.web


async def test_an_empty_team_is_filled_by_forms_whose_last_day_is_included(
    visit: Visit, api: Api, team: str, shoot: Shoot
) -> None:
    page = await visit("/", team=team)
    board = Board(page)
    await expect(
        page.get_by_role("heading", name="Nobody is here to be planned yet")
    ).to_be_visible()
    await expect(board.button("Add assignment")).to_be_disabled()
    await shoot(page, "timeline-empty")
    assert await violations(page) == []

    await page.get_by_role("main").get_by_role("button", name="Add person").click()
    await save(page)
    await expect(page.get_by_text("A name is needed.")).to_be_visible()
    assert await violations(page) == []
    await page.get_by_label("Name").fill("佐藤 健")
    await save(page)
    await expect(page.locator(".row-name")).to_have_text("佐藤 健")

    await board.button("Add project").click()
    await page.get_by_label("Name").fill("Köln fit-out")
    await page.get_by_label("Colour").fill("#ffd700")
    await save(page)
    await expect(page.get_by_role("list", name="Projects")).to_have_text(re.compile("Köln fit-out"))

    await board.button("Add assignment").click()
    await page.get_by_role("combobox", name="Person").select_option("佐藤 健")
    await page.get_by_role("combobox", name="Project").select_option("Köln fit-out")
    await page.get_by_label("First day").fill("2026-03-05")
    await page.get_by_label("Last day").fill("2026-03-04")
    await save(page)
    await expect(page.get_by_text("The last day is before the first.")).to_be_visible()
    await page.get_by_label("Last day").fill("2026-03-06")
    await expect(page.get_by_text("2 days")).to_be_visible()
    await page.get_by_label("Note").fill("午前のみ\nsecond line")
    await shoot(page, "timeline-form")
    assert await violations(page) == []
    await save(page)
    await expect(page.get_by_role("dialog")).to_have_count(0)

    data = await api.data("{ team { assignments { id startDate endDate note version } } }")
    [made] = data["team"]["assignments"]
    assert (made["startDate"], made["endDate"]) == ("2026-03-05", "2026-03-06")
    assert made["note"] == "午前のみ\nsecond line"
    await board.shows(made["id"], "Köln fit-out, 佐藤 健, 5 – 6 Mar 2026, 午前のみ")
    bar = board.bar(made["id"])
    await expect(bar).to_have_css("background-color", "rgb(255, 215, 0)")
    await expect(bar).to_have_css("color", "rgb(0, 0, 0)")  # White would be 1.4 to 1.
    box = await bar.bounding_box()
    today = await page.locator(".vis-item.today").bounding_box()
    assert box is not None
    assert today is not None
    assert box["width"] == pytest.approx(2 * today["width"], abs=2)
    assert box["x"] == pytest.approx(today["x"] + 3 * today["width"], abs=2)


async def test_what_is_created_out_of_view_is_brought_into_view(
    visit: Visit, api: Api, team: str
) -> None:
    await api.resource("Ada")
    await api.project("Bridge")
    page = await visit("/", team=team)
    await Board(page).button("Add assignment").click()
    await expect(page.get_by_role("combobox", name="Person")).to_have_value("")
    await save(page)
    await expect(page.get_by_role("combobox", name="Person")).to_have_attribute(
        "aria-invalid", "true"
    )
    await expect(page.get_by_role("combobox", name="Project")).to_have_attribute(
        "aria-invalid", "true"
    )
    await page.get_by_role("combobox", name="Person").select_option("Ada")
    await page.get_by_role("combobox", name="Project").select_option("Bridge")
    await page.get_by_label("First day").fill("2027-01-11")
    await page.get_by_label("Last day").fill("2027-01-15")
    await save(page)
    await expect(Board(page).bars).to_have_count(1)
    await expect(Board(page).bars.first).to_be_visible()
    said = re.compile(r"Ada.? is planned for .?Bridge.?, 11\s–\s15 Jan 2027\.")
    await expect(page.get_by_role("log")).to_have_text(said)


async def test_a_conflict_in_the_form_keeps_what_was_typed_and_can_be_saved_then(
    visit: Visit, api: Api, team: str
) -> None:
    ada = await api.resource("Ada")
    id = await api.assignment(ada, await api.project("Bridge"), "2026-03-04", "2026-03-07")
    page = await visit("/", team=team)
    await Board(page).bar(id).click()
    await page.get_by_label("Note").fill("mine")
    await api.mutate("updateAssignment", "errors { code }", id=id, note="theirs")
    await save(page)
    await expect(page.get_by_role("alert")).to_contain_text("Somebody else changed it first")
    await expect(page.get_by_label("Note")).to_have_value("mine")
    await save(page)
    await expect(page.get_by_role("dialog")).to_have_count(0)
    data = await api.data("{ team { assignments { note version } } }")
    assert data["team"]["assignments"] == [{"note": "mine", "version": 3}]


async def save(page: Page) -> None:
    await page.get_by_role("button", name="Save", exact=True).click()
