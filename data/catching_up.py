"""Catching up: telling those who come back with a cursor what the log has no more.

The log is extended backwards, once for all who ask at the same time, by reading shards from where
they stood up to where the log begins. Nobody who is being served waits for that.
"""

import asyncio
import heapq
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from data.change_log import Coverage
from data.entries import Entry
from data.errors import BadInput
from data.lineage import NOTHING, Need, ancestors, needs_of
from data.parallel import for_each
from data.positions import MARGIN, Cursor, Positions
from data.shard_history import ShardHistory, TooMuch
from data.stream_reader import StreamReader
from data.streams import Place, Shard, Trimmed

__all__ = ["CatchUp", "Wanted"]

_REMEMBERED: Final = 24 * 3600.0
"""AWS limit: seconds for which a stream has its records."""

_TOGETHER: Final = 120.0
"""Seconds between the cursors of those who are served by one reading: one who comes back after a
day must not be in the way of those who were away for a moment."""

_REFUSED: Final = 60.0
"""Seconds for which a team that asked for too much has only what is less than half as long ago
read again for it: nobody can keep a process reading what it will not tell."""

_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """What is new to one who comes back, by shard, and where they stood."""

    needs: Mapping[str, Need]
    stood: Positions


@dataclass(frozen=True, slots=True)
class _Refusal:
    """`until` then, a team's cursors from before `begin` are too old unread."""

    begin: float
    until: float


