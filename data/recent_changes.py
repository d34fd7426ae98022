"""Recent changes of a team, newest first: the index `byUpdatedAt`, filtered by `EntityType`.

The filter runs after the read: what it drops has been paid for. See docs/access-patterns.md and
docs/adr/0021-changes.md.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

import msgspec

from data.changes import Change, change_of
from data.cursors import seal, unseal
from data.decoding import SkipCode
from data.entities import EntityType
from data.errors import BadInput
from data.expressions import Key, KeyQuery, s
from data.keys import team_pk
from data.partition import decoded
from data.rows import Row
from data.store import Store

__all__ = ["RecentChanges", "query_of", "recent_changes"]

_MOST_A_PAGE: Final = 1_000
"""Items that one request looks at. The largest are some kilobytes, and 1 MB is a page's end."""

# AWS limit: a sort key has 1 to 1,024 bytes. What is longer was never one.
_IndexKey = Annotated[str, msgspec.Meta(min_length=1, max_length=1_024)]

_LIST: Final = "recentChanges"


@dataclass(slots=True)
class RecentChanges:
    """Changes, newest first, each with its cursor; whether there are more; and what was skipped."""

    changes: list[tuple[Change, str]] = field(default_factory=list)
    has_more: bool = False
    skipped: Counter[SkipCode] = field(default_factory=Counter)


async def recent_changes(
    store: Store, team_id: str, *, first: int, after: str | None, type: EntityType | None
) -> RecentChanges:
    """The `first` (at least 1) latest changes after a cursor. With `type`, those of such entities
    and their deletions. It reads on until it has as many, or is at the end: a page may bring few,
    or nothing. The index lags behind the table, mostly by milliseconds. Raises BadInput for a
    cursor of another list."""
    bound_to = (_LIST, team_id, type or "")
    start = _start(team_id, after, bound_to) if after is not None else None
    query = query_of(team_id, type)
    recent = RecentChanges()
    limit = first + 1
    while True:
        rows, start = await store.part_of_rows(query, limit=limit, start=start)
        for row, change in _changes(rows, recent.skipped):
            if len(recent.changes) == first:
                recent.has_more = True
                return recent
            place = msgspec.json.encode([row.updated_at.S, row.sk.S])
            recent.changes.append((change, seal(place, *bound_to)))
        if start is None:
            return recent
        # What is rare is looked for in larger and larger steps.
        limit = min(limit * 2, _MOST_A_PAGE)


def query_of(team_id: str, type: EntityType | None) -> KeyQuery:
    """The Query for all of a team's changes, or those of one type and their deletions."""
    values = {":pk": s(team_pk(team_id))}
    if type is None:
        return KeyQuery("#pk = :pk", values, index="byUpdatedAt", descending=True)
    return KeyQuery(
        "#pk = :pk",
        {**values, ":type": s(type)},
        filter="#EntityType = :type OR #deletedType = :type",
        index="byUpdatedAt",
        descending=True,
    )


def _changes(rows: Sequence[Row], skipped: Counter[SkipCode]) -> list[tuple[Row, Change]]:
    found = []
    for row, entity in decoded(rows, skipped):
        if change := change_of(entity):
            found.append((row, change))
    return found


def _start(team_id: str, cursor: str, bound_to: Sequence[str]) -> Key:
    """Where to go on in the index: its key, and that of the table."""
    try:
        place = unseal(cursor, *bound_to)
        updated_at, sk = msgspec.json.decode(place, type=tuple[_IndexKey, _IndexKey])
    except (ValueError, msgspec.DecodeError):
        raise BadInput("`after` is no cursor of this list", field=("after",)) from None
    return {"pk": s(team_pk(team_id)), "updatedAt": s(updated_at), "sk": s(sk)}
