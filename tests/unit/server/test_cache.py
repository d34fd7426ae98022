"""A value is loaded once in its time, and never given out older than that."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from server.cache import BriefCache


class Source:
    """Counts the loads; each one waits for the gate, and then brings the present value or fails."""

    def __init__(self) -> None:
        self.value = 1
        self.loads = 0
        self.failure: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self._begun = asyncio.Semaphore(0)

    async def asked(self, loads: int) -> None:
        """Waits until so many more loads have begun."""
        async with asyncio.timeout(5):
            for _ in range(loads):
                await self._begun.acquire()

    async def __call__(self) -> int:
        self.loads += 1
        self._begun.release()
        value = self.value  # What was true when it was asked.
        await self.gate.wait()
        if self.failure:
            raise self.failure
        return value


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def source() -> Source:
    return Source()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> BriefCache[str, int]:
    return BriefCache(30, size=3, clock=clock)


async def test_a_value_is_kept_for_its_seconds_and_no_longer(
    cache: BriefCache[str, int], clock: Clock, source: Source
) -> None:
    assert await cache.get("a", source) == 1
    source.value = 2
    clock.now += 29.9
    assert await cache.get("a", source) == 1
    clock.now += 0.1
    assert await cache.get("a", source) == 2
    assert source.loads == 2


async def test_the_seconds_count_from_when_the_load_began(
    cache: BriefCache[str, int], clock: Clock, source: Source
) -> None:
    source.gate.clear()
    slow = asyncio.ensure_future(cache.get("a", source))
    await source.asked(1)
    source.value = 2
    clock.now += 30
    fresh = asyncio.ensure_future(cache.get("a", source))
    await source.asked(1)
    source.gate.set()
    assert await slow == 1
    assert await fresh == 2
    assert await cache.get("a", source) == 2
    assert source.loads == 2


async def test_whoever_asks_meanwhile_waits_for_the_one_load(
    cache: BriefCache[str, int], source: Source
) -> None:
    source.gate.clear()
    waiting = [asyncio.ensure_future(cache.get("a", source)) for _ in range(50)]
    other = asyncio.ensure_future(cache.get("b", source))
    await source.asked(2)
    source.gate.set()
    assert await asyncio.gather(*waiting, other) == [1] * 51
    assert source.loads == 2


async def test_the_one_who_asked_first_may_go_away(
    cache: BriefCache[str, int], source: Source
) -> None:
    source.gate.clear()
    first, second = (asyncio.ensure_future(cache.get("a", source)) for _ in range(2))
    await source.asked(1)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    source.gate.set()
    assert await second == 1
    assert source.loads == 1


async def test_a_failure_is_told_to_all_who_wait_and_not_kept(
    cache: BriefCache[str, int], source: Source
) -> None:
    source.failure = LookupError("none")
    source.gate.clear()
    waiting = [asyncio.ensure_future(cache.get("a", source)) for _ in range(3)]
    await source.asked(1)
    source.gate.set()
    failures = await asyncio.gather(*waiting, return_exceptions=True)
    assert failures == [source.failure] * 3
    assert len(cache) == 0
    source.failure = None
    assert await cache.get("a", source) == 1
    assert source.loads == 2


async def test_a_failure_of_an_old_load_leaves_the_new_value(
    cache: BriefCache[str, int], clock: Clock, source: Source
) -> None:
    async def fail() -> int:
        await source.gate.wait()
        raise LookupError

    source.gate.clear()
    old = asyncio.ensure_future(cache.get("a", fail))
    await asyncio.sleep(0)  # So that it is asked for first; its load need not have begun.
    clock.now += 30
    new = asyncio.ensure_future(cache.get("a", source))
    await source.asked(1)
    source.gate.set()
    with pytest.raises(LookupError):
        await old
    assert await new == 1
    assert await cache.get("a", source) == 1
    assert source.loads == 1


async def test_the_value_used_longest_ago_goes_first(
    cache: BriefCache[str, int], source: Source
) -> None:
    for key in ("a", "b", "c", "a", "d"):
        await cache.get(key, source)
    assert (len(cache), source.loads) == (3, 4)
    await cache.get("a", source)
    assert source.loads == 4
    await cache.get("b", source)
    assert (len(cache), source.loads) == (3, 5)


async def test_zero_seconds_keep_nothing(clock: Clock, source: Source) -> None:
    cache = BriefCache[str, int](0, clock=clock)
    load: Callable[[], Coroutine[Any, Any, int]] = source
    await asyncio.gather(*(cache.get("a", load) for _ in range(5)))
    assert source.loads == 5
