"""Which teams have more than one page of items: remembered for some minutes, so that the history of
a large team is met once and not with every read (docs/adr/0015-large-teams.md)."""

import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["LargeTeams"]


class LargeTeams:
    """At most `size` team ids, each for `seconds` after it was added: a team that shrank is read
    as a small one again. The one asked for or added longest ago goes first."""

    def __init__(
        self,
        *,
        seconds: float = 600.0,
        size: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._size = size
        self._clock = clock
        self._added: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._added)

    def __contains__(self, team_id: str) -> bool:
        added = self._added.get(team_id)
        if added is None:
            return False
        if self._clock() - added >= self._seconds:
            del self._added[team_id]
            return False
        self._added.move_to_end(team_id)
        return True

    def add(self, team_id: str) -> None:
        self._added[team_id] = self._clock()
        self._added.move_to_end(team_id)
        if len(self._added) > self._size:
            self._added.popitem(last=False)
