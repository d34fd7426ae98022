"""How far one shard of the stream was read, and how fast shards are read."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from data.lineage import Need
from data.positions import MARGIN
from data.stream_records import written_at
from data.streams import Place, Record, Shard

__all__ = ["Follower", "Pace"]


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: between two requests for a shard that has little (AWS limit: five a second for all
    readers of a shard), between two looks for new shards, and how long a source that fails is
    waited for before it counts as lost, when somebody waits for it to open and later."""

    poll: float = 0.2
    discovery: float = 30.0
    opening: float = 5.0
    patience: float = 30.0


class Follower:
    """How far one shard was read. `last` is the number of the last record, `polled` a moment at
    which all that there was had been read. Where there are `needs`, what none of them finds new is
    passed over until one does. While it `replays`, what it reads may have been written long ago."""

    def __init__(self, shard: Shard, place: Place | int, *needs: Need) -> None:
        self.shard = shard
        self.polled = time.time()
        self.finished: float | None = None
        self._empty: float | None = None
        self.last: int | None = None
        self.moves = 0
        self._answer = asyncio.Event()
        self.move(place, *needs)

    @property
    def position(self) -> int | None:
        """`last`, unless all up to there was passed over: others may ask for some of it."""
        return None if self.needs else self.last

    def move(self, place: Place | int, *needs: Need, replays: bool = False) -> None:
        """Goes on from another place; a page that is on its way from the old one is not taken."""
        self.place = place
        self.needs = needs
        self.replays = replays
        self._empty = None
        self.iterator: str | None = None
        self.moves += 1
        if not isinstance(place, Place):
            self.last = place

    def renew(self) -> None:
        """Goes on from where it is with another iterator. Where that has no number, the time
        says it."""
        if self.last is not None:
            self.move(self.last, *self.needs, replays=self.replays)
        elif self.place is Place.NEWEST:
            self.move(Place.OLDEST, Need(None, self.polled - MARGIN))
        else:
            self.move(self.place, *self.needs, replays=self.replays)

    def was_answered(self, asked: float, *, empty: bool) -> None:
        """Takes note of a page that was asked for at this moment. A page may be empty though more
        follows, so that it takes two in a row to say that all has been seen."""
        if empty and self._empty is not None:
            self.polled, self.replays = self._empty, False
        self._empty = asked if empty else None
        self.wake()

    def wake(self) -> None:
        answer, self._answer = self._answer, asyncio.Event()
        answer.set()

    async def answered(self) -> None:
        """Waits for the next page, or the end of all reading."""
        await self._answer.wait()

    def skipped(self, records: Sequence[Record]) -> int:
        """How many of these, at the beginning, are news to nobody."""
        if not self.needs:
            return 0
        return sum(1 for _ in takewhile(self._is_old, records))

    def _is_old(self, record: Record) -> bool:
        sequence, at = int(record.images.sequence), written_at(record)
        return not any(need.has(sequence, at) for need in self.needs)
