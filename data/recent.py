"""What was seen lately: which teams have more than one page of items, and which Queries take more
than one. Remembered for some minutes, so that the history of a large team is met once and not with
every read (docs/adr/0015-large-teams.md)."""

import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["Recent"]


class Recent:
    """At most `size` names, each for `seconds` after it was added: a team that shrank is read as a
    small one again. The one asked for or added longest ago goes first."""

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

    def __contains__(self, name: str) -> bool:
        added = self._added.get(name)
        if added is None:
            return False
        if self._clock() - added >= self._seconds:
            del self._added[name]
            return False
        self._added.move_to_end(name)
        return True

    def add(self, name: str) -> None:
        self._added[name] = self._clock()
        self._added.move_to_end(name)
        if len(self._added) > self._size:
            self._added.popitem(last=False)
