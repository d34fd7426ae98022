"""Live updates: what changes in a team, told to all who want to know while it happens.

One reader in each process reads the table's stream, however many subscribe; it begins with the
first of them, and ends some time after the last. See docs/adr/0022-live-updates.md.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

import structlog

from data.catching_up import CatchUp
from data.change_log import ChangeLog
from data.errors import Unavailable
from data.followers import Pace
from data.patience import jittered
from data.positions import decoded
from data.stream_reader import StreamReader
from data.stream_records import Counts
from data.streams import StreamLost, Streams, Trimmed
from data.subscriptions import Batch, FellBehind, Subscription

__all__ = ["Batch", "FellBehind", "Limits", "LiveFeed", "Pace", "Subscription"]

log = structlog.get_logger(__name__)

_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0
_STEADY: Final = 300.0
"""Seconds of reading after which a source counts as one that works."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the log holds: at most so many changes, of so many bytes as the stream counts them.
    `catch_up` are the seconds that reading again may take, `linger` those for which the reader goes
    on without a subscriber, `fresh` those after which one whose team is quiet gets a newer
    cursor."""

    max_changes: int = 20_000
    max_bytes: int = 32_000_000
    catch_up: float = 20.0
    linger: float = 60.0
    fresh: float = 3600.0


class LiveFeed:
    """Tells of changes. One for each process. `subscribers` are those there are, `counts` what was
    read and who was dropped."""

    def __init__(
        self, streams: Streams, *, pace: Pace | None = None, limits: Limits | None = None
    ) -> None:
        self.streams = streams
        self.subscribers = 0
        self.counts = Counts()
        self._pace = pace or Pace()
        self._limits = limits or Limits()
        self._opening = asyncio.Lock()
        self._running: _Running | None = None
        self._stopping: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._failures = 0
        self._retry_at = 0.0

    async def subscribe(self, team_id: str, since: str | None = None) -> Subscription:
        """The team's changes from now on, or after the cursor of a batch of any process on this
        table; nothing that is written after this has returned is missed. Raises BadInput (field
        `since`) for a cursor that is none, of another team, or too old; Unavailable."""
        self._enter()
        try:
            running = await self._reader()
            reader = running.reader
            wanted = None
            if since is not None:
                cursor = decoded(since, stream=reader.arn, team_id=team_id)
                try:
                    wanted = await running.catch_up.cover(cursor, team_id)
                except StreamLost as lost:
                    raise _unavailable() from lost
            return Subscription(reader, team_id, wanted, self._leave, fresh=self._limits.fresh)
        except BaseException:
            self._leave()
            raise

    async def aclose(self) -> None:
        """Ends the reader, and with it all subscriptions."""
        self._is_closed = True
        if self._stopping:
            self._stopping.cancel()
        # One that is being opened is ended as well.
        async with self._opening:
            if running := self._running:
                running.task.cancel()
                await asyncio.wait([running.task])

    def _enter(self) -> None:
        self.subscribers += 1
        if self._stopping:
            self._stopping.cancel()
            self._stopping = None

    def _leave(self) -> None:
        self.subscribers -= 1
        if self.subscribers == 0 and not self._is_closed:
            loop = asyncio.get_running_loop()
            self._stopping = loop.call_later(self._limits.linger, self._stop)

    def _stop(self) -> None:
        if self._running:
            self._running.task.cancel()

    async def _reader(self) -> "_Running":
        async with self._opening:
            if self._is_closed:
                raise _unavailable()
            running = self._running
            if running and (running.task.cancelling() or running.reader.lost):
                await asyncio.wait([running.task])
                running = None
            if running is None:
                running = self._running = await self._open()
            return running

    async def _open(self) -> "_Running":
        if time.monotonic() < self._retry_at:
            raise _unavailable()
        changes = ChangeLog(max_changes=self._limits.max_changes, max_bytes=self._limits.max_bytes)
        reader = StreamReader(self.streams, changes, self.counts, self._pace)
        try:
            await reader.open()
        except (Unavailable, StreamLost) as error:
            self._failed(error)
            raise _unavailable() from error
        task = asyncio.create_task(self._run(reader))
        # Not at the end of the task, since one that is cancelled at once never begins.
        task.add_done_callback(lambda _: self._ended(reader))
        return _Running(reader, CatchUp(reader, seconds=self._limits.catch_up), task)

    async def _run(self, reader: StreamReader) -> None:
        began = time.monotonic()
        try:
            await reader.run()
        finally:
            # Before, a source that comes and goes is asked less and less often.
            if time.monotonic() - began > _STEADY:
                self._failures = 0
        if reader.lost:
            self._failed(reader.lost)

    def _ended(self, reader: StreamReader) -> None:
        reader.end()
        # Its log is let go of, should nobody come again.
        if self._running and self._running.reader is reader:
            self._running = None

    def _failed(self, error: Exception) -> None:
        """Nobody asks again for some seconds, longer each time."""
        pause = jittered(self._failures, _FIRST_PAUSE, _LONGEST_PAUSE)
        self._failures += 1
        self._retry_at = time.monotonic() + pause
        if isinstance(error, StreamLost | Trimmed | Unavailable):
            reason = error.reason if isinstance(error, StreamLost) else str(error)
            log.error("live updates lost", reason=reason, table=self.streams.store.table)
        else:
            log.error("live updates failed", exc_info=error)


@dataclass(frozen=True, slots=True)
class _Running:
    reader: StreamReader
    catch_up: CatchUp
    task: asyncio.Task[None]


def _unavailable() -> Unavailable:
    return Unavailable("there are no live updates now; try again")
