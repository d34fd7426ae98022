"""The outcome as Markdown."""

from collections.abc import Sequence

from bench.generator import percentile
from bench.live.scenario import Outcome
from bench.markdown import table

__all__ = ["flatness", "page", "problems"]

MOST_DELAY = 0.5
"""Seconds: the median of the delays has to be below."""
MOST_GROWTH = 0.10
"""How much more memory, as a part, a server may have in the last quarter than in the second."""


def flatness(samples: Sequence[float]) -> tuple[float, float]:
    """The mean memory in the second quarter of a run, when all is warm, and in the last one."""
    quarter = max(1, len(samples) // 4)
    second, last = samples[quarter : 2 * quarter] or samples, samples[-quarter:]
    return sum(second) / len(second), sum(last) / len(last)


def problems(outcome: Outcome) -> list[str]:
    """What is not as it has to be; nothing when all is well."""
    found = list(outcome.faults)
    median = percentile(outcome.delays, 50) if outcome.delays else float("inf")
    if median >= MOST_DELAY:
        found.append(f"the median delay is {median * 1000:.0f} ms")
    for name, samples in outcome.memory.items():
        early, late = flatness(samples)
        if late > early * (1 + MOST_GROWTH):
            found.append(f"{name} grew from {early:.0f} to {late:.0f} MB")
    return found


def page(outcome: Outcome) -> str:
    """A section with what was done and what came of it."""
    plan = outcome.plan
    title = "One of two servers is killed" if plan.kill else "Two servers"
    found = problems(outcome)
    rows = [
        ("mutations", f"{plan.mutations:,}, {plan.mutations / outcome.seconds:.0f}/s"),
        ("changes", f"{outcome.changes:,}"),
        ("deliveries", f"{outcome.deliveries:,}"),
        ("subscribers that had to connect again", str(outcome.reconnected)),
        ("mutations that were sent again", str(outcome.repeated)),
        *(
            (f"delay, {name}", f"{percentile(outcome.delays, percent) * 1000:.0f} ms")
            for name, percent in (("median", 50), ("p95", 95), ("p99", 99), ("longest", 100))
        ),
        *(
            (
                f"memory of {name}, second quarter and last",
                "{:.0f} MB, {:.0f} MB".format(*flatness(samples)),
            )
            for name, samples in outcome.memory.items()
        ),
        *(
            (f"CPU of {name}", f"{seconds:.1f} s in {outcome.seconds:.0f} s")
            for name, seconds in outcome.cpu_seconds.items()
        ),
        ("faults", "none" if not found else f"{len(found)}, such as: {found[0]}"),
    ]
    return "\n\n".join(
        [
            f"## {title}",
            f"{plan.subscribers} subscribers of {plan.teams} teams, half of them on each server, "
            "half of them over WebSocket and half over server-sent events.",
            table(("what", "how much"), rows),
        ]
    )
