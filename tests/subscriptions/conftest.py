"""A server on a socket whose subscriptions come from a feed that the test drives."""

from collections.abc import AsyncIterator, Iterator

import pytest

from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.engines import running
from tests.live import live
from tests.subscriptions.feed import Feed
from tests.subscriptions.sockets import Server


@pytest.fixture(scope="session")
def engine() -> Iterator[str]:
    """The address of an engine: what is said on a wire is the same on each."""
    with running("embedded") as url:
        yield url


@pytest.fixture
def live_settings(settings: Settings) -> Settings:
    """The settings of the server; a test may have others."""
    return settings


@pytest.fixture
async def server(live_settings: Settings) -> AsyncIterator[Server]:
    """The server, whose feed the test drives."""
    app = create_app(live_settings, credentials=DUMMY_CREDENTIALS)
    with live(live_settings, app) as url:
        opened = Server(url, app, Feed())
        await opened.is_up()
        yield opened
        await opened.is_left()
