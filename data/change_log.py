"""The changes that a process has read lately, of all teams, in the order in which it read them.

It is bounded by number and by bytes, and forgets the oldest first: a subscriber is only a place in
it, so that one who is slow costs nothing, and is told when what comes next is forgotten.
"""

import asyncio
import math
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from data.changes import ChangeKind
from data.entities import EntityType
from data.entries import Entry
from data.lineage import Need

__all__ = ["ChangeLog", "Coverage", "TeamLog"]

_MILLISECOND: Final = 0.001


class Coverage(Struct):
    """What the log has of a shard: all after the record numbered `floor`, or, where that is not
    known, all from the one numbered `first` on; and all that was written at `since` or later."""

    floor: int | None = None
    first: int | None = None
    since: float = math.inf

    @property
    def begin(self) -> int | None:
        return self.first if self.floor is None else self.floor + 1

    def covers(self, need: Need) -> bool:
        if need.after is None:
            return self.floor == 0 or self.since <= need.since
        return self.begin is not None and self.begin <= need.after + 1


class TeamLog:
    """A team's part of the log. `lost` is the index of the last entry that was forgotten, `told`
    that of the last one of the batch that was made with `cursor`."""

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque()
        self.lost: float = -math.inf
        self.subscribers = 0
        self.told: int | None = None
        self.cursor = ""
        self._news = asyncio.Event()

    def after(self, index: float) -> list[Entry]:
        """The entries after this index, in order."""
        found = []
        for entry in reversed(self.entries):
            if entry.index <= index:
                break
            found.append(entry)
        found.reverse()
        return found

    def wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def changed(self) -> None:
        """Waits until `wake` is called."""
        await self._news.wait()


class ChangeLog:
    """At most `max_changes`, whose images have at most `max_bytes`. Indexes rise from 0 on; what
    is put before the beginning has negative ones."""

    def __init__(self, *, max_changes: int, max_bytes: int) -> None:
        self.max_changes = max_changes
        self.max_bytes = max_bytes
        self.coverage: dict[str, Coverage] = {}
        self.end = 0
        self.bytes = 0
        self._entries: deque[Entry] = deque()
        self._last: dict[tuple[str, EntityType, str], Entry] = {}
        self._teams: dict[str, TeamLog] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def begin(self) -> int:
        """The index of the first entry."""
        return self._entries[0].index if self._entries else self.end

    def has_room(self, changes: int, bytes: int) -> bool:
        """Whether so much fits beside what is there."""
        return len(self) + changes <= self.max_changes and self.bytes + bytes <= self.max_bytes

    def append(self, entry: Entry) -> bool:
        """Adds a change unless it is old news, and forgets what there is no room for. Whoever
        waits for it is woken by `wake`."""
        last = self._last.get(entry.key)
        if last is not None and not entry.may_follow(last):
            return False
        entry.index = self.end
        self.end += 1
        self._last[entry.key] = entry
        self._entries.append(entry)
        self._team(entry.team_id).entries.append(entry)
        self.bytes += entry.size
        while len(self) > 1 and not self.has_room(0, 0):
            self._forget()
        return True

    def prepend(self, entries: Iterable[Entry]) -> None:
        """Puts changes, in order, before all that are there. One that would be old news there only
        comes after: across shards the order of reading is not that of writing."""
        followers: dict[tuple[str, EntityType, str], Entry] = {}
        for entry in self._entries:
            followers.setdefault(entry.key, entry)
        timely, late = [], []
        for entry in reversed([*entries]):
            follower = followers.get(entry.key)
            if follower is not None and not follower.may_follow(entry):
                late.append(entry)
                continue
            timely.append(entry)
            if entry.change.kind is ChangeKind.DELETED:
                # What is before it counts up to it, whatever the log has of the next one.
                followers[entry.key] = entry
        last: dict[tuple[str, EntityType, str], Entry] = {}
        kept = []
        for entry in reversed(timely):
            if entry.key not in last or entry.may_follow(last[entry.key]):
                last[entry.key] = entry
                kept.append(entry)
        begin = self.begin
        for entry in reversed(kept):
            begin -= 1
            entry.index = begin
            self._entries.appendleft(entry)
            self._team(entry.team_id).entries.appendleft(entry)
            self._last.setdefault(entry.key, entry)
            self.bytes += entry.size
        for entry in reversed(late):
            entry.replayed = True
            self.append(entry)

    def wake(self, teams: Iterable[str]) -> None:
        """Wakes those who wait for changes of these teams."""
        for team_id in teams:
            if team_id in self._teams:
                self._teams[team_id].wake()

    def wake_all(self) -> None:
        self.wake(tuple(self._teams))

    def join(self, team_id: str) -> TeamLog:
        """A team's part, for one subscriber more, until it leaves."""
        team = self._team(team_id)
        team.subscribers += 1
        return team

    def leave(self, team_id: str) -> None:
        team = self._teams[team_id]
        team.subscribers -= 1
        self._tidy(team_id, team)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def _team(self, team_id: str) -> TeamLog:
        return self._teams.setdefault(team_id, TeamLog())

    def _forget(self) -> None:
        entry = self._entries.popleft()
        self.bytes -= entry.size
        if self._last.get(entry.key) is entry:
            del self._last[entry.key]
        team = self._teams[entry.team_id]
        team.entries.popleft()
        team.lost = entry.index
        self._tidy(entry.team_id, team)
        coverage = self.coverage.get(entry.shard)
        if coverage is not None and (coverage.begin is None or coverage.begin <= entry.sequence):
            coverage.floor = entry.sequence
            coverage.since = max(coverage.since, entry.at + _MILLISECOND)

    def _tidy(self, team_id: str, team: TeamLog) -> None:
        if not team.entries and not team.subscribers:
            del self._teams[team_id]
