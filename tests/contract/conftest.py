"""The packages that look at the schema alone: no engine, no server."""

from pathlib import Path

import pytest

from tests.npm import installed


@pytest.fixture(scope="session")
def npm() -> Path:
    """The folder with the packages, and the scripts that ask them."""
    return installed(Path(__file__).parent)
