"""What the tests of consistency share: DynamoDB Local, since moto answers one request at a time
and ignores the token of a transaction."""

from collections.abc import AsyncIterator

import pytest

from data.opening import open_store
from data.store import RetryPolicy, Store
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.engines import DEEP, Engines


@pytest.fixture(scope="module")
def engine(engines: Engines) -> str:
    """The address of DynamoDB Local."""
    return engines("local")


@pytest.fixture(scope="module")
async def store(store: Store, engine: str) -> AsyncIterator[Store]:
    """The same table, asked for as long as a busy machine takes to answer."""
    async with open_store(
        store.table,
        endpoint_url=engine,
        credentials=DUMMY_CREDENTIALS,
        retries=RetryPolicy(seconds=300),
    ) as patient:
        yield patient


@pytest.fixture(scope="module")
def settings(settings: Settings) -> Settings:
    """What is written holds however long a busy machine takes for it."""
    return settings.model_copy(update={"max_seconds": 300})


@pytest.fixture(scope="session")
def rounds() -> int:
    """How often a race is run: few times with every test, many in a deep run."""
    return 20 if DEEP else 2
