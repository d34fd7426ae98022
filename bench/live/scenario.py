"""Two server processes on one table, teams that are written to through both, and who listens."""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import httpx

from bench.live.ledger import Ledger, faults
from bench.live.subscriber import Subscriber
from bench.live.writer import Writer
from bench.processes import Process
from bench.servers import SERVERS, TABLE, Server, started
from data.administration import create_table
from data.opening import open_store
from server.engines import DUMMY_CREDENTIALS, dynamodb_local

__all__ = ["Outcome", "Plan", "run"]

_WRITERS: Final = 8
_SETTLE: Final = 30.0
"""Seconds after the last mutation in which everything has to be delivered."""
_SAMPLE: Final = 0.25


@dataclass(frozen=True, slots=True)
class Plan:
    """How much: so many teams, with as many subscribers each, half of them on each server and half
    of them over each transport; so many mutations, of which so many in a second; and whether one of
    the servers is killed when half of them are done."""

    teams: int = 20
    subscribers_a_team: int = 10
    mutations: int = 2_000
    rate: float = 50.0
    kill: bool = False

    @property
    def subscribers(self) -> int:
        return self.teams * self.subscribers_a_team


@dataclass(slots=True)
class Outcome:
    """What was measured. `delays` are seconds from the sending of a mutation to its delivery, one
    for each delivery; `memory` the resident MB of each server over the run, which were `sampled`
    regularly; `changes` what there was to tell, `reconnected` how many subscribers had to."""

    plan: Plan
    changes: int = 0
    deliveries: int = 0
    faults: list[str] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    memory: dict[str, list[float]] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    reconnected: int = 0
    repeated: int = 0
    seconds: float = 0.0


async def run(plan: Plan, home: Path, progress: Callable[[str, float], None]) -> Outcome:
    """Carries the plan out on a DynamoDB Local of its own. `progress` hears what is being done, and
    which part of it is done."""
    with ExitStack() as stack:
        progress("starting DynamoDB Local and two servers", 0.0)
        url = stack.enter_context(dynamodb_local(home, data_dir=None))
        async with open_store(TABLE, endpoint_url=url, credentials=DUMMY_CREDENTIALS) as store:
            await create_table(store)
        server = _server(plan)
        servers = [
            stack.enter_context(started(replace(server, name=f"server {number}"), url, home))
            for number in (1, 2)
        ]
        return await _Scenario(plan, server, servers, progress).carry_out()


def _server(plan: Plan) -> Server:
    """Ours, where every subscriber of a team may be on one server."""
    [ours] = [each for each in SERVERS if each.name == "ours"]
    most = str(max(200, plan.subscribers_a_team))
    return replace(ours, environment={"PLANNER_MAX_TEAM_SUBSCRIPTIONS": most})


class _Scenario:
    def __init__(
        self,
        plan: Plan,
        server: Server,
        processes: list[Process],
        progress: Callable[[str, float], None],
    ) -> None:
        self._plan = plan
        self._alive = list(processes)
        self._progress = progress
        self._ledger = Ledger()
        self._outcome = Outcome(plan)
        self._done = 0
        self._next_at = 0.0
        teams = [f"live-{number:02}" for number in range(plan.teams)]
        self._headers = {team: server.headers(team) for team in teams}
        self._subscribers = [
            Subscriber(
                team,
                self._headers[team],
                self._address_of(number),
                # Each server has both kinds, in each team.
                over_websocket=number % 4 < 2,
            )
            for team in teams
            for number in range(plan.subscribers_a_team)
        ]

    async def carry_out(self) -> Outcome:
        outcome = self._outcome
        async with httpx.AsyncClient(timeout=30) as client:
            writers = [
                Writer(team, self._headers[team], self._address_of(number), self._ledger, client)
                for number, team in enumerate(self._headers)
            ]
            for writer in writers:
                await writer.prepare()
            self._progress(f"{self._plan.subscribers} subscribers connect", 0.0)
            async with asyncio.TaskGroup() as background:
                tasks = [background.create_task(each.run()) for each in self._subscribers]
                await asyncio.gather(*(each.connected.wait() for each in self._subscribers))
                tasks.append(background.create_task(self._sample()))
                cpu = {each.name: each.cpu_seconds() for each in self._alive}
                began = time.monotonic()
                self._next_at = began
                await asyncio.gather(*(self._write(number, writers) for number in range(_WRITERS)))
                outcome.seconds = time.monotonic() - began
                self._progress("everything is to be delivered", 1.0)
                await self._delivered()
                outcome.cpu_seconds = {
                    each.name: each.cpu_seconds() - cpu[each.name] for each in self._alive
                }
                for task in tasks:
                    task.cancel()
        outcome.repeated = sum(writer.repeated for writer in writers)
        self._judge()
        return outcome

    def _address_of(self, number: int) -> Callable[[], str]:
        """Every other one is at the second server, as long as there is one."""
        return lambda: f"127.0.0.1:{self._alive[number % len(self._alive)].port}"

    async def _write(self, number: int, writers: list[Writer]) -> None:
        """Writes in every so-manieth team, in turn, at the pace that all have together."""
        chance = random.Random(number)  # noqa: S311 - the same writes every time
        own = writers[number::_WRITERS]
        while own and self._done < self._plan.mutations:
            self._done += 1
            if self._plan.kill and self._done == self._plan.mutations // 2:
                self._kill()
            at = self._next_at = max(self._next_at, time.monotonic()) + 1 / self._plan.rate
            await asyncio.sleep(at - time.monotonic())
            await own[self._done % len(own)].write(chance)
            self._progress("mutations", self._done / self._plan.mutations)

    def _kill(self) -> None:
        victim = self._alive.pop()
        self._progress(f"{victim.name} is killed", 0.5)
        victim.kill()

    async def _sample(self) -> None:
        while True:
            for each in self._alive:
                self._outcome.memory.setdefault(each.name, []).append(each.rss_mb())
            await asyncio.sleep(_SAMPLE)

    async def _delivered(self) -> None:
        """Waits until each was told as much as there was, or too long; then a moment for what
        should not come."""
        for _ in range(int(_SETTLE / _SAMPLE)):
            if all(len(each.told) >= self._ledger.count(each.team) for each in self._subscribers):
                break
            await asyncio.sleep(_SAMPLE)
        await asyncio.sleep(1)

    def _judge(self) -> None:
        outcome = self._outcome
        outcome.changes = sum(self._ledger.count(team) for team in self._headers)
        for number, each in enumerate(self._subscribers):
            found = faults(self._ledger.teams[each.team], each.told)
            outcome.faults += [f"subscriber {number} of {each.team}: {fault}" for fault in found]
            outcome.deliveries += len(each.told)
            outcome.reconnected += each.connections > 1
            outcome.delays += self._ledger.delays(each.team, each.told)
