"""What one run of the benchmark has in common, whatever it measures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from bench.data import TeamSize
from bench.measure import Plan
from bench.servers import Server
from bench.workloads import Workload

__all__ = ["FULL", "QUICK", "Effort", "Run", "Section"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: a plan for each endpoint, and the seconds of a phase under load."""

    plans: Mapping[str, Plan]
    load_seconds: float
    is_quotable: bool

    def with_rounds(self, rounds: int | None) -> Self:
        """The same with so many rounds on each endpoint, if any are named."""
        if rounds is None:
            return self
        plans = {name: replace(plan, rounds=rounds) for name, plan in self.plans.items()}
        return replace(self, plans=plans, is_quotable=False)


FULL: Final = Effort(
    {
        "replay": Plan(rounds=5, warm_up=2.5, phase=0.8),
        "local": Plan(rounds=3, warm_up=2.5, phase=0.5),
    },
    load_seconds=6,
    is_quotable=True,
)
QUICK: Final = Effort(
    {
        "replay": Plan(rounds=2, warm_up=0.7, phase=0.15),
        "local": Plan(rounds=1, warm_up=0.7, phase=0.15),
    },
    load_seconds=2,
    is_quotable=False,
)


@dataclass(frozen=True, slots=True)
class Run:
    """What is measured, and on what: `database` is the port of DynamoDB Local, `peers` the folder
    where they are installed. `progress` says what is being done, `done` that a part is."""

    effort: Effort
    workloads: Sequence[Workload]
    servers: Sequence[Server]
    endpoints: Sequence[str]
    database: int
    peers: Path
    progress: Callable[[str], None]
    done: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the results, by its name on the command line. `write` measures, and returns
    Markdown that begins with a heading of level 2; `parts` is how often it calls `run.done`;
    `teams` must be in the database, besides those of the workloads."""

    name: str
    parts: Callable[[Run], int]
    write: Callable[[Run], str]
    teams: Sequence[TeamSize] = ()
