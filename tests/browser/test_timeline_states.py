"""What the timeline says when something is missing: the session, the network, some items."""

import json
import re

import httpx
import pytest
from playwright.async_api import Route, expect

from tests.api_client import Api
from tests.browser.axe import violations
from tests.browser.board import FAILED, GRAPHQL, Board, stored
from tests.browser.conftest import Shoot, Visit

pytestmark = pytest.mark.web

TEAM = "team-of-states"


async def without_session(route: Route) -> None:
    """The server's own answer to the same request without its cookie; for the page it is lost as
    well where the server can't be reached."""
    try:
        async with httpx.AsyncClient() as client:
            answer = await client.post(route.request.url, json=route.request.post_data_json)
    except httpx.TransportError:
        await route.abort("connectionfailed")
        return
    await route.fulfill(status=answer.status_code, json=answer.json())


async def test_whoever_is_signed_out_is_told_so_and_can_load_again(
    visit: Visit, api: Api, team: str, shoot: Shoot
) -> None:
    await api.resource("Ada")
    page = await visit(None, team=team, expected=[FAILED])
    await page.context.route(GRAPHQL, without_session)
    await page.goto("/")
    await expect(page.get_by_role("alert")).to_have_text(re.compile("You are signed out"))
    await shoot(page, "timeline-signed-out")
    assert await violations(page) == []
    await page.context.unroute(GRAPHQL)
    await Board(page).button("Load again").click()
    await expect(page.locator(".row-name")).to_have_text("Ada")


async def test_a_move_after_the_session_has_ended_is_taken_back(
    visit: Visit, api: Api, team: str
) -> None:
    id = await one(api)
    page = await visit(None, team=team, expected=[FAILED])
    await page.goto("/")
    board = Board(page)
    await board.shows(id, "4 – 7 Mar 2026")
    await page.context.route(GRAPHQL, without_session)
    await board.drag(id, days=2)
    await expect(page.get_by_role("log")).to_contain_text("You are signed out")
    await board.shows(id, "4 – 7 Mar 2026")
    assert (await stored(api, id))["version"] == 1


async def test_without_a_network_the_page_says_so_and_tries_again_when_told(
    visit: Visit, api: Api, team: str
) -> None:
    await api.resource("Ada")
    page = await visit(None, team=team, expected=[FAILED])
    await page.context.route(GRAPHQL, lambda route: route.abort("internetdisconnected"))
    await page.goto("/")
    await expect(page.get_by_role("alert")).to_have_text(re.compile("can't be reached"))
    await page.context.unroute(GRAPHQL)
    await Board(page).button("Try again").click()
    await expect(page.locator(".row-name")).to_have_text("Ada")


async def test_days_that_could_not_be_had_are_asked_for_again_when_told(
    visit: Visit, api: Api, team: str
) -> None:
    id = await one(api)
    far = await api.assignment(
        await api.resource("Ken"), await api.project("Tunnel"), "2026-06-10", "2026-06-12"
    )
    page = await visit(None, team=team, expected=[FAILED])
    await page.goto("/")
    board = Board(page)
    await expect(board.bar(id)).to_be_visible()
    await page.context.route(GRAPHQL, lambda route: route.abort())
    for _ in range(4):
        await board.button("Later").click()
    await expect(page.get_by_role("alert")).to_have_text(re.compile("can't be reached"))
    await page.context.unroute(GRAPHQL)
    await board.button("Try again").click()
    await expect(board.bar(far)).to_be_visible()
    await expect(page.get_by_role("alert")).to_have_count(0)


async def test_a_fault_of_the_server_comes_with_the_number_that_finds_it_in_the_log(
    visit: Visit, shoot: Shoot
) -> None:
    page = await visit(None, team=TEAM, expected=[FAILED])
    extensions = {"code": "INTERNAL", "correlationId": "0123456789abcdef"}
    fault = {"data": None, "errors": [{"message": "Internal error", "extensions": extensions}]}
    await page.context.route(GRAPHQL, lambda route: route.fulfill(json=fault))
    await page.goto("/")
    await expect(page.get_by_role("alert")).to_contain_text("The server failed.")
    await expect(page.get_by_role("alert")).to_contain_text("0123456789abcdef")
    await shoot(page, "timeline-fault")
    assert await violations(page) == []


async def test_items_that_cannot_be_read_are_mentioned(visit: Visit, api: Api, team: str) -> None:
    await one(api)
    page = await visit(None, team=team, live=False)

    async def with_warnings(route: Route) -> None:
        if "subscription" in (route.request.post_data or ""):
            await route.fallback()
            return
        answer = await route.fetch()
        body = await answer.json()
        counted = {"MALFORMED_ITEM": 2, "MISSING_ENTITY_TYPE": 1}
        warnings = [{"code": code, "count": count} for code, count in counted.items()]
        await route.fulfill(json={**body, "extensions": {"warnings": warnings}})

    await page.context.route(GRAPHQL, with_warnings)
    await page.goto("/")
    await expect(page.get_by_text("3 entries of the table can't be read")).to_be_visible()


async def test_a_create_whose_answer_was_lost_makes_no_second_one(
    visit: Visit, api: Api, team: str
) -> None:
    await one(api)
    page = await visit(None, team=team, expected=[FAILED])
    await page.goto("/")
    board = Board(page)

    async def lost(route: Route) -> None:
        if "CreateAssignment" not in (route.request.post_data or ""):
            await route.fallback()
            return
        answer = await route.fetch()
        assert not json.loads(await answer.text())["data"]["createAssignment"]["errors"]
        await route.abort()

    await page.context.route(GRAPHQL, lost)
    await board.button("Add assignment").click()
    await page.get_by_role("combobox", name="Person").select_option("Ada")
    await page.get_by_role("combobox", name="Project").select_option("Bridge")
    await board.button("Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("can't be reached")
    await page.context.unroute(GRAPHQL)
    await board.button("Save").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(board.bars).to_have_count(2)
    data = await api.data("{ team { assignments { id } } }")
    assert len(data["team"]["assignments"]) == 2


async def one(api: Api) -> str:
    """A team with one assignment, from 4 to 7 March 2026."""
    person = await api.resource("Ada")
    return await api.assignment(person, await api.project("Bridge"), "2026-03-04", "2026-03-07")
