"""The second section: what a small request has to bear while many ask for whole timelines."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Final

from bench.data import LARGE, MEDIUM, OTHERS, SMALL
from bench.endpoints import REPLAY, Endpoint, endpoint_of
from bench.generator import percentile
from bench.markdown import table
from bench.processes import Process
from bench.run import Run, Section
from bench.servers import WORKERS, Server, requests_of, started
from bench.wire import Connection, WrongAnswer, connected
from bench.workloads import timeline_of, tiny_of

__all__ = ["LOADED", "SECTION", "under_load"]

LOADED: Final = (SMALL, MEDIUM, *OTHERS, LARGE)
"""The teams that are asked for: of four timelines one is large, and three are medium ones."""

LEVELS: Final = (0, 16, 64)


@dataclass(frozen=True, slots=True)
class UnderLoad:
    """Latencies of the small request, in seconds, while others asked; how many timelines were
    answered in a second; how many requests of both kinds failed; and the most memory that the
    server had, in MB."""

    tiny: Sequence[float]
    timelines_per_second: float
    failures: int
    peak_rss: float


async def under_load(
    process: Process, tiny: bytes, timelines: Sequence[bytes], *, others: int, seconds: float
) -> UnderLoad:
    """Asks for `tiny` in a loop, for so many seconds and at least once, while `others` ask for the
    timelines, each of them in a loop as well. Raises WrongAnswer."""
    turns = cycle(timelines)
    latencies: list[float] = []
    lengths: dict[bytes, int] = {}
    answered = failed = 0

    async def ask(connection: Connection, request: bytes) -> bool:
        """Whether the answer is as long as the first one was, and so has no errors in it."""
        nonlocal failed
        status, answer = await connection.ask(request)
        good = status == 200 and len(answer) == lengths.setdefault(request, len(answer))
        failed += not good
        return good

    async def keep_asking(connection: Connection) -> None:
        nonlocal answered
        while True:
            # Not in one line: the sum would be that of before the answer.
            good = await ask(connection, next(turns))
            answered += good

    async def measure(connection: Connection) -> float:
        began = time.perf_counter()
        passed = 0.0
        while not latencies or passed < seconds:
            await ask(connection, tiny)
            answered_at = time.perf_counter() - began
            latencies.append(answered_at - passed)
            passed = answered_at
        return passed

    async with connected(process.port, others + 1) as [own, *connections]:
        for request in (tiny, *timelines) * 2:
            if not await ask(own, request):
                raise WrongAnswer("an error, even without load")
        load = [asyncio.ensure_future(keep_asking(each)) for each in connections]
        measured = asyncio.ensure_future(measure(own))
        # The load itself ends only by failing.
        done, pending = await asyncio.wait((measured, *load), return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        for broken in done - {measured}:
            broken.result()
        took = measured.result()
    return UnderLoad(latencies, answered / took, failed, process.peak_rss_mb())


def _measure(run: Run) -> str:
    rows = []
    with endpoint_of(REPLAY, run.database) as endpoint:
        for server in _servers(run):
            run.progress(f"under load: {server.name}")
            rows += [(server.name, *_row(server, endpoint, run, level)) for level in LEVELS]
            run.done()
    return "\n\n".join(
        [
            "## Under load",
            "The names of 20 resources, asked for in a loop over one connection, while others ask "
            "for whole timelines of several teams, three medium ones to one large one; endpoint "
            f"`{REPLAY}`. The load generator has one of the cores, so more than one worker can't "
            "show all that it could. Peak memory is that of all workers together.",
            table(
                (
                    "server",
                    "others",
                    "small ones answered",
                    "p50 ms",
                    "p99 ms",
                    "timelines/s",
                    "failures",
                    "peak MB",
                ),
                rows,
            ),
        ]
    )


def _servers(run: Run) -> list[Server]:
    """One form of each server, and ours with more processes."""
    chosen = [each for each in run.servers if not each.windows_only]
    return chosen + (list(WORKERS) if any(each.is_ours for each in chosen) else [])


def _row(server: Server, endpoint: Endpoint, run: Run, level: int) -> tuple[str, ...]:
    tiny = requests_of(server, tiny_of(SMALL))(0)
    teams = (MEDIUM, *OTHERS, LARGE)
    timelines = [requests_of(server, timeline_of(team))(0) for team in teams]
    # A process of its own for each level: what one leaves behind is not the next one's.
    with started(server, endpoint.url, run.peers) as process:
        found = asyncio.run(
            under_load(process, tiny, timelines, others=level, seconds=run.effort.load_seconds)
        )
    return (
        str(level),
        str(len(found.tiny)),
        *(f"{percentile(found.tiny, percent) * 1000:.1f}" for percent in (50, 99)),
        f"{found.timelines_per_second:.1f}",
        str(found.failures),
        f"{found.peak_rss:.0f}",
    )


SECTION: Final = Section("load", lambda run: len(_servers(run)), _measure, LOADED)
