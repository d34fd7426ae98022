"""A server on a socket whose subscriptions come from a feed that the test drives."""

from collections.abc import AsyncIterator

import pytest

from data.store import Store
from server.settings import Settings
from tests.engines import Engines
from tests.subscriptions.sockets import Server, serving


@pytest.fixture(scope="module")
def engine(engines: Engines) -> str:
    """The address of an engine: what is said on a wire is the same on each."""
    return engines("embedded")


@pytest.fixture(scope="module")
async def one_server(settings: Settings, store: Store) -> AsyncIterator[Server]:
    async with serving(settings) as server:
        yield server


@pytest.fixture
async def server(one_server: Server) -> AsyncIterator[Server]:
    """The server, with a feed of the test's own, and nobody there but the test."""
    one_server.begin()
    yield one_server
    await one_server.is_left()
