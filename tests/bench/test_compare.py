"""Ratios are taken round by round, and a target is met or it is not."""

import pytest

from bench.compare import CPU, FIGURES, RATE, best_peer, ratio, verdicts
from bench.generator import Load, percentile
from bench.measure import Results, Sample
from bench.workloads import WORKLOADS

OURS = ["ours"]


def sample(cpu: float, *, rate: float = 100.0, wall: float = 0.01, failures: int = 0) -> Sample:
    return Sample(
        cpu,
        Load(wall * 4, [wall] * 4, failures),
        cpu,
        Load(8 / rate, [0.1] * 8),
    )


def results(workload: str = "medium", **samples: list[Sample]) -> Results:
    found = Results(WORKLOADS[workload], "replay")
    found.samples.update(samples)
    found.rss.update(dict.fromkeys(samples, 150.0))
    return found


def test_a_ratio_is_the_median_of_the_rounds_and_not_the_ratio_of_medians() -> None:
    """The machine was slow in the first round, for both."""
    ours = [sample(8.0), sample(1.0), sample(3.0)]
    theirs = [sample(4.0), sample(2.0), sample(1.0)]
    found = ratio(ours, theirs, CPU)
    assert (found.median, found.least, found.most) == (2.0, 0.5, 3.0)
    assert str(found) == "2.00 (0.50..3.00)"


def test_the_best_peer_has_the_least_cpu_and_the_highest_rate() -> None:
    found = results(
        ours=[sample(0.1, rate=900)], a=[sample(2.0, rate=50)], b=[sample(1.0, rate=40)]
    )
    assert best_peer(found, OURS, CPU) == "b"
    assert best_peer(found, OURS, RATE) == "a"
    assert best_peer(results(ours=[sample(1.0)]), OURS, CPU) is None


@pytest.mark.parametrize(
    ("cpu", "rate", "wall", "passed"),
    [
        (0.6, 100, 0.01, [True, True, True]),
        (0.61, 100, 0.01, [False, True, True]),
        (0.6, 99, 0.01, [True, False, True]),
        (0.6, 100, 0.011, [True, True, False]),
    ],
)
def test_each_target_is_judged_by_itself(
    cpu: float, rate: float, wall: float, passed: list[bool]
) -> None:
    found = results(ours=[sample(cpu, rate=rate, wall=wall)], peer=[sample(1.0)])
    assert [verdict.passed for verdict in verdicts(found, OURS)] == passed


def test_who_leaves_requests_unanswered_meets_no_target() -> None:
    found = results(ours=[sample(0.1, rate=900, failures=1)], peer=[sample(1.0)])
    assert not any(verdict.passed for verdict in verdicts(found, OURS))


def test_memory_is_judged_after_the_large_timeline() -> None:
    found = results("large", ours=[sample(0.1, rate=900)], peer=[sample(1.0)])
    assert verdicts(found, OURS)[-1].passed
    found.rss["ours"] = 161.0
    assert not verdicts(found, OURS)[-1].passed


def test_every_workload_has_its_target() -> None:
    for name in WORKLOADS:
        peer = results(name, ours=[sample(1.0)], peer=[sample(1.0)])
        assert len(verdicts(peer, OURS)) >= 3


def test_figures_are_per_request() -> None:
    one = sample(0.5, rate=250, wall=0.02)
    assert [round(figure.of(one), 6) for figure in FIGURES] == [0.5, 0.5, 250, 0.02]


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 2), (51, 3), (99, 4), (100, 4)])
def test_percentiles_are_of_the_nearest_rank(percent: float, expected: float) -> None:
    assert percentile([4, 2, 1, 3], percent) == expected
