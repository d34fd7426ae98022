"""That a team is large is remembered for a while, and of a bounded number of teams."""

import pytest

from data.recent import Recent


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_team_is_large_once_it_was_added(clock: Clock) -> None:
    teams = Recent(clock=clock)
    assert "a" not in teams
    teams.add("a")
    assert "a" in teams
    assert "b" not in teams


@pytest.mark.parametrize(("seconds", "large"), [(0.0, True), (59.9, True), (60.0, False)])
def test_a_team_that_shrank_is_a_small_one_again_after_a_while(
    clock: Clock, seconds: float, large: bool
) -> None:
    teams = Recent(seconds=60, clock=clock)
    teams.add("a")
    clock.now += seconds
    assert ("a" in teams) is large
    assert len(teams) == int(large)


def test_asking_for_a_team_does_not_prolong_its_time(clock: Clock) -> None:
    teams = Recent(seconds=60, clock=clock)
    teams.add("a")
    clock.now += 59
    assert "a" in teams
    clock.now += 1
    assert "a" not in teams
    teams.add("a")
    clock.now += 59
    assert "a" in teams


def test_at_most_so_many_are_remembered_and_the_one_used_longest_ago_goes_first(
    clock: Clock,
) -> None:
    teams = Recent(size=2, clock=clock)
    teams.add("a")
    teams.add("b")
    assert "a" in teams
    teams.add("c")
    assert [team for team in ("a", "b", "c") if team in teams] == ["a", "c"]
    teams.add("a")
    teams.add("d")
    assert [team for team in ("a", "c", "d") if team in teams] == ["a", "d"]
    assert len(teams) == 2
