"""How far one shard of the stream was read, and how fast shards are read."""

import math
import time
from dataclasses import dataclass

from data.cursors import MARGIN
from data.streams import Place, Shard

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
    """How far one shard was read. While `skipped_before` is set, what was written before that
    moment, in seconds since 1970, is passed over. `polled` is when all of it was last seen."""

    def __init__(self, shard: Shard, place: Place | int, *, skipped_before: float = -math.inf):
        self.shard = shard
        self.skipped_before = skipped_before
        self.polled = time.time()
        self.finished: float | None = None
        self.last: int | None = None
        self.iterator: str | None = None
        self.moves = 0
        self.move(place)

    def move(self, place: Place | int) -> None:
        """Goes on from another place; a page that is on its way from the old one is not taken."""
        self.place = place
        self.iterator = None
        self.moves += 1
        if not isinstance(place, Place):
            self.last = place

    def renew(self) -> None:
        """Goes on from where it is with another iterator. Where that has no number, the time
        says it."""
        if self.last is not None:
            self.move(self.last)
        elif self.place is Place.NEWEST:
            self.skipped_before = self.polled - MARGIN
            self.move(Place.OLDEST)
        else:
            self.move(self.place)
