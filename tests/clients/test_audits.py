"""The public audits of GraphQL over HTTP, of the npm package `graphql-http`, on the real server."""

from pathlib import Path

import pytest

from tests.api_client import token
from tests.npm import asker

AUDITS = 61


@pytest.fixture(scope="module")
def results(npm: Path, url: str) -> dict[str, dict[str, str]]:
    """What came of each audit, by its id."""
    told = asker(npm, "audits.mjs")(url=url, token=token("team-of-audits"))
    assert isinstance(told, list)
    return {each["id"]: each for each in told}


def test_all_61_audits_are_there(results: dict[str, dict[str, str]]) -> None:
    """S-11: none is left out, and none is new without our knowing."""
    assert len(results) == AUDITS


def test_every_audit_is_ok_be_it_must_should_or_may(results: dict[str, dict[str, str]]) -> None:
    """S-11: neither an error nor a warning nor a notice."""
    others = {id: each for id, each in results.items() if each["status"] != "ok"}
    assert others == {}
