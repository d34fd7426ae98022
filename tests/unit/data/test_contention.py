"""How often, and how long, a contended write tries."""

import random
from types import SimpleNamespace

import pytest

import data.contention
from data.contention import attempts


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What would have been waited, in seconds: nothing is."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(data.contention, "asyncio", SimpleNamespace(sleep=sleep))
    return waited


async def test_the_first_attempt_does_not_wait(pauses: list[float]) -> None:
    async for attempt in attempts():
        assert attempt == 0
        break
    assert pauses == []


async def test_attempts_are_numbered_and_end(pauses: list[float]) -> None:
    assert [attempt async for attempt in attempts()] == list(range(12))
    assert len(pauses) == 11


async def test_the_longest_pauses_double_up_to_a_bound_and_stay_short_in_all(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data.contention, "random", SimpleNamespace(uniform=lambda _, most: most))
    assert [attempt async for attempt in attempts()][-1] == 11
    assert pauses == pytest.approx([0.02, 0.04, 0.08, 0.16, 0.32] + [0.4] * 6)
    assert sum(pauses) < 3.1


async def test_pauses_are_jittered_over_their_whole_range(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def uniform(least: float, most: float) -> float:
        asked.append(least)
        return random.Random(most).uniform(least, most)

    monkeypatch.setattr(data.contention, "random", SimpleNamespace(uniform=uniform))
    assert [attempt async for attempt in attempts()][-1] == 11
    assert asked == [0] * 11
    assert all(0 <= pause <= 0.4 for pause in pauses)
