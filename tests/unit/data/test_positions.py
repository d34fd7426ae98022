"""Positions as cursors: there and back, for who they were made for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import BadInput
from data.positions import Positions, decoded, encoded

NUMBERS = st.none() | st.integers(0, 10**40)


@given(st.integers(0, 4_000_000_000_000), st.dictionaries(st.text(), NUMBERS))
def test_cursor_says_what_it_was_made_of(moment: int, shards: dict[str, int | None]) -> None:
    cursor = encoded(Positions(moment / 1000, shards), stream="s", team_id="acme")
    found = decoded(cursor, stream="s", team_id="acme").positions({*shards, "another"})
    assert found is not None
    assert found.at == pytest.approx(moment / 1000, abs=0.002)
    assert found.shards == shards


def test_cursor_is_short_and_fits_an_address() -> None:
    shards = {f"shardId-{number:020}": 10**21 + number for number in range(10)}
    cursor = encoded(Positions(1.7e9, shards), stream="s", team_id="acme")
    assert len(cursor) < 300
    assert cursor.replace("-", "").replace("_", "").isalnum()


def test_shard_that_is_not_known_makes_positions_unknown() -> None:
    cursor = encoded(Positions(1.0, {"a": 1}), stream="s", team_id="acme")
    assert decoded(cursor, stream="s", team_id="acme").positions(["b"]) is None


@pytest.mark.parametrize(("stream", "team"), [("s", "other"), ("t", "acme")])
def test_cursor_of_something_else_is_bad_input(stream: str, team: str) -> None:
    cursor = encoded(Positions(1.0, {"a": 1}), stream="s", team_id="acme")
    with pytest.raises(BadInput) as caught:
        decoded(cursor, stream=stream, team_id=team)
    assert caught.value.field == ("since",)


@given(st.text(max_size=60))
def test_any_other_text_is_bad_input(text: str) -> None:
    with pytest.raises(BadInput):
        decoded(text, stream="s", team_id="acme")
