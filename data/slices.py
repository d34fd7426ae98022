"""The query planner: which parts of a team's partition are wanted -> the one Query that reads them,
and what to send instead to a team whose history is long.

Pure, and the single place where access patterns #1-#4 (docs/access-patterns.md) become key
conditions. Inside the partition: `!DEL# < ASN# < MEMBER# < META < PRJ# < RES#`, and no read of the
timeline has the first of them.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Final

from data.days import Window
from data.expressions import AttributeValue, KeyQuery, s
from data.keys import ASSIGNMENT, DELETION, MEMBER, META, PROJECT, RESOURCE, after, team_pk

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
    """The Query on the table and, for a window, its companion on `byLongEnd`. Where assignments
    are read for themselves, what else is wanted is `beside` them. The items of the three are
    disjoint, and in the order of sort keys they are companion, table, beside.

    `large` is what to send instead when the items of `table` have more than one page: it reads
    less of them (docs/adr/0015-large-teams.md)."""

    table: KeyQuery
    companion: KeyQuery | None = None
    beside: KeyQuery | None = None
    large: "Plan | None" = None


def plan(team_id: str, slices: Collection[Slice]) -> Plan:
    """The smallest single range of the partition that covers the slices (at least one). A mix that
    does not want all assignments has a `large` plan, too."""
    windows = [part.window for part in slices if isinstance(part, AssignmentsSlice)]
    window = reduce(Window.union, windows) if windows else None
    ranges = [_range(part) for part in slices if not isinstance(part, AssignmentsSlice)]
    keys = [low for low, _ in ranges if low.startswith(ASSIGNMENT)]
    others = [each for each in ranges if not each[0].startswith(ASSIGNMENT)]
    if not others:
        return _assignments(team_id, window, keys)
    low, high = min(low for low, _ in others), max(high for _, high in others)
    if window is None and not keys:
        return Plan(_between(team_id, low, high))
    # An assignment shows only as long as both its owners do: what the one range has of them is
    # beside the assignments as well, and with a window that is all.
    low, high = min(low, PROJECT), high if window is None else after(RESOURCE)
    large = replace(_assignments(team_id, window, keys), beside=_between(team_id, low, high))
    if window is None:
        return Plan(_between(team_id, min(keys), high), large=large)
    # #1, whatever the others are: the assignments before the window have the long ones.
    values = {":pk": s(team_pk(team_id)), ":deletions": s(after(DELETION))}
    whole = KeyQuery("#pk = :pk AND #sk > :deletions", values)
    return Plan(whole, large=None if _extent(window, keys) == _ALL else large)


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


_ALL: Final = ASSIGNMENT, after(ASSIGNMENT)
_DAY: Final = slice(len(ASSIGNMENT + "YYYY-MM-DD"))


def _extent(window: Window | None, keys: Collection[str]) -> tuple[str, str]:
    """The smallest range of keys with the assignments that begin in the window or within its
    reach back, and those with these keys. With a window it begins with a day, so that the first
    day of an assignment tells whether it lies before."""
    if window is None:
        return min(keys), max(keys)
    back = "" if window.reach_back is None else window.reach_back.isoformat()
    last = "" if window.last is None else f"{window.last.isoformat()}#"
    return (
        min([ASSIGNMENT + back, *(key[_DAY] for key in keys)]),
        max([after(ASSIGNMENT + last), *keys]),
    )


def _between(team_id: str, low: str, high: str) -> KeyQuery:
    pk = {":pk": s(team_pk(team_id))}
    if low == high:
        return KeyQuery("#pk = :pk AND #sk = :sk", {**pk, ":sk": s(low)})
    if low.endswith("#") and high == after(low):
        return KeyQuery("#pk = :pk AND begins_with(#sk, :sk)", {**pk, ":sk": s(low)})
    return KeyQuery(
        "#pk = :pk AND #sk BETWEEN :low AND :high", {**pk, ":low": s(low), ":high": s(high)}
    )


def _assignments(team_id: str, window: Window | None, keys: Collection[str]) -> Plan:
    """#4, and the assignments with these keys. The range reaches back so far that only assignments
    of more than `LONG_DAYS` days can have begun before it and still run; the sparse index has
    those."""
    low, high = _extent(window, keys)
    table = _between(team_id, low, high)
    if window is None or window.first is None:
        return Plan(table)
    first: dict[str, AttributeValue] = {":from": s(window.first.isoformat())}
    if not keys:  # A filter can't name keys, and would drop those that ended before.
        table = KeyQuery(
            table.key_condition,
            {**table.values, **first, ":string": s("S")},
            # An item without a readable end is not dropped here in silence: the split reports it.
            filter="#endDateExclusive > :from OR NOT attribute_type(#endDateExclusive, :string)",
        )
    if low == ASSIGNMENT:
        return Plan(table)
    companion = KeyQuery(
        "#pk = :pk AND #longEnd > :from",
        {":pk": s(team_pk(team_id)), **first, ":reach_back": s(low.removeprefix(ASSIGNMENT))},
        filter="#startDate < :reach_back",
        index="byLongEnd",
    )
    return Plan(table, companion)
