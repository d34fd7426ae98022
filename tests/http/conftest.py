"""One engine is enough for what HTTP does, and a server on a socket."""

from collections.abc import AsyncIterator, Iterator

import pytest

from data.store import Store
from server.settings import Settings
from tests.engines import Engines
from tests.live import Connection, live


@pytest.fixture(scope="module")
def engine(engines: Engines) -> str:
    """The address of an engine."""
    return engines("embedded")


@pytest.fixture(scope="module")
def url(settings: Settings, store: Store) -> Iterator[str]:
    """The address of a server whose table is that of `store`."""
    with live(settings) as address:
        yield address


@pytest.fixture
async def connection(url: str) -> AsyncIterator[Connection]:
    opened = await Connection.to(url)
    yield opened
    opened.close()
