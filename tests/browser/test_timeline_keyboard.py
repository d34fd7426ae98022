"""The timeline by keys alone: as the page's own help lists them."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from playwright.async_api import Page, expect

from tests.api_client import Api
from tests.browser.axe import violations
from tests.browser.board import Board, stored
from tests.browser.conftest import NOW, Shoot, Visit
from tests.docs.documents import ROOT, rows

pytestmark = pytest.mark.web

KEYS = r"(?:Tab|Enter|Delete|(?:\w+ )?[↑↓←→] [↑↓←→])"


async def test_tab_leads_to_the_bars_and_on_and_arrows_go_through_them(
    visit: Visit, api: Api, team: str
) -> None:
    page, first, second = await with_two(visit, api, team)
    await page.get_by_role("button", name="Bridge", exact=True).focus()
    await page.keyboard.press("Tab")
    await expect(Board(page).bar(first)).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(Board(page).bar(second)).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(Board(page).bar(first)).to_be_focused()
    for name in ("Ada", "Ken"):
        await page.keyboard.press("Tab")
        await expect(Board(page).button(name)).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.get_by_text("Mouse and keyboard")).to_be_focused()


async def test_the_help_of_the_page_and_of_this_repository_are_one(
    visit: Visit, api: Api, team: str
) -> None:
    page, _, _ = await with_two(visit, api, team)
    await page.get_by_text("Mouse and keyboard").click()
    keys = page.locator("#help dt")
    shown = [" ".join(await key.locator("kbd").all_inner_texts()) for key in await keys.all()]
    meanings = await page.locator("#help dd").all_inner_texts()
    assert dict(zip(shown, meanings, strict=True)) == {
        key: cells[0] for key, cells in rows(ROOT / "docs" / "timeline.md", KEYS).items()
    }


async def test_arrows_move_resize_and_give_away_and_the_keyboard_stays_on_the_bar(
    visit: Visit, api: Api, team: str
) -> None:
    page, id, _ = await with_two(visit, api, team)
    board = Board(page)
    await board.bar(id).focus()
    async with board.writing("UpdateAssignment"), at_once(page):
        for _ in range(3):
            await page.keyboard.press("ArrowRight")
        await page.keyboard.press("ArrowLeft")
    await board.shows(id, "Bridge, Ada, 6 – 9 Mar 2026")
    found = await stored(api, id)
    assert (found["startDate"], found["version"]) == ("2026-03-06", 2)  # Four keys, one write.
    async with board.writing("UpdateAssignment"):
        await page.keyboard.press("Shift+ArrowRight")
    async with board.writing("UpdateAssignment"):
        await page.keyboard.press("Alt+ArrowDown")
    await board.shows(id, "Bridge, Ken, 6 – 10 Mar 2026")
    await expect(board.bar(id)).to_be_focused()
    found = await stored(api, id)
    assert (found["resource"], found["endDate"]) == ({"name": "Ken"}, "2026-03-10")


async def test_a_bar_never_ends_before_it_begins(visit: Visit, api: Api, team: str) -> None:
    page, id, _ = await with_two(visit, api, team)
    board = Board(page)
    await board.bar(id).focus()
    async with board.writing("UpdateAssignment"), at_once(page):
        for _ in range(6):
            await page.keyboard.press("Shift+ArrowLeft")
    found = await stored(api, id)
    assert (found["startDate"], found["endDate"]) == ("2026-03-04", "2026-03-04")


async def test_keys_that_follow_before_the_answer_are_no_conflict_with_oneself(
    visit: Visit, api: Api, team: str
) -> None:
    page, id, _ = await with_two(visit, api, team)
    board = Board(page)
    await board.bar(id).focus()
    async with board.writing("UpdateAssignment"):
        await page.keyboard.press("ArrowRight")
    # Faster than any answer: the second is under way when the third is due.
    async with board.writing('"endDate":"2026-03-10"'):
        await board.drag(id, days=1)
        await board.drag(id, days=1)
    await board.shows(id, "Bridge, Ada, 7 – 10 Mar 2026")
    await expect(page.get_by_text("Somebody else changed it first")).to_have_count(0)
    assert (await stored(api, id))["startDate"] == "2026-03-07"


async def test_enter_edits_escape_leaves_and_the_keyboard_is_back_on_the_bar(
    visit: Visit, api: Api, team: str, shoot: Shoot
) -> None:
    page, id, _ = await with_two(visit, api, team)
    board = Board(page)
    await board.bar(id).focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Edit assignment")
    await expect(dialog.get_by_label("First day")).to_have_value("2026-03-04")
    await shoot(page, "timeline-edit")
    assert await violations(page) == []
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(board.bar(id)).to_be_focused()


async def test_delete_asks_first_and_the_keyboard_goes_on_to_the_neighbour(
    visit: Visit, api: Api, team: str
) -> None:
    page, first, second = await with_two(visit, api, team)
    board = Board(page)
    await board.bar(first).focus()
    await page.keyboard.press("Delete")
    dialog = page.get_by_role("dialog", name="Delete this assignment?")
    await expect(dialog).to_contain_text(re.compile(r"Bridge.?, .?Ada.?, 4\s–\s7 Mar 2026\."))
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await expect(board.bar(first)).to_have_count(0)
    await expect(board.bar(second)).to_be_focused()
    assert await stored(api, first) is None
    assert await stored(api, second) is not None


async def test_arrows_go_to_the_bars_in_view_and_the_days_stay(
    visit: Visit, api: Api, team: str
) -> None:
    page, first, second = await with_two(visit, api, team)
    data = await api.data("{ team { resources { id } projects { id } } }")
    ada, project = data["team"]["resources"][0]["id"], data["team"]["projects"][0]["id"]
    far = await api.assignment(ada, project, "2026-04-20", "2026-04-21")
    board = Board(page)
    await loaded(board, second)
    days = await page.locator("output").inner_text()
    await board.bar(first).focus()
    await expect(board.bar(first)).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(board.bar(second)).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(board.bar(first)).to_be_focused()
    await expect(page.locator("output")).to_have_text(days)
    await expect(board.bar(far)).to_have_count(0)


async def test_after_a_deletion_the_keyboard_is_on_what_is_beside(
    visit: Visit, api: Api, team: str
) -> None:
    """A bar out of view is not beside: the row's name is. Then come rows, and what adds one."""
    page, first, second = await with_two(visit, api, team)
    data = await api.data("{ team { resources { id } projects { id } } }")
    ken, project = data["team"]["resources"][1]["id"], data["team"]["projects"][0]["id"]
    await api.assignment(ken, project, "2026-04-20", "2026-04-21")
    board = Board(page)
    await loaded(board, second)
    await board.bar(second).focus()
    await expect(board.bar(second)).to_be_focused()
    await delete(page, "Delete")
    await expect(board.bar(first)).to_be_focused()
    await page.keyboard.press("Enter")
    await delete(page)
    await expect(board.button("Ada")).to_be_focused()
    await page.keyboard.press("Enter")
    await delete(page)
    await expect(board.button("Ken")).to_be_focused()
    await board.button("Bridge").press("Enter")
    await delete(page)
    await expect(board.button("Add person")).to_be_focused()
    await board.button("Ken").press("Enter")
    await delete(page)
    await expect(page.locator("header").get_by_role("button", name="Add person")).to_be_focused()