class CatchUp:
    """Extends the log of one reader. `seconds` bound one reading."""

    def __init__(self, reader: StreamReader, *, seconds: float) -> None:
        self._reader = reader
        self._log = reader.log
        self._seconds = seconds
        self._lock = asyncio.Lock()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._refusals: dict[str, _Refusal] = {}
        self._asking: list[Wanted] = []

    async def cover(self, cursor: Cursor, team_id: str) -> Wanted:
        """Returns when the log has, or will have, all that is new to whoever stands at the cursor.
        Raises BadInput when the stream does not remember it, or reading it again would take longer
        than reading the team; Unavailable, StreamLost."""
        wanted = await self._wanted(cursor)
        self._asking.append(wanted)
        try:
            # One of each team stands in line: however often a team asks, it is in the way of the
            # others once.
            async with self._turns.setdefault(team_id, asyncio.Lock()):
                if not self._is_covered(wanted):
                    await self._read(wanted, team_id)
        finally:
            self._asking.remove(wanted)
        if not self._is_covered(wanted):
            raise _too_old()
        return wanted

    async def _read(self, wanted: Wanted, team_id: str) -> None:
        async with self._lock:
            if self._is_covered(wanted):
                return
            now = time.time()
            self._refusals = {id: each for id, each in self._refusals.items() if now < each.until}
            if team_id in self._refusals and wanted.stood.at < self._refusals[team_id].begin:
                raise _too_old()
            try:
                async with asyncio.timeout(self._seconds):
                    await self._settle(wanted)
                    await self._extend(wanted)
            except (TimeoutError, TooMuch, Trimmed):
                begin = now - (now - wanted.stood.at) / 2
                self._refusals[team_id] = _Refusal(begin, time.time() + _REFUSED)
                raise _too_old() from None

    async def _wanted(self, cursor: Cursor) -> Wanted:
        if cursor.at < time.time() - _REMEMBERED:
            raise _too_old()
        reader = self._reader
        stood = cursor.positions(reader.shards)
        if stood is None:
            # Another process may know a shard that is newer than our last look.
            await reader.list_shards()
            reader.begin()
            stood = cursor.positions(reader.shards)
        if stood is None:
            raise _too_old()
        return Wanted(needs_of(stood.shards, stood.at - MARGIN, reader.shards), stood)

    def _is_covered(self, wanted: Wanted) -> bool:
        return not any(self._missing(shard, [wanted]) for shard in wanted.needs)

    def _missing(self, shard: str, asking: Sequence[Wanted]) -> list[Need]:
        if self._reader.is_to_come(shard):
            return []
        coverage = self._log.coverage.get(shard, Coverage())
        needs = [each.needs.get(shard, NOTHING) for each in asking]
        return [need for need in needs if need is not NOTHING and not coverage.covers(need)]

    async def _settle(self, wanted: Wanted) -> None:
        """Waits until shards of which nothing was read have nothing that was there when this
        began: what is read of them here is older than what the reader waits for."""
        began = time.time()
        for shard in wanted.needs:
            follower = self._reader.followers.get(shard)
            while (
                follower
                and follower.finished is None
                and follower.polled < began
                and self._log.coverage[shard].begin is None
                and self._reader.lost is None
            ):
                await follower.answered()

    async def _extend(self, wanted: Wanted) -> None:
        near = [each for each in self._asking if abs(each.stood.at - wanted.stood.at) <= _TOGETHER]
        histories = [
            ShardHistory(
                self._reader, shard, [*needs, *self._promised(shard)], seconds=self._seconds
            )
            for shard in self._reader.shards.values()
            if (needs := self._missing(shard.id, near))
        ]
        rest = histories
        while rest:
            await for_each(rest, ShardHistory.read, at_once=_AT_ONCE)
            rest = [each for each in histories if not each.is_complete]
        entries = [entry for history in histories for entry in history.entries]
        if not self._log.has_room(len(entries), sum(entry.size for entry in entries)):
            raise TooMuch
        self._splice(histories, min(each.stood.at for each in near))

    def _promised(self, shard: Shard) -> tuple[Need, ...]:
        """What somebody else waits for of a shard already."""
        follower = self._reader.followers.get(shard.id)
        return follower.needs if follower else ()

    def _splice(self, histories: Sequence[ShardHistory], at: float) -> None:
        """Puts what was read into the log, in one step: nothing is read meanwhile."""
        idle = [each for each in histories if each.is_idle]
        earlier = [each for each in histories if not each.is_idle]
        self._log.prepend(self._merged(earlier, at))
        for history in earlier:
            coverage = self._log.coverage.setdefault(history.shard.id, Coverage())
            coverage.floor = history.floor
            coverage.since = min(coverage.since, history.since)
        for history in idle:
            passed = self._reader.positions()
            for entry in history.entries:
                entry.replayed, entry.passed = True, passed
                self._log.append(entry)
            coverage = self._log.coverage[history.shard.id]
            coverage.floor = history.floor if history.has_begun else history.least
            coverage.since = min(coverage.since, history.since)
            self._reader.followers[history.shard.id].move(
                history.last or Place.OLDEST, *history.rest, replays=True
            )
        self._log.wake_all()

    def _merged(self, histories: Sequence[ShardHistory], at: float) -> Iterator[Entry]:
        """The changes of several shards in the order in which they were written: exactly in each
        shard and from parent to child, and else by their time."""
        log, followers = self._log, self._reader.followers
        passed: dict[str, int | None] = {
            id: each.floor for id, each in log.coverage.items() if id in followers
        }
        passed |= {each.shard.id: each.floor for each in histories}
        shared = Positions(at, dict(passed))
        shard = ""
        for _, entry in heapq.merge(*self._timed(histories), key=lambda pair: pair[0]):
            if entry.shard != shard:
                shard, shared = entry.shard, Positions(at, dict(passed))
            begin = log.coverage.get(shard, Coverage()).begin
            if begin is None or entry.sequence < begin:
                entry.passed = shared
                yield entry
            passed[shard] = entry.sequence

    def _timed(self, histories: Sequence[ShardHistory]) -> Iterator[list[tuple[float, Entry]]]:
        shards: Mapping[str, Shard] = self._reader.shards
        latest: dict[str, float] = {}
        ordered = sorted(histories, key=lambda each: len([*ancestors(shards, each.shard.id)]))
        for history in ordered:
            past = [latest[id] for id in ancestors(shards, history.shard.id) if id in latest]
            now = max(past, default=0.0)
            timed = []
            for entry in history.entries:
                now = max(now, entry.at)
                timed.append((now, entry))
            latest[history.shard.id] = now
            yield timed


def _too_old() -> BadInput:
    return BadInput(
        "`since` is older than what can be told again: read the team again, and subscribe without"
        " it",
        field=("since",),
    )
