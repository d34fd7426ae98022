"""A cache for what may be some seconds old."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

__all__ = ["BriefCache"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class _Entry(NamedTuple, Generic[Value]):
    began: float
    task: "asyncio.Task[Value]"


class BriefCache(Generic[Key, Value]):
    """Loads each value at most once in `seconds`, counted from when the load *began*: whoever
    asks meanwhile waits for it. So no value that is given out was true longer ago than that.
    A load that fails is not kept. At most `size` values; the one used longest ago goes first."""

    def __init__(
        self, seconds: float, *, size: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._size = size
        self._clock = clock
        self._entries: OrderedDict[Key, _Entry[Value]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    async def get(self, key: Key, load: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
        """The value of the key. Raises what the load raises."""
        now = self._clock()
        entry = self._entries.get(key)
        if entry is None or now - entry.began >= self._seconds:
            # A task of its own: who asked first may go away, and the others still wait.
            entry = _Entry(now, asyncio.ensure_future(load()))
            self._entries[key] = entry
            entry.task.add_done_callback(lambda task: self._settle(key, task))
        self._entries.move_to_end(key)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)
        return await asyncio.shield(entry.task)

    def _settle(self, key: Key, task: "asyncio.Task[Value]") -> None:
        failed = task.cancelled() or task.exception() is not None
        if failed and key in self._entries and self._entries[key].task is task:
            del self._entries[key]
