"""The first section: every workload on every endpoint, server by server."""

from collections.abc import Sequence
from typing import Final

from bench.compare import FIGURES, Verdict, best_peer, middle, ratio, verdicts
from bench.endpoints import REPLAY, Traffic, endpoint_of
from bench.generator import percentile
from bench.markdown import table
from bench.measure import CONCURRENCY, Results, Sample, measure
from bench.run import Run, Section
from bench.servers import servers_of
from bench.workloads import Workload

__all__ = ["SECTION"]


def _compare(run: Run) -> str:
    """Measures all workloads and says how ours stand."""
    results = []
    for name in run.endpoints:
        with endpoint_of(name, run.database) as endpoint:
            for workload in _measured_on(name, run.workloads):
                servers = servers_of(workload, run.servers)
                plan = run.effort.plans[name]
                results.append(measure(workload, servers, endpoint, run.peers, plan, run.progress))
                run.done()
    ours = [server.name for server in run.servers if server.is_ours]
    return "\n\n".join([_targets(results, ours), *(_workload(each, ours) for each in results)])


def _measured_on(endpoint: str, workloads: Sequence[Workload]) -> Sequence[Workload]:
    """A large timeline takes DynamoDB Local seconds, and says little of the servers there."""
    return [each for each in workloads if endpoint == REPLAY or each.name != "large"]


def _targets(results: Sequence[Results], ours: Sequence[str]) -> str:
    found = [
        verdict
        for each in results
        if each.endpoint == REPLAY and ours
        for verdict in verdicts(each, ours)
    ]
    if not found:
        return "## Targets\n\nNone: that takes our server, a peer, and the endpoint `replay`."
    return "## Targets\n\n" + table(
        ("workload", "ours / best peer", "target", "median (least..most)", ""),
        [(v.workload, v.what, v.target, v.found, _passed(v)) for v in found],
    )


def _passed(verdict: Verdict) -> str:
    return "pass" if verdict.passed else "**FAIL**"


def _workload(results: Results, ours: Sequence[str]) -> str:
    workload = results.workload
    lines = [
        f"## {workload.name}, endpoint `{results.endpoint}`",
        f"{workload.what[0].upper()}{workload.what[1:]}.",
        table(
            (
                "server",
                "CPU ms",
                f"CPU ms, c={CONCURRENCY}",
                "p50 ms",
                "p99 ms",
                f"p50 ms, c={CONCURRENCY}",
                f"p99 ms, c={CONCURRENCY}",
                f"requests/s, c={CONCURRENCY}",
                "RSS MB",
                "peak MB",
                "answer kB",
                "failures",
            ),
            [_row(results, name, samples) for name, samples in results.samples.items()],
        ),
    ]
    own = results.samples.get(ours[0]) if ours else None
    if own and len(results.samples) > 1:
        lines.append(f"`{ours[0]}` divided by each, median (least..most) of the rounds:")
        lines.append(
            table(
                ("ours /", *(figure.name for figure in FIGURES)),
                [
                    (name, *(str(ratio(own, samples, figure)) for figure in FIGURES))
                    for name, samples in results.samples.items()
                    if name != ours[0]
                ],
            )
        )
    best: dict[str | None, list[str]] = {}
    for figure in FIGURES:
        best.setdefault(best_peer(results, ours, figure), []).append(figure.name)
    if None not in best:
        lines.append(
            "Best peer: "
            + "; ".join(f"{name} ({', '.join(figures)})" for name, figures in best.items())
            + "."
        )
    if results.traffic:
        lines.append(_traffic(results.traffic))
    return "\n\n".join(lines)


def _row(results: Results, name: str, samples: Sequence[Sample]) -> tuple[str, ...]:
    cpu, cpu_16, rate, _ = FIGURES
    alone = [each for sample in samples for each in sample.sequential.latencies]
    together = [each for sample in samples for each in sample.concurrent.latencies]
    return (
        name,
        f"{middle(samples, cpu) * 1000:.2f}",
        f"{middle(samples, cpu_16) * 1000:.2f}",
        *(f"{percentile(each, p) * 1000:.1f}" for each in (alone, together) for p in (50, 99)),
        f"{middle(samples, rate):.1f}",
        f"{results.rss[name]:.0f}",
        f"{results.peak_rss[name]:.0f}",
        f"{results.length[name] / 1000:.1f}",
        str(results.failures(name)),
    )


def _traffic(traffic: dict[str, Traffic]) -> str:
    return "What one operation asks of DynamoDB; a page is a request of its own:\n\n" + table(
        ("server", "requests", "read units", "write units"),
        [
            (
                name,
                ", ".join(f"{count} {operation}" for operation, count in each.requests.items()),
                f"{each.read_units:g}",
                f"{each.write_units:g}",
            )
            for name, each in traffic.items()
        ],
    )


def _parts(run: Run) -> int:
    return sum(len(_measured_on(name, run.workloads)) for name in run.endpoints)


SECTION: Final = Section("comparison", _parts, _compare)