async def delete(page: Page, key: str | None = None) -> None:
    """Deletes by keys: what that key asks to delete, or what the form that is open is of."""
    if key:
        await page.keyboard.press(key)
    else:
        await page.get_by_role("button", name="Delete", exact=True).press("Enter")
    dialog = page.get_by_role("dialog", name=re.compile(r"^Delete .*\?$"))
    confirm = dialog.get_by_role("button", name="Delete", exact=True)
    await expect(confirm).to_be_enabled()
    await confirm.press("Enter")
    await expect(dialog).to_have_count(0)


async def test_what_a_viewer_may_only_read_no_key_changes(
    visit: Visit, api: Api, team: str
) -> None:
    _, id, _ = await with_two(visit, api, team)
    page = await visit("/", team=team, role="viewer")
    board = Board(page)
    await board.bar(id).focus()
    for key in ("ArrowRight", "Delete", "Enter"):
        await page.keyboard.press(key)
    await board.drag(id, days=2)
    await expect(page.get_by_text("You may look at this plan, not change it.")).to_be_visible()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(board.button("Add assignment")).to_have_count(0)
    await board.shows(id, "Bridge, Ada, 4 – 7 Mar 2026")
    assert (await stored(api, id))["version"] == 1


@asynccontextmanager
async def at_once(page: Page) -> AsyncIterator[None]:
    """Meanwhile the page's clock stands still, as if all that is done took no time."""
    await page.clock.pause_at(NOW + timedelta(hours=1))
    yield
    await page.clock.resume()


async def with_two(visit: Visit, api: Api, team: str) -> tuple[Page, str, str]:
    """A page of a team with two people, and an assignment of each: 4 to 7, 10 to 11 March 2026."""
    ada, ken = await api.resource("Ada"), await api.resource("Ken")
    project = await api.project("Bridge")
    first = await api.assignment(ada, project, "2026-03-04", "2026-03-07")
    second = await api.assignment(ken, project, "2026-03-10", "2026-03-11")
    page = await visit(None, team=team)
    await loaded(Board(page), second)
    return page, first, second


async def loaded(board: Board, id: str) -> None:
    """Loads the page and waits until the chart has done with the bar: it puts its bars in again
    when more has come, and the keyboard would be on one that is gone."""
    async with board.writing("Overlaps"):
        await board.page.goto("/")
    await board.at_rest(id)
