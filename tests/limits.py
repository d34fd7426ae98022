"""Limits that no test comes near, for those that are about something else."""

from resolvers.budget import Budget
from schema.limits import Limits

__all__ = ["LIMITS", "budget"]

LIMITS = Limits(
    tokens=5_000,
    depth=100,
    aliases=10**100,
    cost=10**100,
    list_input=100,
    seconds=60,
    objects=1_000_000,
)


def budget() -> Budget:
    """A budget for one operation."""
    return Budget(objects=LIMITS.objects, seconds=LIMITS.seconds)
