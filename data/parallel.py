"""Working through many things, a few at the same time."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from typing import TypeVar

__all__ = ["for_each"]

Thing = TypeVar("Thing")


async def for_each(
    things: Iterable[Thing] | AsyncIterable[Thing],
    work: Callable[[Thing], Awaitable[None]],
    *,
    at_once: int,
) -> None:
    """Does the work for each, no more than `at_once` at the same time and none taken before there
    is room for it. The first failure ends the others, and is raised."""
    room = asyncio.Semaphore(at_once)
    tasks: set[asyncio.Task[None]] = set()
    failed: list[BaseException] = []

    async def run(thing: Thing) -> None:
        try:
            await work(thing)
        finally:
            room.release()

    def ended(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            failed.append(error)

    async def start(thing: Thing) -> None:
        await room.acquire()
        if failed:
            room.release()
            raise failed[0]
        task = asyncio.create_task(run(thing))
        tasks.add(task)
        task.add_done_callback(ended)

    try:
        if isinstance(things, AsyncIterable):
            async for thing in things:
                await start(thing)
        else:
            for thing in things:
                await start(thing)
        await asyncio.gather(*tasks)
        if failed:
            raise failed[0]
    finally:
        left = list(tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
