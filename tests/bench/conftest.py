"""One engine is enough for what is measured on it."""

import pytest

from tests.engines import Engines


@pytest.fixture(scope="module")
def engine(engines: Engines) -> str:
    """The address of an engine."""
    return engines("embedded")
