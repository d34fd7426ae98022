"""Reads of more than one page go on few at once, and nobody else waits for them (ADR 0018)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest

from data.items import encode
from tests.api.samples import resource
from tests.store.stub import Conduct, Planner, Stub, planner, running_stub

PATIENCE: Final = 20.0
TIMELINE = "{ team { resources { id } projects { id } assignments { id } } }"
EMPTY: Final[dict[str, dict[str, list[object]]]] = {
    "team": {"resources": [], "projects": [], "assignments": []}
}


@asynccontextmanager
async def one_is_under_way(seats: int) -> AsyncIterator[tuple[Stub, Planner, asyncio.Event]]:
    """A planner with so many seats, and a large read of the team `first`, which waits for its
    second page until the event is set."""
    gate = asyncio.Event()
    async with (
        asyncio.timeout(PATIENCE),
        running_stub() as stub,
        planner(stub.url, max_large_reads=seats) as running,
    ):
        stub.conduct["first"] = Conduct(pages=2, gate=gate, held_from=2)
        stub.conduct["second"] = Conduct(pages=2)
        first = asyncio.create_task(running.api("first").data(TIMELINE))
        await stub.arrived("first", 2)
        yield stub, running, gate
        gate.set()
        assert await first == EMPTY


async def test_a_large_read_waits_after_its_first_page_and_a_small_one_does_not() -> None:
    async with one_is_under_way(seats=1) as (stub, running, gate):
        second = asyncio.create_task(running.api("second").data(TIMELINE))
        await stub.arrived("second")
        for _ in range(5):
            assert await running.api("small").data(TIMELINE) == EMPTY
        assert len(stub.of("second")) == 1
        gate.set()
        assert await second == EMPTY
        assert len(stub.of("second")) == 2


async def test_a_read_that_is_known_to_be_large_waits_before_its_first_page() -> None:
    async with one_is_under_way(seats=1) as (stub, running, gate):
        gate.set()
        assert await running.api("second").data(TIMELINE) == EMPTY
        again = asyncio.Event()
        stub.conduct["first"] = Conduct(pages=2, gate=again)
        first = asyncio.create_task(running.api("first").data(TIMELINE))
        await stub.arrived("first", 3)
        second = asyncio.create_task(running.api("second").data(TIMELINE))
        for _ in range(5):
            assert await running.api("small").data(TIMELINE) == EMPTY
        assert len(stub.of("second")) == 2
        again.set()
        assert [await first, await second] == [EMPTY, EMPTY]
        assert len(stub.of("second")) == 4


@pytest.mark.parametrize("seats", [2, 3])
async def test_as_many_go_on_at_once_as_the_setting_says(seats: int) -> None:
    async with one_is_under_way(seats) as (stub, running, _):
        assert await running.api("second").data(TIMELINE) == EMPTY
        assert len(stub.of("second")) == 2


async def test_a_large_read_that_fails_gives_its_seat_back() -> None:
    async with (
        asyncio.timeout(PATIENCE),
        running_stub() as stub,
        planner(stub.url, max_large_reads=1, max_items=1) as running,
    ):
        stub.conduct["team"] = Conduct(pages=2, items=(encode("team", resource("r")),))
        for count in (2, 4):
            [error] = (await running.api("team").run(TIMELINE))["errors"]
            assert error["extensions"]["code"] == "LIMIT_EXCEEDED"
            assert len(stub.of("team")) == count
