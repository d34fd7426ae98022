"""Ratios of ours to the peers, round by round, and what they should be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from bench.measure import Results, Sample

__all__ = [
    "FIGURES",
    "MAX_RSS_MB",
    "Figure",
    "Ratio",
    "Verdict",
    "best_peer",
    "middle",
    "ratio",
    "verdicts",
]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a sample, and whether more of it is better."""

    name: str
    of: Callable[[Sample], float]
    more_is_better: bool = False


CPU: Final = Figure("CPU per request", lambda sample: sample.sequential_cpu)
CPU_16: Final = Figure("CPU per request at c=16", lambda sample: sample.concurrent_cpu)
RATE: Final = Figure(
    "requests/s at c=16", lambda sample: sample.concurrent.per_second, more_is_better=True
)
WALL: Final = Figure(
    "sequential wall",
    lambda sample: sample.sequential.seconds / len(sample.sequential.latencies),
)
FIGURES: Final = (CPU, CPU_16, RATE, WALL)

MAX_CPU: Final[Mapping[str, float]] = {
    "tiny": 0.80,
    "small": 0.80,
    "medium": 0.60,
    "large": 0.60,
    "narrow": 0.85,
    "create": 1.00,
}
"""The most CPU that ours may take, as a part of the best peer's, by workload, on replay."""

MAX_RSS_MB: Final = 160


@dataclass(frozen=True, slots=True)
class Ratio:
    """Ours divided by another's, over the rounds."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f}..{self.most:.2f})"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target, what came out, and whether it was met."""

    workload: str
    what: str
    target: str
    found: str
    passed: bool


def ratio(ours: Sequence[Sample], theirs: Sequence[Sample], figure: Figure) -> Ratio:
    """Each round divided by the same round of the other: what slows the machine for a while
    slows both."""
    quotients = [figure.of(a) / figure.of(b) for a, b in zip(ours, theirs, strict=True)]
    return Ratio(median(quotients), min(quotients), max(quotients))


def middle(samples: Sequence[Sample], figure: Figure) -> float:
    """The median over the rounds."""
    return median(map(figure.of, samples))


def best_peer(results: Results, ours: Sequence[str], figure: Figure) -> str | None:
    """The peer whose median is best, of all its forms; None when none was measured."""
    peers = [name for name in results.samples if name not in ours]
    sign = -1 if figure.more_is_better else 1
    return min(peers, key=lambda name: sign * middle(results.samples[name], figure), default=None)


def verdicts(results: Results, ours: Sequence[str]) -> list[Verdict]:
    """The targets of a workload on replay. `ours` are the names of our servers, the first of which
    is the one that is held against them."""
    name, own = results.workload.name, results.samples.get(ours[0])
    found = []
    for figure, limit in ((CPU, MAX_CPU[name]), (RATE, 1.0), (WALL, 1.0)):
        peer = best_peer(results, ours, figure)
        if own is None or peer is None:
            continue
        quotient = ratio(own, results.samples[peer], figure)
        passed = quotient.median >= limit if figure.more_is_better else quotient.median <= limit
        # What is not answered costs little.
        passed = passed and not results.failures(ours[0])
        sign = "≥" if figure.more_is_better else "≤"
        found.append(
            Verdict(name, f"{figure.name} / {peer}", f"{sign} {limit:.2f}", str(quotient), passed)
        )
    if name == "large" and own is not None:
        rss = results.rss[ours[0]]
        found.append(
            Verdict(name, "RSS after it", f"≤ {MAX_RSS_MB} MB", f"{rss:.0f} MB", rss <= MAX_RSS_MB)
        )
    return found
