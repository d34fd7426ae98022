"""What the tests of consistency share."""

import os

import pytest


@pytest.fixture(scope="session")
def rounds() -> int:
    """How often a race is run: few times with every test, many in a deep run."""
    return 20 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 3
