"""How often, and how long, a contended write tries."""

import random
from types import SimpleNamespace

import pytest

import data.patience
from data.contention import pauses


def test_the_first_attempt_does_not_wait() -> None:
    assert next(pauses()) == 0


def test_attempts_end() -> None:
    assert len(list(pauses())) == 12


def test_the_longest_pauses_double_up_to_a_bound_and_stay_short_in_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(data.patience, "random", SimpleNamespace(uniform=lambda _, most: most))
    longest = list(pauses())
    assert longest == pytest.approx([0, 0.02, 0.04, 0.08, 0.16, 0.32] + [0.4] * 6)
    assert sum(longest) < 3.1


def test_pauses_are_jittered_over_their_whole_range(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def uniform(least: float, most: float) -> float:
        asked.append(least)
        return random.Random(most).uniform(least, most)

    monkeypatch.setattr(data.patience, "random", SimpleNamespace(uniform=uniform))
    assert all(0 <= pause <= 0.4 for pause in pauses())
    assert asked == [0] * 11
