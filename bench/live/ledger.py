"""What was changed, what each subscriber was told, and whether the two agree."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Change", "Ledger", "Told", "faults", "in_order_of_version"]


@dataclass(frozen=True, slots=True)
class Change:
    """One version of one object of a team."""

    entity_id: str
    version: int
    kind: str


@dataclass(frozen=True, slots=True)
class Told:
    """A change that a subscriber was told of, at a moment of the monotonic clock."""

    change: Change
    at: float


@dataclass(slots=True)
class Ledger:
    """The changes of each team, with the moment at which their mutation was sent: before the
    commit, so that a delay from there is no shorter than one from the commit."""

    teams: dict[str, dict[Change, float]] = field(default_factory=lambda: defaultdict(dict))

    def enter(self, team: str, change: Change, sent_at: float) -> None:
        self.teams[team][change] = sent_at

    def count(self, team: str) -> int:
        """How many changes the team had."""
        return len(self.teams[team])

    def delays(self, team: str, told: Sequence[Told]) -> list[float]:
        """Seconds from the sending of each mutation to the delivery."""
        changes = self.teams[team]
        return [each.at - changes[each.change] for each in told if each.change in changes]


def faults(changes: Mapping[Change, float], told: Sequence[Told]) -> list[str]:
    """What is wrong with what a subscriber of the team was told: changes that are missing, that
    came twice, that were none of the team's, or an object whose versions came in another order."""
    found: list[str] = []
    seen: set[Change] = set()
    for each in told:
        if each.change not in changes:
            found.append(f"no change of the team: {each.change}")
        elif each.change in seen:
            found.append(f"told twice: {each.change}")
        seen.add(each.change)
    found += [f"not told: {change}" for change in changes if change not in seen]
    return found + in_order_of_version([each.change for each in told])


def in_order_of_version(changes: Sequence[Change]) -> list[str]:
    """The changes that came after a later version of the same object."""
    found: list[str] = []
    latest: dict[str, int] = {}
    for each in changes:
        if each.version <= latest.get(each.entity_id, 0):
            found.append(f"after version {latest[each.entity_id]}: {each}")
        latest[each.entity_id] = max(each.version, latest.get(each.entity_id, 0))
    return found
