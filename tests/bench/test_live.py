"""The benchmark of live updates: its judge, and a small run with a server that is killed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.live.ledger import Change, Ledger, Told, faults
from bench.live.report import flatness, page, problems
from bench.live.scenario import Outcome, Plan, run
from tests.engines import HOME

FIRST, SECOND, OTHER = (
    Change("a", 1, "CREATED"),
    Change("a", 2, "UPDATED"),
    Change("b", 1, "CREATED"),
)
CHANGES = {FIRST: 0.0, SECOND: 1.0, OTHER: 2.0}


def told(*changes: Change) -> list[Told]:
    return [Told(change, 3.0) for change in changes]


@pytest.mark.parametrize("order", [(FIRST, SECOND, OTHER), (OTHER, FIRST, SECOND)])
def test_everything_once_and_in_order_of_version_is_no_fault(order: tuple[Change, ...]) -> None:
    assert faults(CHANGES, told(*order)) == []


@pytest.mark.parametrize(
    ("heard", "says"),
    [
        ((FIRST, OTHER), "not told"),
        ((FIRST, SECOND, SECOND, OTHER), "told twice"),
        ((SECOND, FIRST, OTHER), "after version 2"),
        ((FIRST, SECOND, OTHER, Change("c", 1, "CREATED")), "no change of the team"),
        ((FIRST, Change("a", 2, "DELETED"), OTHER), "no change of the team"),
    ],
)
def test_each_kind_of_fault_is_found(heard: tuple[Change, ...], says: str) -> None:
    assert any(says in fault for fault in faults(CHANGES, told(*heard)))


def test_a_delay_is_from_the_sending_to_the_delivery() -> None:
    ledger = Ledger()
    for change, sent_at in CHANGES.items():
        ledger.enter("team", change, sent_at)
    assert ledger.delays("team", told(FIRST, SECOND)) == [3.0, 2.0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda outcome: outcome.faults.append("told twice"), "told twice"),
        (lambda outcome: outcome.delays.extend([0.6] * 5), "median delay"),
        (lambda outcome: outcome.memory.update(server=[100.0, 100.0, 110.0, 140.0]), "grew"),
        (lambda outcome: outcome.delays.clear(), "median delay"),
    ],
)
def test_what_is_not_as_it_has_to_be_is_a_problem(
    change: Callable[[Outcome], None], says: str
) -> None:
    outcome = Outcome(Plan(), delays=[0.1, 0.2], memory={"server": [100.0] * 8}, seconds=1.0)
    assert problems(outcome) == []
    change(outcome)
    assert any(says in problem for problem in problems(outcome))


def test_memory_is_compared_when_all_is_warm() -> None:
    assert flatness([50.0, 100.0, 100.0, 104.0]) == (100.0, 104.0)


async def test_a_server_that_is_killed_costs_nobody_a_change() -> None:
    """Its subscribers go on at the other one, after the last cursor that they were given."""
    plan = Plan(teams=3, subscribers_a_team=4, mutations=90, rate=60, kill=True)
    outcome = await run(plan, Path(HOME), lambda what, part: None)
    assert outcome.faults == []
    assert outcome.changes > 80
    assert outcome.deliveries == 4 * outcome.changes
    assert outcome.reconnected == 6
    assert "One of two servers is killed" in page(outcome)
