"""Rounds: every server in turn, A B C, B C A, ..., so that whatever else the machine does meets
all of them alike."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final

from bench.endpoints import Endpoint, Traffic
from bench.equality import check_same
from bench.generator import Load, send
from bench.processes import Process
from bench.servers import Server, requests_of, started
from bench.wire import connected
from bench.workloads import Workload

__all__ = ["CONCURRENCY", "Plan", "Results", "Sample", "measure"]

CONCURRENCY: Final = 16
_LEAST: Final = 3
_MOST: Final = 20_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to measure: rounds, and the seconds that each warm-up and each phase takes."""

    rounds: int
    warm_up: float
    phase: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One server in one round: CPU seconds per request, and the load that took them."""

    sequential_cpu: float
    sequential: Load
    concurrent_cpu: float
    concurrent: Load


@dataclass(slots=True)
class Results:
    """One workload at one endpoint. By server: its samples, one for each round; resident memory
    at the end and at its peak, in MB; what one operation asks of DynamoDB; bytes of its answer."""

    workload: Workload
    endpoint: str
    samples: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    rss: dict[str, float] = field(default_factory=dict)
    peak_rss: dict[str, float] = field(default_factory=dict)
    traffic: dict[str, Traffic] = field(default_factory=dict)
    length: dict[str, int] = field(default_factory=dict)

    def failures(self, server: str) -> int:
        """How many requests the server did not answer rightly, in all rounds."""
        loads = ((each.sequential, each.concurrent) for each in self.samples[server])
        return sum(load.failures for pair in loads for load in pair)


@dataclass(slots=True)
class Contender:
    """A running server, how to ask it, and how many requests make a phase of it."""

    name: str
    process: Process
    request: Callable[[int], bytes]
    length: int = 0
    sequential: int = _LEAST
    concurrent: int = CONCURRENCY
    sent: int = 0

    async def load(self, count: int, concurrency: int) -> tuple[float, Load]:
        """CPU seconds for each right answer to the next `count` requests, and what they took."""
        async with connected(self.process.port, concurrency) as connections:
            before = self.process.cpu_seconds()
            load = await send(
                connections, self.request, count=count, first=self.sent, length=self.length
            )
            cpu = self.process.cpu_seconds() - before
        self.sent += count
        return cpu / len(load.latencies), load


def measure(
    workload: Workload,
    servers: Sequence[Server],
    endpoint: Endpoint,
    peers: Path,
    plan: Plan,
    progress: Callable[[str], None],
) -> Results:
    """Starts the servers, compares their answers, warms them up, and measures them in rounds.
    Raises Different, WrongAnswer, ProcessFailed, or UnknownRequests."""
    results = Results(workload, endpoint.name)
    where = f"{workload.name} on {endpoint.name}"
    with ExitStack() as stack:
        progress(f"{where}: the servers start")
        contenders = []
        for server in servers:
            process = stack.enter_context(started(server, endpoint.url, peers))
            contenders.append(Contender(server.name, process, requests_of(server, workload)))
        progress(f"{where}: the answers are compared")
        asyncio.run(_compare(contenders, endpoint, results))
        for each in contenders:
            progress(f"{where}: {each.name} warms up")
            asyncio.run(_warm_up(each, plan))
        with endpoint.sealed():
            for number in range(plan.rounds):
                turn = number % len(contenders)
                for each in contenders[turn:] + contenders[:turn]:
                    progress(f"{where}: round {number + 1} of {plan.rounds}, {each.name}")
                    results.samples[each.name].append(_round(each))
        for each in contenders:
            results.rss[each.name] = each.process.rss_mb()
            results.peak_rss[each.name] = each.process.peak_rss_mb()
    return results


async def _compare(contenders: Sequence[Contender], endpoint: Endpoint, results: Results) -> None:
    """One request each: the same answer from all, and what it asks of DynamoDB."""
    reference = None
    for each in contenders:
        async with connected(each.process.port, 1) as [connection]:
            # The first request of all may look for more than its data: a server that starts.
            for _ in range(2):
                before = endpoint.traffic()
                _, content = await connection.ask(each.request(0))
                after = endpoint.traffic()
        if before and after:
            results.traffic[each.name] = after - before
        each.length = results.length[each.name] = len(content)
        reference = reference or content
        check_same(reference, content, each.name, is_write=results.workload.is_write)


async def _warm_up(contender: Contender, plan: Plan) -> None:
    """Long enough for V8 and for every cache, and as a measure of what a phase can take."""
    began = perf_counter()
    each = 0.0
    while perf_counter() - began < plan.warm_up:
        _, load = await contender.load(_LEAST, 1)
        each = load.seconds / _LEAST
    _, load = await contender.load(CONCURRENCY, CONCURRENCY)
    contender.sequential = min(_MOST, max(_LEAST, round(plan.phase / each)))
    concurrent = round(plan.phase * load.per_second)
    contender.concurrent = min(_MOST, max(CONCURRENCY, concurrent))


def _round(contender: Contender) -> Sample:
    contender.process.settle()
    sequential_cpu, sequential = asyncio.run(contender.load(contender.sequential, 1))
    contender.process.settle()
    concurrent_cpu, concurrent = asyncio.run(contender.load(contender.concurrent, CONCURRENCY))
    return Sample(sequential_cpu, sequential, concurrent_cpu, concurrent)
