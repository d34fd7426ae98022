"""Whatever happens to a stream and to those who read it, everything is told once and in order."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.clock import ago
from data.errors import Unavailable
from data.live import LiveFeed
from tests.streams.clients import FAST, Client, versions
from tests.streams.fake import FakeStream

TEAMS = ("acme", "other")
IDS = ("a", "b", "c", "d", "e")

STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(TEAMS), st.sampled_from(IDS)),
    st.tuples(st.just("write"), st.sampled_from(TEAMS), st.sampled_from(IDS)),
    st.tuples(st.just("delete"), st.sampled_from(TEAMS), st.sampled_from(IDS)),
    st.tuples(st.just("split"), st.integers(0, 5)),
    st.tuples(st.just("roll"), st.integers(0, 5)),
    st.tuples(st.just("expire")),
    st.tuples(st.just("throttle"), st.sampled_from(["GetRecords", "GetShardIterator"])),
    st.tuples(st.just("pause"), st.integers(0, 10)),
    st.tuples(st.just("take"), st.integers(0, 2)),
    st.tuples(st.just("move"), st.integers(0, 2), st.integers(0, 1)),
    st.tuples(st.just("restart"), st.integers(0, 1)),
)


class World:
    """Two processes on one table, and three clients that go from one to the other."""

    def __init__(self, *, page: int, empty: int) -> None:
        self.fake = FakeStream(page=page, empty=empty)
        self.feeds = [self._feed(), self._feed()]
        self.clients = [Client("acme"), Client("other"), Client("acme")]
        self.written: list[tuple[str, str, int]] = []
        self.lasts: dict[tuple[str, str], int] = {}
        self.at: list[int] = [0, 1, 1]

    def _feed(self) -> LiveFeed:
        return LiveFeed(self.fake.streams, pace=FAST)

    async def start(self) -> None:
        for id in IDS:
            self.fake.write("acme", id, 1, at=ago(3600))
        for number in range(3):
            await self._connect(number)

    async def step(self, name: str, *args: Any) -> None:
        await getattr(self, name)(*args)

    async def write(self, team: str, id: str) -> None:
        version = self.lasts[team, id] = self.lasts.get((team, id), 1) + 1
        self.written.append((team, id, version))
        self.fake.write(team, id, version)

    async def delete(self, team: str, id: str) -> None:
        """Deletes an entity that was written; the next write makes it anew."""
        if last := self.lasts.get((team, id)):
            self.lasts[team, id] = 0
            self.written.append((team, id, last + 1))
            self.fake.delete(team, id, last + 1)

    async def split(self, number: int) -> None:
        self.fake.split(self.fake.open[number % len(self.fake.open)])

    async def roll(self, number: int) -> None:
        self.fake.roll(self.fake.open[number % len(self.fake.open)])

    async def expire(self) -> None:
        self.fake.expire_iterators()

    async def throttle(self, operation: str) -> None:
        self.fake.fail(operation, "ThrottlingException")

    async def pause(self, number: int) -> None:
        for _ in range(number):
            await asyncio.sleep(0.0005)

    async def take(self, number: int) -> None:
        client = self.clients[number]
        team_has = [each for each in self.written if each[0] == client.team]
        if len(client.changes) < len(team_has):
            await client.take()

    async def move(self, number: int, feed: int) -> None:
        await self.clients[number].leave()
        self.at[number] = feed
        await self._connect(number)

    async def restart(self, number: int) -> None:
        """The process is killed: its clients go to the other one."""
        await self.feeds[number].aclose()
        self.feeds[number] = self._feed()
        for client, at in enumerate(self.at):
            if at == number:
                await self.move(client, 1 - number)

    async def finish(self) -> None:
        for team in TEAMS:
            for id in IDS:
                await self.write(team, id)
        for client in self.clients:
            mine = [(id, version) for team, id, version in self.written if team == client.team]
            while len(client.changes) < len(mine):
                await client.take()
            told = versions(client.changes)
            assert sorted(told) == sorted(mine)
            for id in IDS:
                assert [each for each in told if each[0] == id] == [e for e in mine if e[0] == id]

    async def close(self) -> None:
        for client in self.clients:
            await client.leave()
        for feed in self.feeds:
            await feed.aclose()

    async def _connect(self, number: int) -> None:
        async with asyncio.timeout(20):
            while True:
                try:
                    return await self.clients[number].connect(self.feeds[self.at[number]])
                except Unavailable:
                    await asyncio.sleep(0.001)


@pytest.mark.deep
@given(
    steps=st.lists(STEPS, max_size=60),
    page=st.integers(1, 4),
    empty=st.integers(0, 1),
)
def test_each_change_is_told_once_and_in_order(
    steps: list[tuple[Any, ...]], page: int, empty: int
) -> None:
    async def run() -> None:
        world = World(page=page, empty=empty)
        try:
            await world.start()
            for step in steps:
                await world.step(*step)
            await world.finish()
        finally:
            await world.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
