"""What the tests of consistency share: DynamoDB Local, since moto answers one request at a time
and ignores the token of a transaction."""

from collections.abc import Iterator

import pytest

from tests.engines import DEEP, running


@pytest.fixture(scope="session")
def engine() -> Iterator[str]:
    """The address of DynamoDB Local."""
    with running("local") as url:
        yield url


@pytest.fixture(scope="session")
def rounds() -> int:
    """How often a race is run: few times with every test, many in a deep run."""
    return 20 if DEEP else 2
