"""Which shards of a stream come before which, and what of each is new to whom.

A shard holds the older half of what its children go on with, so a child is read after its parent.
DynamoDB splits shards and never merges them: each has one parent at most (DescribeStream).
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final

from data.streams import Shard

__all__ = ["ALL", "NOTHING", "Need", "ancestors", "needs_of", "ready"]


@dataclass(frozen=True, slots=True)
class Need:
    """What of a shard is new to somebody: the records after the one numbered `after`, which was
    read; or where none of it was (None), those written since a moment, in seconds since 1970."""

    after: int | None
    since: float = 0.0

    def has(self, sequence: int, at: float) -> bool:
        return at >= self.since if self.after is None else sequence > self.after


ALL: Final = Need(after=0)
NOTHING: Final = Need(after=10**60)
"""Sequence numbers have 40 digits at most."""


def ancestors(shards: Mapping[str, Shard], id: str) -> Iterator[str]:
    """The shards before this one that are known, the youngest first."""
    shard = shards.get(id)
    while shard is not None and shard.parent is not None:
        shard = shards.get(shard.parent)
        if shard is not None:
            yield shard.id


def needs_of(
    positions: Mapping[str, int | None], since: float, shards: Mapping[str, Shard]
) -> dict[str, Need]:
    """What is new of each shard to whoever stands at these positions: the number of the last record
    read, None where nothing was yet. What is before a shard that is named has been read to its
    end; what comes after one and is not named itself, not at all."""
    past = {each for id in positions for each in ancestors(shards, id)}
    needs: dict[str, Need] = {}
    for id in shards:
        if id in positions:
            needs[id] = Need(positions[id], since)
        elif id in past:
            needs[id] = NOTHING
        elif any(each in positions for each in ancestors(shards, id)):
            needs[id] = ALL
        else:
            needs[id] = Need(None, since)
    return needs


def ready(shards: Mapping[str, Shard], finished: Set[str], known: Iterable[str]) -> list[Shard]:
    """The shards to begin with now, of those that are not `known`: their parents are finished, or
    gone."""
    seen = {*known}
    return [
        shard
        for shard in shards.values()
        if shard.id not in seen
        and (shard.parent is None or shard.parent not in shards or shard.parent in finished)
    ]
