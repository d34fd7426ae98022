"""The query planner: which parts of a team's partition are wanted -> the one Query that reads them.

Pure, and the single place where access patterns #1-#4 (docs/access-patterns.md) become key
conditions. Inside the partition: `ASN# < MEMBER# < META < PRJ# < RES#`.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import reduce

from data.days import Window
from data.expressions import AttributeValue, KeyQuery, s
from data.keys import ASSIGNMENT, MEMBER, META, PROJECT, RESOURCE, after, team_pk

__all__ = [
    "AssignmentsSlice",
    "ItemSlice",
    "MembersSlice",
    "Plan",
    "ProjectsSlice",
    "ResourcesSlice",
    "Slice",
    "TeamSlice",
    "plan",
]


@dataclass(frozen=True, slots=True)
class TeamSlice:
    """The team's own item."""


@dataclass(frozen=True, slots=True)
class MembersSlice:
    """All memberships of the team."""


@dataclass(frozen=True, slots=True)
class ResourcesSlice:
    """All resources of the team."""


@dataclass(frozen=True, slots=True)
class ProjectsSlice:
    """All projects of the team."""


@dataclass(frozen=True, slots=True)
class AssignmentsSlice:
    """The team's assignments in a window; the default window is open on both sides."""

    window: Window = field(default_factory=Window)


@dataclass(frozen=True, slots=True)
class ItemSlice:
    """The one item with this sort key."""

    sk: str


OwnSlice = TeamSlice | MembersSlice | ResourcesSlice | ProjectsSlice | ItemSlice
Slice = OwnSlice | AssignmentsSlice


@dataclass(frozen=True, slots=True)
class Plan:
    """The Query on the table and, for #4 only, its companion on `byLongEnd`. Their items are
    disjoint, and those of the companion come first in the order of sort keys."""

    table: KeyQuery
    companion: KeyQuery | None = None


def plan(team_id: str, slices: Collection[Slice]) -> Plan:
    """The smallest single range of the partition that covers the slices (at least one)."""
    windows = [part.window for part in slices if isinstance(part, AssignmentsSlice)]
    others = [part for part in slices if not isinstance(part, AssignmentsSlice)]
    if windows and not others:
        return _assignments_only(team_id, reduce(Window.union, windows))
    if windows:
        # #1, whatever the others are: an assignment shows only as long as both its owners do, so
        # both have to be read; and the assignments before the window have the long ones.
        return Plan(KeyQuery("#pk = :pk", {":pk": s(team_pk(team_id))}))
    ranges = [_range(part) for part in others]
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    return Plan(_between(team_id, low, high))


def _range(part: OwnSlice) -> tuple[str, str]:
    match part:
        case TeamSlice():
            return META, META
        case MembersSlice():
            return MEMBER, after(MEMBER)
        case ProjectsSlice():
            return PROJECT, after(PROJECT)
        case ResourcesSlice():
            return RESOURCE, after(RESOURCE)
        case ItemSlice(sk):
            return sk, sk


def _end(window: Window) -> str:
    """The end of the keys of assignments that begin in the window."""
    day = "" if window.last is None else f"{window.last.isoformat()}#"
    return after(ASSIGNMENT + day)


def _between(team_id: str, low: str, high: str) -> KeyQuery:
    pk = {":pk": s(team_pk(team_id))}
    if low == high:
        return KeyQuery("#pk = :pk AND #sk = :sk", {**pk, ":sk": s(low)})
    if low.endswith("#") and high == after(low):
        return KeyQuery("#pk = :pk AND begins_with(#sk, :sk)", {**pk, ":sk": s(low)})
    return KeyQuery(
        "#pk = :pk AND #sk BETWEEN :low AND :high", {**pk, ":low": s(low), ":high": s(high)}
    )


def _assignments_only(team_id: str, window: Window) -> Plan:
    """#4. The range reaches back so far that only assignments of more than `LONG_DAYS` days can
    have begun before it and still run; the sparse index has those."""
    reach_back = window.reach_back
    low = ASSIGNMENT if reach_back is None else ASSIGNMENT + reach_back.isoformat()
    table = _between(team_id, low, _end(window))
    if window.first is None:
        return Plan(table)
    first: dict[str, AttributeValue] = {":from": s(window.first.isoformat())}
    table = KeyQuery(
        table.key_condition,
        {**table.values, **first, ":string": s("S")},
        # An item without a readable end is not dropped here in silence: the split reports it.
        filter="#endDateExclusive > :from OR NOT attribute_type(#endDateExclusive, :string)",
    )
    if reach_back is None:
        return Plan(table)
    companion = KeyQuery(
        "#pk = :pk AND #longEnd > :from",
        {":pk": s(team_pk(team_id)), **first, ":reach_back": s(reach_back.isoformat())},
        filter="#startDate < :reach_back",
        index="byLongEnd",
    )
    return Plan(table, companion)
