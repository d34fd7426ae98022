"""A feed that tests drive, in place of the table's stream: what the protocols do with answers is
the same wherever changes come from."""

import asyncio
from collections import deque

from data.errors import BadInput, PlannerError
from data.live import Batch, FellBehind

__all__ = ["Feed", "Line"]


class Line:
    """One subscriber. Like the real one, it hands out what is there as fast as it is taken."""

    def __init__(self, feed: "Feed", team_id: str, since: str | None) -> None:
        self.team_id = team_id
        self.since = since
        self.taken = 0
        self.is_closed = False
        self._feed = feed
        self._waiting: deque[Batch | Exception] = deque()
        self._more = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def add(self, batch: Batch | Exception) -> None:
        """From any thread."""
        self._loop.call_soon_threadsafe(self._add, batch)

    def _add(self, batch: Batch | Exception) -> None:
        self._waiting.append(batch)
        self._more.set()

    def __aiter__(self) -> "Line":
        return self

    async def __anext__(self) -> Batch:
        if not self.taken:
            self.taken = 1
            return batch("cursor-0", 0)
        while not self._waiting:
            if self._feed.endless:
                self.taken += 1
                await asyncio.sleep(0)
                return batch(self._feed.endless, id(self), self.taken)
            self._more.clear()
            await self._more.wait()
        found = self._waiting.popleft()
        if isinstance(found, Exception):
            raise found
        self.taken += 1
        return found

    async def aclose(self) -> None:
        self.is_closed = True
        self._feed.lines.remove(self)


class Feed:
    """Hands out lines, and batches to all of them."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.endless: str | None = None
        self.refuses: PlannerError | None = None

    async def subscribe(self, team_id: str, since: str | None) -> Line:
        if self.refuses:
            raise self.refuses
        if since == "tampered":
            raise BadInput("`since` is no cursor", field=("since",))
        line = Line(self, team_id, since)
        self.lines.append(line)
        return line

    async def aclose(self) -> None:
        pass

    def never_ends(self, cursor: str) -> None:
        """Gives each line this batch, and then the same again and again."""
        self.endless = cursor
        self.publish(cursor)

    def publish(self, cursor: str) -> None:
        """Gives each line a batch."""
        for line in list(self.lines):
            line.add(batch(cursor))

    def breaks(self, error: Exception) -> None:
        """Ends each line with the error."""
        for line in list(self.lines):
            line.add(error)

    def falls_behind(self) -> None:
        self.breaks(FellBehind())


def batch(cursor: str, *key: int) -> Batch:
    """A batch without changes."""
    return Batch((), cursor, ("feed", cursor, key))
