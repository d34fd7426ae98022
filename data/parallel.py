"""Working through many things, a few at the same time."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from typing import TypeVar

__all__ = ["first_of", "for_each"]

Thing = TypeVar("Thing")
Failure = TypeVar("Failure", bound=BaseException)


async def for_each(
    things: Iterable[Thing] | AsyncIterable[Thing],
    work: Callable[[Thing], Awaitable[object]],
    *,
    at_once: int,
) -> None:
    """Does the work for each, no more than `at_once` at the same time and none taken before there
    is room for it. The first failure ends the others, and is raised."""
    room = asyncio.Semaphore(at_once)

    async def run(thing: Thing) -> None:
        try:
            await work(thing)
        finally:
            room.release()

    try:
        async with asyncio.TaskGroup() as group:
            if isinstance(things, AsyncIterable):
                async for thing in things:
                    await room.acquire()
                    group.create_task(run(thing))
            else:
                for thing in things:
                    await room.acquire()
                    group.create_task(run(thing))
    except BaseExceptionGroup as failures:
        raise first_of(failures) from None


def first_of(failures: BaseExceptionGroup[Failure]) -> Failure:
    """What a group of tasks failed of first; another may have failed in the same moment."""
    [first, *_] = failures.exceptions
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first
