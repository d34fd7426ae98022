"""One subscriber's way through the log: batches of a team's changes, each with its cursor."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from data.catching_up import Wanted
from data.changes import Change
from data.entries import Entry
from data.errors import Unavailable
from data.lineage import NOTHING, Need
from data.positions import MARGIN, Positions, encoded
from data.stream_reader import StreamReader
from data.streams import Trimmed

__all__ = ["Batch", "FellBehind", "Subscription"]

_MOST: Final = 100


class FellBehind(Exception):
    """What comes next is no longer kept: read the team again, and subscribe anew."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes in the order of the stream; of one id in the order of versions, each once. The first
    batch may have none, and so may one that only brings a newer cursor. `cursor` says how far they
    reach. Batches of one process with the same `key` are the same."""

    changes: tuple[Change, ...]
    cursor: str
    key: tuple[str, str, tuple[int, ...]]


class Subscription:
    """An async iterator of batches, of 100 changes at most; the first one comes at once, and one
    after `fresh` seconds without any, or some time before, so that no cursor gets too old. Raises
    FellBehind when what it has not taken is no longer kept, Unavailable when the stream can't be
    read any more. Ends after `aclose`. Taken by one task at a time."""

    def __init__(
        self,
        reader: StreamReader,
        team_id: str,
        wanted: Wanted | None,
        leave: Callable[[], None],
        *,
        fresh: float,
    ) -> None:
        self._reader = reader
        self._team_id = team_id
        self._team = reader.log.join(team_id)
        self._leave = leave
        self._fresh = fresh
        self._joined = reader.log.end
        self._is_due = True
        self._is_closed = False
        if wanted is None:
            self._index: float = reader.log.end - 1
            self._needs: dict[str, Need] = {}
            self._stood: Positions | None = None
            self._since = time.time() - MARGIN
        else:
            self._index = reader.log.begin - 1
            self._needs = dict(wanted.needs)
            self._stood = wanted.stood
            self._since = wanted.stood.at - MARGIN

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Batch:
        while not self._is_closed:
            batch = self._next()
            if batch is not None:
                return batch
            if self._reader.lost is not None:
                raise self._why()
            await self._news()
        raise StopAsyncIteration

    async def _news(self) -> None:
        """Waits for something to look at. The subscribers of a team, who may have come all at
        once, get their newer cursors each at another time."""
        try:
            async with asyncio.timeout(self._fresh * random.uniform(0.5, 1)):  # noqa: S311 (no secret)
                await self._team.changed()
        except TimeoutError:
            self._is_due = True

    async def aclose(self) -> None:
        """Ends it, for whoever waits for the next batch as well."""
        if not self._is_closed:
            self._is_closed = True
            self._team.wake()
            self._reader.log.leave(self._team_id)
            self._leave()

    def _next(self) -> Batch | None:
        if self._team.lost > self._index:
            self._reader.counts.dropped += 1
            raise FellBehind
        pending = [entry for entry in self._team.after(self._index) if self._is_new(entry)]
        if not pending and not self._is_due:
            return None
        self._is_due = False
        taken, rest = pending[:_MOST], pending[_MOST:]
        cursor = self._cursor(taken, rest)
        self._index = taken[-1].index if rest else self._reader.log.end - 1
        indexes = tuple(entry.index for entry in taken)
        changes = tuple(entry.change for entry in taken)
        return Batch(changes, cursor, (self._team_id, cursor, indexes))

    def _is_new(self, entry: Entry) -> bool:
        need = self._needs.get(entry.shard)
        if need is not None and need.after is not None:
            return need.has(entry.sequence, entry.at)
        if entry.index >= self._joined and not entry.replayed:
            return True
        return entry.at >= self._since

    def _cursor(self, taken: list[Entry], rest: list[Entry]) -> str:
        if rest:
            return self._encoded(rest[0].positions())
        last = taken[-1].index if taken else None
        if self._stood is None and last is not None and self._team.told == last:
            # Whoever is in step has the same cursor, so that what is made of a batch is shared.
            return self._team.cursor
        cursor = self._encoded(self._reader.positions())
        if self._stood is None and last is not None:
            self._team.told, self._team.cursor = last, cursor
        self._settle()
        return cursor

    def _encoded(self, positions: Positions) -> str:
        if self._stood is not None:
            positions = self._further(positions, self._stood)
        return encoded(positions, stream=self._reader.arn, team_id=self._team_id)

    def _further(self, positions: Positions, stood: Positions) -> Positions:
        """These positions, but nowhere behind where the subscriber stood when it came: another
        reader may have been ahead."""
        shards = {
            id: number
            for id, number in positions.shards.items()
            if self._needs.get(id) is not NOTHING
        }
        for id, number in stood.shards.items():
            if id in shards and number is not None:
                shards[id] = max(number, shards[id] or 0)
            elif id not in shards and self._reader.is_to_come(id):
                shards[id] = number
        is_dated = any(number is None for number in stood.shards.values())
        return Positions(min(positions.at, stood.at) if is_dated else positions.at, shards)

    def _settle(self) -> None:
        """Forgets where it stood in shards in which the reader is no longer behind."""
        if self._stood is None:
            return
        self._needs = {
            id: need for id, need in self._needs.items() if self._reader.is_behind(id, need.after)
        }
        shards = {id: each for id, each in self._stood.shards.items() if id in self._needs}
        self._stood = Positions(self._stood.at, shards) if self._needs else None

    def _why(self) -> Exception:
        if isinstance(self._reader.lost, Trimmed):
            return FellBehind()
        return Unavailable("live updates have ended; subscribe again")
