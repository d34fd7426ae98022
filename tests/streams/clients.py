"""A subscriber that remembers what it was told, and comes back where it left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from data.changes import Change
from data.followers import Pace
from data.live import Batch, Limits, LiveFeed, Subscription
from data.streams import Streams

__all__ = ["FAST", "Client", "feed_on", "versions"]

PATIENCE = 20.0
FAST = Pace(poll=0.001, discovery=0.01, opening=0.2, patience=0.5)
"""For a stream that is not really there."""


@asynccontextmanager
async def feed_on(
    streams: Streams, *, pace: Pace = FAST, limits: Limits | None = None
) -> AsyncIterator[LiveFeed]:
    """A feed, as another process has it."""
    feed = LiveFeed(streams, pace=pace, limits=limits)
    try:
        yield feed
    finally:
        await feed.aclose()


class Client:
    """`cursor` is that of the last batch."""

    def __init__(self, team: str) -> None:
        self.team = team
        self.changes: list[Change] = []
        self.batches: list[Batch] = []
        self.cursor: str | None = None
        self.subscription: Subscription | None = None

    async def connect(self, feed: LiveFeed) -> None:
        """Subscribes after what it knows, and takes the first batch."""
        self.subscription = await feed.subscribe(self.team, self.cursor)
        await self.take()

    async def take(self) -> Batch:
        assert self.subscription is not None
        async with asyncio.timeout(PATIENCE):
            batch = await anext(self.subscription)
        self.batches.append(batch)
        self.changes += batch.changes
        self.cursor = batch.cursor
        return batch

    async def until(self, id: str, version: int) -> None:
        """Takes batches until one has this version of this entity."""
        while (id, version) not in versions(self.changes):
            await self.take()

    async def leave(self) -> None:
        if self.subscription is not None:
            await self.subscription.aclose()
            self.subscription = None


def versions(changes: list[Change]) -> list[tuple[str, int]]:
    """What changes are of: id and version."""
    return [(change.entity_id, change.version) for change in changes]
