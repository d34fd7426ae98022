"""What an operation may take, to the last object and second."""

import pytest

from resolvers.budget import Budget, Overspent


def test_objects_may_be_spent_to_the_last() -> None:
    budget = Budget(objects=3, seconds=1, clock=lambda: 0.0)
    budget.spend(1)
    budget.spend(2)
    budget.spend(0)
    with pytest.raises(Overspent, match="more than 3 objects"):
        budget.spend(1)


def test_seconds_may_be_spent_to_the_last() -> None:
    now = 100.0
    budget = Budget(objects=9, seconds=2.5, clock=lambda: now)
    assert budget.seconds_left == 2.5
    now = 102.5
    budget.spend(1)
    assert budget.seconds_left == 0
    now = 102.6
    assert budget.seconds_left == 0
    with pytest.raises(Overspent, match=r"more than 2\.5 s"):
        budget.spend(0)


def test_no_handler_of_a_fields_failure_takes_it() -> None:
    assert not issubclass(Overspent, Exception)
