"""What the tests of the templates share."""

import uuid
from collections.abc import AsyncIterator

import pytest

from data.opening import open_store
from data.store import Store
from server.engines import DUMMY_CREDENTIALS


@pytest.fixture
async def nothing(engine: str) -> AsyncIterator[Store]:
    """A store whose table is not there."""
    name = f"planner-{uuid.uuid4().hex}"
    async with open_store(name, endpoint_url=engine, credentials=DUMMY_CREDENTIALS) as store:
        yield store
