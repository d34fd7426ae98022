"""Reading again what a shard held before the log begins."""

import asyncio
import math
from collections.abc import Sequence
from typing import Final

from data.change_log import Coverage
from data.entries import Entry
from data.lineage import Need
from data.patience import patiently
from data.positions import Positions
from data.stream_reader import StreamReader
from data.stream_records import written_at
from data.streams import IteratorExpired, Place, Record, Shard

__all__ = ["ShardHistory", "TooMuch"]

_EMPTY_PAUSE: Final = 0.05
_NOWHERE: Final = Positions(0.0, {})
"""Where an entry stands until it is put into the log."""


class TooMuch(Exception):
    """There is more than the log has room for."""


class ShardHistory:
    """The changes of one shard from the first record on that any of the needs finds new. `floor`
    is the number of the one before it, `last` that of the last one that was read, `least`
    the lowest number that is needed, if any, `since` the moment from which on all is there."""

    def __init__(
        self, reader: StreamReader, shard: Shard, needs: Sequence[Need], *, seconds: float
    ) -> None:
        self.shard = shard
        self.entries: list[Entry] = []
        self.since = min((each.since for each in needs if each.after is None), default=math.inf)
        numbers = [each.after for each in needs if each.after is not None]
        self.least = min(numbers, default=None)
        self.floor = min(numbers) if len(numbers) == len(needs) else 0
        self.last = self.floor
        self._reader = reader
        self._needs = needs
        self._seconds = seconds
        self.has_begun = False
        self._has_ended = False
        self._seen = self.floor
        self._iterator: str | None = None

    @property
    def coverage(self) -> Coverage:
        """What the log has of the shard."""
        return self._reader.log.coverage.get(self.shard.id) or Coverage()

    @property
    def rest(self) -> Sequence[Need]:
        """The needs of which the first record is still to come, unless a number says which."""
        is_dated = any(need.after is None for need in self._needs)
        return self._needs if is_dated and not self.has_begun else ()

    @property
    def is_idle(self) -> bool:
        """Whether nothing was read of the shard, but is about to be: what is read here comes
        next."""
        follower = self._reader.followers.get(self.shard.id)
        has_follower = follower is not None and follower.finished is None
        return has_follower and self.coverage.begin is None

    @property
    def is_complete(self) -> bool:
        """Whether it reaches up to what the log has. That may be forgotten meanwhile, so that
        there is more to read."""
        begin = self.coverage.begin
        return self._has_ended or self.is_idle or (begin is not None and self._seen >= begin - 1)

    async def read(self) -> None:
        """Goes on until it is complete. Of an idle shard all that there is now is read: the end
        is where a page is empty. Raises TooMuch, Trimmed, Unavailable, StreamLost."""
        while True:
            try:
                iterator = self._iterator or await self._open()
                records, self._iterator = await self._page(iterator)
            except IteratorExpired:
                self._iterator = None
                continue
            self._take(records)
            self._has_ended = self._iterator is None
            if not self._reader.log.has_room(
                len(self.entries), sum(each.size for each in self.entries)
            ):
                raise TooMuch
            if self._has_ended or (self.is_complete and not (self.is_idle and records)):
                return
            if not records:
                await asyncio.sleep(_EMPTY_PAUSE)

    async def _open(self) -> str:
        reader = self._reader
        return await patiently(
            reader.streams.iterator,
            reader.arn,
            self.shard.id,
            self._seen or Place.OLDEST,
            seconds=self._seconds,
            pause=reader.pace.poll,
        )

    async def _page(self, iterator: str) -> tuple[list[Record], str | None]:
        reader = self._reader
        reader.counts.calls += 1
        page, _ = await patiently(
            reader.streams.records,
            iterator,
            seconds=self._seconds,
            pause=reader.pace.poll,
        )
        reader.counts.records += len(page.records)
        return page.records, page.next

    def _take(self, records: Sequence[Record]) -> None:
        until = self.coverage.begin
        new = []
        for record in records:
            sequence = self._seen = int(record.images.sequence)
            if until is not None and sequence >= until:
                break
            at = written_at(record)
            self.has_begun = self.has_begun or any(e.has(sequence, at) for e in self._needs)
            if self.has_begun:
                new.append(record)
            else:
                self.floor = self.last = sequence
        self.entries += self._reader.entries(self.shard.id, new, _NOWHERE, self.last)
        if new:
            self.last = int(new[-1].images.sequence)
