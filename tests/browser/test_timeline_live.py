"""The timeline moves when somebody else moves a bar: on another page, or by the API."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from playwright.async_api import Page, Request, Route, expect

from tests.api_client import Api
from tests.browser.axe import violations
from tests.browser.board import FAILED, GRAPHQL, Board, stored
from tests.browser.conftest import Shoot, Visit
from tests.browser.proxy import Line, line_to
from tests.browser.served import running_dev
from tests.browser.test_timeline_states import without_session

pytestmark = pytest.mark.web

RECONNECTING: Final = "Not live: reconnecting …"


@pytest.fixture
async def line(dev: str) -> AsyncIterator[Line]:
    """A connection to the server that can be cut."""
    async with line_to(dev) as line:
        yield line


class Asked:
    """What a page asks the server from now on: names of operations, and their variables."""

    def __init__(self, page: Page) -> None:
        self.all: list[tuple[str, dict[str, Any]]] = []
        page.on("request", self._note)

    def of(self, *names: str) -> list[dict[str, Any]]:
        return [variables for name, variables in self.all if name in names]

    @property
    def the_plan(self) -> list[dict[str, Any]]:
        """The requests for the plan, or for a part of it."""
        return self.of("Timeline", "Window", "Again")

    def _note(self, request: Request) -> None:
        if GRAPHQL.search(request.url):
            sent = json.loads(request.post_data or "{}")
            [name] = re.findall(r"(?:query|mutation|subscription) (\w+)", sent["query"])
            self.all.append((name, sent["variables"]))


async def test_a_bar_that_is_dragged_on_one_page_moves_on_the_other(
    visit: Visit, api: Api, team: str
) -> None:
    one, id, _ = await with_two(visit, api, team)
    other = await visit("/", team=team)
    await Board(other).shows(id, "Bridge, Ada, 4 – 7 Mar 2026")
    asked = Asked(other)
    async with Board(other).writing("Overlaps"):  # Which the change brings about, and waits for.
        await Board(one).drag(id, days=3, rows=1)
    await Board(other).shows(id, "Bridge, Ken, 7 – 10 Mar 2026")
    assert asked.the_plan == []


async def test_what_others_create_change_and_delete_is_where_it_belongs(
    visit: Visit, api: Api, team: str
) -> None:
    page, id, other = await with_two(visit, api, team)
    board = Board(page)
    asked = Asked(page)
    await change(api, "Assignment", id, startDate="2031-01-01", endDate="2031-01-02")
    await expect(board.bar(id)).to_have_count(0)
    await change(api, "Assignment", id, startDate="2026-03-11", endDate="2026-03-12", note="back")
    await board.shows(id, "Bridge, Ada, 11 – 12 Mar 2026", "back")

    eve, tower = await api.resource("Eve"), await api.project("Tower", "#112233")
    new = await api.assignment(eve, tower, "2026-03-05", "2026-03-06")
    await board.shows(new, "Tower, Eve, 5 – 6 Mar 2026")
    await expect(page.locator(".row-name")).to_have_text(["Ada", "Ken", "Eve"])
    await change(api, "Project", tower, name="Mast", color="#00ff00")
    await change(api, "Resource", eve, name="Yves")
    await board.shows(new, "Mast, Yves, 5 – 6 Mar 2026")
    await expect(board.bar(new)).to_have_css("background-color", "rgb(0, 255, 0)")

    await remove(api, "Assignment", other)
    await expect(board.bar(other)).to_have_count(0)
    await remove(api, "Project", tower)
    await expect(board.bar(new)).to_have_count(0)
    await expect(board.button("Mast")).to_have_count(0)
    await remove(api, "Resource", eve)
    await expect(page.locator(".row-name")).to_have_text(["Ada", "Ken"])
    assert asked.the_plan == []


async def test_overlaps_that_others_make_are_marked(visit: Visit, api: Api, team: str) -> None:
    page, id, other = await with_two(visit, api, team)
    ada = (await api.data("{ team { resources { id } } }"))["team"]["resources"][0]["id"]
    await change(api, "Assignment", other, resourceId=ada, startDate="2026-03-06")
    await Board(page).shows(id, "overlaps with another")
    await expect(page.get_by_text("1 overlap in view")).to_be_visible()


async def test_what_others_change_during_a_drag_breaks_nothing_and_is_not_lost(
    visit: Visit, api: Api, team: str
) -> None:
    page, id, other = await with_two(visit, api, team)
    board = Board(page)
    async with board.writing("UpdateAssignment"), board.dragging(id, days=4):
        before = await board.bar(other).bounding_box()
        async with board.writing("Overlaps"):  # Asked for after each change that has come.
            await change(api, "Assignment", other, startDate="2026-03-02", endDate="2026-03-03")
        assert await board.bar(other).bounding_box() == before
    await board.shows(id, "Bridge, Ada, 8 – 11 Mar 2026")
    await board.shows(other, "Bridge, Ken, 2 – 3 Mar 2026")
    after = await board.bar(other).bounding_box()
    assert before
    assert after
    assert after["x"] < before["x"] - 100
    assert (await stored(api, id))["startDate"] == "2026-03-08"


async def test_a_change_of_the_very_bar_that_is_dragged_is_a_conflict(
    visit: Visit, api: Api, team: str
) -> None:
    page, id, _ = await with_two(visit, api, team)
    board = Board(page)
    async with board.dragging(id, days=4), board.writing("Overlaps"):
        await change(api, "Assignment", id, endDate="2026-03-12")
    await expect(page.get_by_role("log")).to_contain_text("Somebody else changed it first")
    await board.shows(id, "Bridge, Ada, 4 – 12 Mar 2026")
    found = await stored(api, id)
    assert (found["startDate"], found["version"]) == ("2026-03-04", 2)


async def test_what_is_deleted_while_it_is_dragged_is_said_to_be_gone(
    visit: Visit, api: Api, team: str
) -> None:
    page, id, _ = await with_two(visit, api, team)
    board = Board(page)
    async with board.dragging(id, days=4):
        async with board.writing("Overlaps"):
            await remove(api, "Assignment", id)
        await expect(board.bar(id)).to_be_visible()
    await expect(page.get_by_role("log")).to_contain_text("It is not there any more")
    await expect(board.bar(id)).to_have_count(0)


@pytest.mark.parametrize(
    ("type", "index", "steps"),
    [
        ("Assignment", 0, []),
        ("Assignment", 0, ["Delete"]),
        ("Resource", 0, []),
        ("Resource", 0, ["Delete"]),
        ("Project", 0, []),
    ],
)
async def test_a_dialog_whose_object_somebody_deletes_says_so(
    visit: Visit, api: Api, team: str, type: str, index: int, steps: list[str]
) -> None:
    page, id, _ = await with_two(visit, api, team)
    board = Board(page)
    data = (await api.data("{ team { resources { id } projects { id } } }"))["team"]
    ids = {"Assignment": id}
    ids |= {"Resource": data["resources"][0]["id"], "Project": data["projects"][0]["id"]}
    opener = {"Assignment": board.bar(id), "Resource": board.button("Ada")}
    await opener.get(type, board.button("Bridge")).click()
    dialog = page.get_by_role("dialog")
    for step in steps:
        await dialog.get_by_role("button", name=step).click()
    last = dialog.get_by_role("button", name="Delete" if steps else "Save")
    await expect(last).to_be_enabled()
    await remove(api, type, ids[type])
    await expect(dialog.get_by_role("alert")).to_contain_text("It is not there any more")
    await expect(last).to_be_disabled()
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(dialog).to_have_count(0)


async def test_after_a_lost_connection_the_page_has_what_it_missed_and_asks_for_nothing_else(
    visit: Visit, api: Api, team: str, line: Line, shoot: Shoot
) -> None:
    page, id, other = await with_two(visit, api, team, base_url=line.url, expected=[FAILED])
    board = Board(page)
    asked = Asked(page)
    await line.cut()
    await expect(page.get_by_text(RECONNECTING)).to_be_visible()
    await shoot(page, "timeline-not-live")
    assert await violations(page) == []
    await change(api, "Assignment", id, startDate="2026-03-02", endDate="2026-03-03")
    await remove(api, "Assignment", other)
    await line.mend()
    await board.shows(id, "Bridge, Ada, 2 – 3 Mar 2026")
    await expect(board.bar(other)).to_have_count(0)
    await expect(page.get_by_text(RECONNECTING)).to_have_count(0)
    assert asked.the_plan == []
    assert {type(each["since"]) for each in asked.of("TeamChanged")} == {str}
    # And it goes on.
    await change(api, "Assignment", id, endDate="2026-03-05")
    await board.shows(id, "Bridge, Ada, 2 – 5 Mar 2026")


async def test_what_is_too_long_ago_to_be_told_is_asked_for_again(
    visit: Visit, api: Api, team: str, line: Line
) -> None:
    page, id, other = await with_two(visit, api, team, base_url=line.url, expected=[FAILED])
    board = Board(page)

    async def too_old(route: Route) -> None:
        """The real refusal, of a cursor that the server can't know."""
        sent = route.request.post_data_json
        assert isinstance(sent, dict)
        if sent["variables"].get("since"):
            sent["variables"]["since"] = "long-ago"
        await route.continue_(post_data=json.dumps(sent))

    await line.cut()
    await expect(page.get_by_text(RECONNECTING)).to_be_visible()
    await change(api, "Assignment", id, startDate="2026-03-02", endDate="2026-03-03")
    await remove(api, "Assignment", other)
    await page.context.route(GRAPHQL, too_old)
    asked = Asked(page)
    await line.mend()
    await board.shows(id, "Bridge, Ada, 2 – 3 Mar 2026")
    await expect(board.bar(other)).to_have_count(0)
    await expect(page.get_by_text(RECONNECTING)).to_have_count(0)
    assert len(asked.of("Timeline")) == 1
    assert asked.of("TeamChanged")[-1]["since"] is None
    await change(api, "Assignment", id, endDate="2026-03-05")
    await board.shows(id, "Bridge, Ada, 2 – 5 Mar 2026")


