"""The answer about readiness: remembered for a while, shared, and its changes are logged."""

import asyncio
from typing import cast

import pytest
from structlog.testing import capture_logs

from data.store import NotReady, Outage, Store
from server.health import Readiness


class Table:
    """A store whose probe fails for a reason, or raises what nobody expects."""

    def __init__(self) -> None:
        self.trouble: Exception | None = None
        self.asked = 0
        self.answers = asyncio.Event()
        self.answers.set()

    async def probe(self) -> None:
        self.asked += 1
        await self.answers.wait()
        if self.trouble:
            raise self.trouble


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def readiness(table: Table, clock: Clock) -> Readiness:
    return Readiness(cast("Store", table), clock=clock)


async def test_an_answer_is_remembered_for_five_seconds(
    readiness: Readiness, table: Table, clock: Clock
) -> None:
    assert await readiness.outage() is None
    table.trouble = NotReady(Outage.THROTTLED)
    clock.now = 4.9
    assert await readiness.outage() is None
    clock.now = 5.0
    assert await readiness.outage() is Outage.THROTTLED
    assert table.asked == 2
    table.trouble = None
    assert await readiness.outage() is Outage.THROTTLED, "bad news is remembered as well"
    clock.now = 10.0
    assert await readiness.outage() is None


async def test_one_who_goes_away_does_not_take_the_answer_from_the_others(
    readiness: Readiness, table: Table
) -> None:
    table.answers.clear()
    first, second = (asyncio.create_task(readiness.outage()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    table.answers.set()
    assert await second is None
    assert first.cancelled()
    assert table.asked == 1


async def test_what_nobody_expects_is_unknown_and_asked_again(
    readiness: Readiness, table: Table, clock: Clock
) -> None:
    table.trouble = RuntimeError("surprise")
    assert await readiness.outage() is Outage.UNKNOWN
    table.trouble = None
    clock.now = 5.0
    assert await readiness.outage() is None


async def test_a_change_is_logged_once_with_its_cause(
    readiness: Readiness, table: Table, clock: Clock
) -> None:
    table.trouble = NotReady(Outage.NO_PERMISSION)
    table.trouble.__cause__ = RuntimeError("arn:aws:dynamodb")
    with capture_logs() as logs:
        for clock.now in (0.0, 5.0, 10.0):
            await readiness.outage()
        table.trouble = None
        for clock.now in (15.0, 20.0):
            await readiness.outage()
    assert logs == [
        {
            "event": "not ready",
            "log_level": "warning",
            "reason": "no_permission",
            "cause": "RuntimeError('arn:aws:dynamodb')",
        },
        {"event": "ready again", "log_level": "info", "after": "no_permission"},
    ]


async def test_closing_waits_for_the_request_that_is_under_way(
    readiness: Readiness, table: Table
) -> None:
    table.answers.clear()
    asking = asyncio.create_task(readiness.outage())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    closing = asyncio.create_task(readiness.aclose())
    await asyncio.sleep(0)
    assert not closing.done()
    table.answers.set()
    await closing
    assert await asking is None
