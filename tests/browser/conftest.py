"""One browser and one server for all files of a process; a context for each test."""

import json
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, Page, Route, expect

from tests.api_client import COOKIE, Api, token
from tests.browser.board import GRAPHQL
from tests.browser.chromium import Watch, running_chromium, watched
from tests.browser.served import running_dev
from tests.engines import HOME, require

SCREENSHOTS: Final = Path(os.environ.get("PLANNER_SCREENSHOTS", HOME / "screenshots"))
"""Where the screenshots of a run are kept, for whoever wants to look."""
SIZE: Final = {"width": 1280, "height": 800}
NOW: Final = datetime(2026, 3, 2, 12, tzinfo=UTC)
"""When the tests that name days take place: a Monday, days before America changes its clocks."""

# A busy machine draws late; what is there is seen at once all the same. Milliseconds.
expect.set_options(timeout=20_000)

Visit = Callable[..., Awaitable[Page]]
Shoot = Callable[[Page, str], Awaitable[None]]


@pytest.fixture(scope="session")
def dev() -> Iterator[str]:
    """The address of `planner dev`."""
    with running_dev() as url:
        yield url


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    require(path, "a browser: Debian's package chromium")
    async with running_chromium(str(path)) as browser:
        yield browser


async def without_subscriptions(route: Route) -> None:
    """What a server answers to a subscription that it refuses."""
    if "subscription TeamChanged" not in (route.request.post_data or ""):
        await route.fallback()
        return
    error = {"message": "There are none.", "extensions": {"code": "BAD_USER_INPUT"}}
    body = f"event: next\ndata: {json.dumps({'errors': [error]})}\n\nevent: complete\ndata:\n\n"
    await route.fulfill(body=body, content_type="text/event-stream")


@pytest.fixture
async def visit(browser: Browser, dev: str) -> AsyncIterator[Visit]:
    """Opens a page: `visit("/")` as whom the server signs in itself, with `team` as one of its
    members; with None as the path nothing is loaded yet. Where it is not to be `live`, it is told
    that the server has no subscriptions. When the test is over, nothing may have
    gone wrong on any of the pages but what the patterns in `expected` match."""
    contexts: list[BrowserContext] = []
    watches: list[Watch] = []

    async def visit(
        path: str | None = "/",
        *,
        team: str | None = None,
        role: str = "member",
        now: datetime | None = NOW,
        live: bool = True,
        expected: Sequence[str] = (),
        **options: Any,
    ) -> Page:
        usual = {"base_url": dev, "viewport": SIZE, "locale": "en-GB", "timezone_id": "UTC"}
        context = await browser.new_context(**{**usual, **options})
        contexts.append(context)
        watches.append(await watched(context, expected))
        if not live:
            await context.route(GRAPHQL, without_subscriptions)
        if team is not None:
            cookie = {"name": COOKIE, "value": token(team, role=role), "url": dev}
            await context.add_cookies([cookie])  # type: ignore[list-item]
        page = await context.new_page()
        if now is not None:
            await page.clock.install(time=now)
        if path is not None:
            await page.goto(path)
        return page

    yield visit
    for context in contexts:
        # A handler that is still at work would fail when its page is gone, and in another test.
        await context.unroute_all(behavior="wait")
        await context.close()
    assert [each for watch in watches for each in watch.complaints()] == []


@pytest.fixture
async def api(dev: str, team: str) -> AsyncIterator[Api]:
    """The team's API, for another client than the page."""
    async with httpx.AsyncClient(base_url=dev) as client:
        yield Api(client, team)


@pytest.fixture(scope="session")
def shoot() -> Shoot:
    """Keeps a screenshot under a name."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    async def shoot(page: Page, name: str) -> None:
        await page.screenshot(path=SCREENSHOTS / f"{name}.png")

    return shoot