async def test_a_session_that_has_ended_is_said_and_not_tried_again(
    visit: Visit, api: Api, team: str, line: Line
) -> None:
    page, _, _ = await with_two(visit, api, team, base_url=line.url, expected=[FAILED])
    await line.cut()
    await page.context.route(GRAPHQL, without_session)
    await expect(page.get_by_text(RECONNECTING)).to_be_visible()
    await line.mend()
    await expect(page.get_by_text("Not live. You are signed out")).to_be_visible()
    asked = Asked(page)
    await page.clock.run_for(120_000)
    assert asked.of("TeamChanged") == []


async def test_a_page_that_nobody_sees_lets_its_connection_go_and_has_all_when_it_is_seen(
    visit: Visit, api: Api, team: str
) -> None:
    page, id, _ = await with_two(visit, api, team)
    asked = Asked(page)
    async with page.expect_event("requestfailed"):
        await seen(page, False)
    await change(api, "Assignment", id, startDate="2026-03-02", endDate="2026-03-03")
    assert asked.of("TeamChanged") == []
    await seen(page, True)
    await Board(page).shows(id, "Bridge, Ada, 2 – 3 Mar 2026")
    assert asked.the_plan == []
    await expect(page.get_by_text(RECONNECTING)).to_have_count(0)


async def test_on_a_server_without_live_updates_the_page_works_as_ever(
    visit: Visit, team: str
) -> None:
    with running_dev(PLANNER_LIVE="false") as url:
        page = await visit(None, base_url=url)
        asked = Asked(page)
        await page.goto("/")
        await expect(page.locator(".row-name")).to_have_count(12)
        async with Board(page).writing("Overlaps"):
            await Board(page).button("Later").click()
        await page.clock.run_for(120_000)
        await expect(page.get_by_text("Not live")).to_have_count(0)
        assert asked.of("TeamChanged") == [{"since": None}]
        await page.close()


