"""A server on a socket, over one engine, and the packages of npm."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from data.store import Store
from server.settings import Settings
from tests.engines import Engines
from tests.live import live
from tests.npm import installed


@pytest.fixture(scope="module")
def engine(engines: Engines) -> str:
    """The address of an engine."""
    return engines("embedded")


@pytest.fixture(scope="module")
def url(settings: Settings, store: Store) -> Iterator[str]:
    """The address of GraphQL on a server whose table is that of `store`."""
    with live(settings) as address:
        yield f"{address}/graphql"


@pytest.fixture(scope="session")
def npm() -> Path:
    """The folder with the packages, and the scripts that ask them."""
    return installed(Path(__file__).parent)
