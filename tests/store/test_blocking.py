"""Nothing blocks the loop: requests wait side by side, and none computes for long (S-16).

asyncio's own log of slow callbacks goes by the clock, and so also by what else the machine does.
Here waiting is seen by how many requests wait at once, and computing by CPU time. The linter sees
what sleeps or reads files (ASYNC2), and the import contracts let nobody have a client that blocks.
"""

import asyncio
import time
from asyncio.events import Handle
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from data.entities import Entity
from data.items import encode
from tests.api.samples import assignment, gid, project, resource
from tests.store.stub import Conduct, Planner, Stub, planner, running_stub

CROWD: Final = 50
LONGEST: Final = 0.1
"""CPU seconds that one callback may take: what asyncio calls slow in debug mode."""

TIMELINE = "{ team { resources { id } projects { id } assignments { id note } } }"
UPDATE = """mutation($id: ID!) { updateResource(input: {id: $id, name: "Eve"}) {
  resource { name } errors { code } } }"""


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with running_stub() as stub:
        yield stub


@pytest.fixture
async def running(stub: Stub) -> AsyncIterator[Planner]:
    """The application, which has answered nobody yet."""
    async with planner(stub.url) as running:
        yield running


async def test_timelines_wait_for_the_store_side_by_side_and_healthz_waits_for_none(
    stub: Stub, running: Planner
) -> None:
    gate = asyncio.Event()
    stub.conduct["crowd"] = Conduct(gate=gate)
    crowd = [asyncio.create_task(running.api("crowd").data(TIMELINE)) for _ in range(CROWD)]
    # The first is not answered before the last has come.
    await stub.arrived("crowd", CROWD)
    assert stub.most_requests == CROWD
    assert (await running.http.get("/healthz")).text == "ok"
    assert not any(task.done() for task in crowd)
    gate.set()
    nothing: dict[str, list[Any]] = {"resources": [], "projects": [], "assignments": []}
    assert await asyncio.gather(*crowd) == [{"team": nothing}] * CROWD
    # And none came because another one had been given up.
    assert len(stub.of("crowd")) == CROWD


@contextmanager
def callbacks_timed() -> Iterator[list[tuple[float, Handle]]]:
    """The CPU seconds of each callback that the loop runs meanwhile, and what it was."""
    seen: list[tuple[float, Handle]] = []
    run = Handle._run

    def timed(self: Handle) -> None:
        before = time.thread_time()
        run(self)
        seen.append((time.thread_time() - before, self))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Handle, "_run", timed)
        yield seen


async def test_no_callback_of_a_session_a_query_or_a_mutation_computes_for_long(
    stub: Stub, running: Planner
) -> None:
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    booked = [assignment(day, id=f"a{number}") for number, day in enumerate(days)]
    stored: list[Entity] = [resource("r"), project("p"), *booked]
    stub.conduct["team"] = Conduct(items=tuple(encode("team", each) for each in stored))
    api = running.api("team")
    with callbacks_timed() as seen:
        timeline = await api.data(TIMELINE)
        assert (await api.data(UPDATE, id=gid("Resource", "r")))["updateResource"]["errors"] == []
        api.headers = {"Authorization": "Bearer not-a-token"}
        assert (await api.post(TIMELINE)).json()["errors"]
    assert len(timeline["team"]["assignments"]) == len(booked)
    assert len(seen) > 10
    seconds, callback = max(seen, key=lambda each: each[0])
    assert seconds < LONGEST, callback
