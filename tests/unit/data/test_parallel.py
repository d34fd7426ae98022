"""Many things, a few at the same time: never more, and none after a failure."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from data.parallel import for_each


class Failed(Exception):
    pass


class Work:
    """Waits until it may go on, and counts."""

    def __init__(self, *, fails: int | None = None) -> None:
        self.under_way = self.most = self.canceled = 0
        self.done: list[int] = []
        self._fails = fails

    async def __call__(self, thing: int) -> None:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            for _ in range(3):
                await asyncio.sleep(0)
            if thing == self._fails:
                raise Failed
            self.done.append(thing)
        except asyncio.CancelledError:
            self.canceled += 1
            raise
        finally:
            self.under_way -= 1


async def counted(count: int) -> AsyncIterator[int]:
    for number in range(count):
        yield number


@pytest.mark.parametrize("at_once", [1, 3, 50])
async def test_each_is_done_once_and_no_more_at_the_same_time_than_may_be(at_once: int) -> None:
    for things in (range(20), counted(20)):
        work = Work()
        await for_each(things, work, at_once=at_once)
        assert sorted(work.done) == list(range(20))
        assert work.most == min(at_once, 20)


async def test_things_are_taken_only_when_there_is_room() -> None:
    work, taken = Work(), 0

    async def things() -> AsyncIterator[int]:
        nonlocal taken
        for number in range(20):
            assert taken - len(work.done) <= 3
            taken += 1
            yield number

    await for_each(things(), work, at_once=2)
    assert taken == 20


@pytest.mark.parametrize("fails", [0, 10, 19])
async def test_the_first_failure_ends_the_others_and_is_raised(fails: int) -> None:
    work = Work(fails=fails)
    with pytest.raises(Failed):
        await for_each(range(20), work, at_once=3)
    assert work.under_way == 0
    assert fails not in work.done
    assert len(work.done) <= fails + 3


async def test_who_cancels_it_leaves_nothing_under_way() -> None:
    forever, full = asyncio.Event(), asyncio.Event()
    under_way = 0

    async def wait(_: int) -> None:
        nonlocal under_way
        under_way += 1
        if under_way == 2:
            full.set()
        try:
            await forever.wait()
        finally:
            under_way -= 1

    task = asyncio.create_task(for_each(range(5), wait, at_once=2))
    await full.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert under_way == 0
