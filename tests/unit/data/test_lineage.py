"""Which shards come before which, and what of them is new."""

import pytest

from data.lineage import ALL, NOTHING, Need, ancestors, needs_of, ready
from data.streams import Shard

#        a ─┬─ b ─── d
#           └─ c
#   e (its parent is forgotten)
SHARDS = {
    each.id: each
    for each in (
        Shard("a", None, closed=True),
        Shard("b", "a", closed=True),
        Shard("c", "a"),
        Shard("d", "b"),
        Shard("e", "gone"),
    )
}
DATED = Need(None, 9.0)


def test_ancestors_are_those_that_are_known_youngest_first() -> None:
    assert [*ancestors(SHARDS, "d")] == ["b", "a"]
    assert [*ancestors(SHARDS, "e")] == []


@pytest.mark.parametrize(
    ("positions", "needs"),
    [
        ({"a": 5}, {"a": Need(5, 9.0), "b": ALL, "c": ALL, "d": ALL, "e": DATED}),
        ({"b": 7}, {"a": NOTHING, "b": Need(7, 9.0), "c": DATED, "d": ALL, "e": DATED}),
        ({"c": None}, {"a": NOTHING, "b": DATED, "c": DATED, "d": DATED, "e": DATED}),
        ({"b": 7, "d": 9}, {"b": Need(7, 9.0), "d": Need(9, 9.0)}),
        ({}, dict.fromkeys("abcde", DATED)),
    ],
)
def test_what_is_new_follows_from_the_shards_that_are_named(
    positions: dict[str, int | None], needs: dict[str, Need]
) -> None:
    found = needs_of(positions, 9.0, SHARDS)
    assert found.keys() == SHARDS.keys()
    assert {id: found[id] for id in needs} == needs


@pytest.mark.parametrize(
    ("finished", "known", "begun"),
    [
        (set(), set(), ["a", "e"]),
        (set(), {"a", "e"}, []),
        ({"a"}, {"a", "e"}, ["b", "c"]),
        ({"a"}, {"a", "b", "c", "e"}, []),
        ({"a", "b"}, {"a", "b", "c", "e"}, ["d"]),
    ],
)
def test_child_is_begun_with_when_its_parent_is_finished_or_gone(
    finished: set[str], known: set[str], begun: list[str]
) -> None:
    assert [shard.id for shard in ready(SHARDS, finished, known)] == begun
