"""The one reader that a process has of the table's stream: all its shards, into one log.

Each open shard has a task that reads it; a shard's children are begun with when it has been read
to its end. It begins with what is written from now on. What was written before is read only for
those who come back (`data.catching_up`).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Final, TypeVar, TypeVarTuple

from data.change_log import ChangeLog, Coverage
from data.entries import Entry
from data.errors import Unavailable
from data.followers import Follower, Pace
from data.lineage import Need, ancestors, ready
from data.parallel import first_of, for_each
from data.patience import patiently
from data.positions import MARGIN, Positions
from data.stream_records import Counts, change_in, written_at
from data.streams import STREAM_OFF, IteratorExpired, Place, Record, Shard, StreamLost, Streams

__all__ = ["StreamReader"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_MANY_RECORDS: Final = 100
_MANY_BYTES: Final = 200_000
"""A page with so much is likely not the last there is."""

_AT_ONCE: Final = 50

_KEPT_SECONDS: Final = 300.0
"""How long a shard that was read to its end stays in cursors: until its children surely are."""


class StreamReader:
    """Reads one stream, from `open` until `run` ends, and `end` says so. Then `lost` is why:
    Unavailable, StreamLost or Trimmed."""

    def __init__(self, streams: Streams, changes: ChangeLog, counts: Counts, pace: Pace) -> None:
        self.streams = streams
        self.log = changes
        self.counts = counts
        self.pace = pace
        self.arn = ""
        self.shards: dict[str, Shard] = {}
        self.followers: dict[str, Follower] = {}
        self.lost: Exception | None = None
        self._history: set[str] = set()
        self._opened = 0.0
        self._is_written = True
        self._ended = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None

    async def open(self) -> None:
        """Stands at the end of every open shard when it returns. Raises Unavailable, StreamLost."""
        self._opened = time.time()
        self.arn = await self._patiently(self.streams.arn)
        await self.list_shards()
        for shard in self.shards.values():
            if shard.closed:
                self._history.add(shard.id)
            else:
                follower = Follower(shard, Place.NEWEST)
                self._add(follower, Coverage())
        await for_each(self.followers.values(), self._iterator, at_once=_AT_ONCE)
        for coverage in self.log.coverage.values():
            coverage.since = time.time() + MARGIN

    async def run(self) -> None:
        """Reads until it is cancelled, or the stream is lost."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                for follower in self.followers.values():
                    tasks.create_task(self._follow(follower))
                tasks.create_task(self._discover())
        except* Exception as group:
            self.lost = first_of(group)

    def end(self) -> None:
        """Tells all who wait that nothing more will come."""
        self.lost = self.lost or Unavailable("live updates have ended; subscribe again")
        self.log.wake_all()
        for follower in self.followers.values():
            follower.wake()

    async def list_shards(self) -> None:
        """Looks which shards there are, and forgets those that are gone."""
        self._is_written, self.shards = await self._patiently(self.streams.shards, self.arn)
        self._history &= self.shards.keys()
        for id in self.followers.keys() - self.shards.keys():
            if self.followers[id].finished is not None:
                del self.followers[id]
        for id in self.log.coverage.keys() - self.shards.keys() - self.followers.keys():
            del self.log.coverage[id]

    def positions(self) -> Positions:
        """How far it has read."""
        now = time.time()
        current = {
            id: each
            for id, each in self.followers.items()
            if each.finished is None or each.finished > now - _KEPT_SECONDS
        }
        unread = [each.polled for each in current.values() if each.last is None]
        return Positions(
            min(unread, default=now), {id: each.position for id, each in current.items()}
        )

    def entries(
        self, shard: str, records: Iterable[Record], passed: Positions, before: int | None
    ) -> list[Entry]:
        """The changes in these records of a shard, which follow the one numbered `before`."""
        found = []
        past = frozenset(ancestors(self.shards, shard))
        for record in records:
            sequence = int(record.images.sequence)
            change = change_in(record, self.counts)
            if change is not None:
                at, size = written_at(record), record.images.size
                found.append(Entry(*change, shard, sequence, at, size, passed, before, past))
            before = sequence
        return found

    async def _follow(self, follower: Follower) -> None:
        """Reads a shard to its end."""
        while follower.finished is None:
            iterator, moves = await self._iterator(follower), follower.moves
            began = time.time()
            try:
                self.counts.calls += 1
                page, size = await self._patiently(self.streams.records, iterator)
            except IteratorExpired:
                if follower.moves == moves:
                    follower.renew()
                continue
            if follower.moves != moves:
                continue
            self._take(follower, page.records)
            follower.iterator = page.next
            follower.was_answered(began, empty=not page.records)
            if page.next is None:
                follower.finished = time.time()
            elif len(page.records) < _MANY_RECORDS and size < _MANY_BYTES:
                await asyncio.sleep(self.pace.poll)
        self._ended.set()

    async def _iterator(self, follower: Follower) -> str:
        while follower.iterator is None:
            moves, place = follower.moves, follower.place
            iterator = await self._patiently(
                self.streams.iterator, self.arn, follower.shard.id, place
            )
            if follower.moves == moves:
                follower.iterator = iterator
        return follower.iterator

    def _take(self, follower: Follower, records: list[Record]) -> None:
        self.counts.records += len(records)
        coverage = self.log.coverage[follower.shard.id]
        skipped = follower.skipped(records)
        if skipped:
            follower.last = int(records[skipped - 1].images.sequence)
            records = records[skipped:]
        if not records:
            return
        follower.needs = ()
        if coverage.begin is None:
            if follower.last is None and follower.place is Place.NEWEST:
                coverage.first = int(records[0].images.sequence)
            else:
                coverage.floor = follower.last or 0
        teams = set()
        passed = self.positions()
        for entry in self.entries(follower.shard.id, records, passed, follower.last):
            entry.replayed = follower.replays
            if self.log.append(entry):
                self.counts.changes += 1
                self.counts.behind = max(0.0, time.time() - entry.at)
                teams.add(entry.team_id)
        follower.last = int(records[-1].images.sequence)
        self.log.wake(teams)

    async def _discover(self) -> None:
        """Begins with shards when they can be: children of what has ended, and those that are
        new."""
        pause = self.pace.discovery
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ended.wait()
            self._ended.clear()
            await self.list_shards()
            self.begin()
            awaited = self._childless()
            if awaited and not self._is_written:
                raise StreamLost(STREAM_OFF)
            # A child may show a moment later than its parent ends.
            pause = min(1.0, self.pace.discovery) if awaited else self.pace.discovery

    def is_to_come(self, shard: str) -> bool:
        """Whether it will be read from its beginning, and was not begun with yet."""
        return shard not in self.followers and shard not in self._history

    def is_behind(self, shard: str, number: int | None) -> bool:
        """Whether somebody may have read further in a shard, up to this number."""
        follower = self.followers.get(shard)
        if follower is None or number is None:
            return self.is_to_come(shard)
        return follower.finished is None and (follower.last or 0) < number

    def begin(self) -> None:
        """Begins with the shards that can be read now."""
        finished = {id for id, each in self.followers.items() if each.finished is not None}
        known = self.followers.keys() | self._history
        for shard in ready(self.shards, finished | self._history, known):
            if shard.parent in finished:
                follower, coverage = Follower(shard, Place.OLDEST), Coverage(floor=0)
            else:
                # It was there before, and DescribeStream did not say so yet.
                since = self._opened - MARGIN
                follower = Follower(shard, Place.OLDEST, Need(None, since))
                coverage = Coverage(since=since)
            self._add(follower, coverage)
            if self._tasks is not None:
                self._tasks.create_task(self._follow(follower))

    def _childless(self) -> bool:
        """Whether a shard has ended lately whose children are not known."""
        parents = {shard.parent for shard in self.shards.values()}
        recent = time.time() - _KEPT_SECONDS
        return any(
            each.finished is not None and each.finished > recent and id not in parents
            for id, each in self.followers.items()
        )

    def _add(self, follower: Follower, coverage: Coverage) -> None:
        self.followers[follower.shard.id] = follower
        self.log.coverage[follower.shard.id] = coverage

    async def _patiently(self, request: Callable[[*Ts], Awaitable[T]], *args: *Ts) -> T:
        seconds = self.pace.opening if self._tasks is None else self.pace.patience
        return await patiently(request, *args, seconds=seconds, pause=self.pace.poll)
