"""People and projects on the timeline: edited by their names; what goes when one is deleted."""

import re

import pytest
from playwright.async_api import expect

from tests.api_client import Api
from tests.browser.axe import violations
from tests.browser.board import Board
from tests.browser.conftest import Shoot, Visit

pytestmark = pytest.mark.web


async def test_people_and_projects_are_edited_by_their_names(
    visit: Visit, api: Api, team: str, shoot: Shoot
) -> None:
    ada, bridge = await api.resource("Ada"), await api.project("Bridge", "#336699")
    id = await api.assignment(ada, bridge, "2026-03-04", "2026-03-07")
    page = await visit("/", team=team)
    board = Board(page)
    await board.button("Ada").click()
    dialog = page.get_by_role("dialog", name="Edit person")
    await expect(dialog.get_by_label("Name")).to_have_value("Ada")
    await expect(dialog.get_by_label("Colour")).to_have_count(0)
    await dialog.get_by_label("Name").fill("Ada Brandt")
    await board.button("Save").click()
    await expect(page.locator(".row-name")).to_have_text("Ada Brandt")
    await board.button("Bridge").click()
    dialog = page.get_by_role("dialog", name="Edit project")
    await expect(dialog.get_by_label("Colour")).to_have_value("#336699")
    await shoot(page, "timeline-edit-project")
    assert await violations(page) == []
    await dialog.get_by_label("Name").fill("Tunnel")
    await dialog.get_by_label("Colour").fill("#ffd700")
    await board.button("Save").click()
    await board.shows(id, "Tunnel, Ada Brandt")
    await expect(board.bar(id)).to_have_css("background-color", "rgb(255, 215, 0)")
    data = await api.data("{ team { resources { name version } projects { name color } } }")
    assert data["team"] == {
        "resources": [{"name": "Ada Brandt", "version": 2}],
        "projects": [{"name": "Tunnel", "color": "#ffd700"}],
    }


@pytest.mark.parametrize(
    ("what", "mutation"), [("Ada", "updateResource"), ("Bridge", "updateProject")]
)
async def test_a_name_that_somebody_else_changed_first_is_a_conflict(
    visit: Visit, api: Api, team: str, what: str, mutation: str
) -> None:
    ids = {"Ada": await api.resource("Ada"), "Bridge": await api.project("Bridge")}
    page = await visit("/", team=team)
    board = Board(page)
    await board.button(what).click()
    await page.get_by_label("Name").fill("Mine")
    await api.mutate(mutation, "errors { code }", id=ids[what], name="Theirs")
    await board.button("Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("Somebody else changed it first")
    await expect(page.get_by_label("Name")).to_have_value("Mine")
    await expect(page.get_by_text("Theirs")).to_have_count(1)  # What the board now shows.
    await board.button("Save").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(board.button("Mine")).to_be_visible()


@pytest.mark.parametrize("what", ["Ada", "Bridge"])
async def test_a_deletion_says_how_many_assignments_go_with_it_on_whatever_days(
    visit: Visit, api: Api, team: str, shoot: Shoot, what: str
) -> None:
    ada, ken = await api.resource("Ada"), await api.resource("Ken")
    bridge, tunnel = await api.project("Bridge"), await api.project("Tunnel")
    for day in ("2026-03-03", "2026-03-05", "2019-01-01"):
        await api.assignment(ada, bridge, day, day)
    spared = await api.assignment(ken, tunnel, "2026-03-03", "2026-03-03")
    page = await visit("/", team=team)
    board = Board(page)
    await board.button(what).click()
    await board.button("Delete").click()
    dialog = page.get_by_role("dialog", name=re.compile(rf"^Delete .?{what}.?\?$"))
    await expect(dialog).to_contain_text("This deletes 3 assignments as well")
    await shoot(page, f"timeline-delete-{what.lower()}")
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await expect(page.get_by_text(f"{what} was deleted.")).to_be_visible()
    await expect(board.bars).to_have_count(1)
    await expect(board.bar(spared)).to_be_visible()
    await expect(board.button(what)).to_have_count(0)
    data = await api.data("{ team { assignments { id } } }")
    assert data["team"]["assignments"] == [{"id": spared}]
