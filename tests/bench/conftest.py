"""One engine is enough for what is measured on it."""

from collections.abc import Iterator

import pytest

from tests.engines import running


@pytest.fixture(scope="session")
def engine() -> Iterator[str]:
    """The address of an engine."""
    with running("embedded") as url:
        yield url