async def seen(page: Page, is_seen: bool) -> None:
    """Tells the page that it is in a tab before the others, or behind one."""
    await page.evaluate(
        "hidden => {"
        "  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
        "  document.dispatchEvent(new Event('visibilitychange')) }",
        not is_seen,
    )


async def change(api: Api, type: str, id: str, **input: Any) -> None:
    payload = await api.mutate(f"update{type}", "errors { message }", id=id, **input)
    assert payload["errors"] == []


async def remove(api: Api, type: str, id: str) -> None:
    payload = await api.mutate(f"delete{type}", "errors { message }", id=id)
    assert payload["errors"] == []


async def with_two(visit: Visit, api: Api, team: str, **options: Any) -> tuple[Page, str, str]:
    """A live page of a team with two people, and an assignment of each: 4 to 7 and 9 to 10 March
    2026."""
    ada, ken = await api.resource("Ada"), await api.resource("Ken")
    bridge = await api.project("Bridge")
    first = await api.assignment(ada, bridge, "2026-03-04", "2026-03-07")
    second = await api.assignment(ken, bridge, "2026-03-09", "2026-03-10")
    page = await visit(None, team=team, **options)
    async with page.expect_response(
        lambda response: "subscription" in (response.request.post_data or "")
    ):
        await page.goto("/")
    await Board(page).shows(second, "9 – 10 Mar 2026")
    return page, first, second
