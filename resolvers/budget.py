"""What carrying out one operation may still take: objects in its lists, and time."""

import time
from collections.abc import Callable

__all__ = ["Budget", "Overspent"]


class Overspent(BaseException):
    """Ends the whole operation. No Exception, as asyncio.CancelledError is none: execution would
    take it for the failure of one field, and go on to the thousands after it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Budget:
    """Spent while an answer is put together. What that takes can't be told from the document: a
    list within a list has as many objects as the team's data make it."""

    def __init__(
        self, *, objects: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._objects = objects
        self._left = objects
        self._seconds = seconds
        self._clock = clock
        self._deadline = clock() + seconds

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._deadline - self._clock())

    def out_of_time(self) -> Overspent:
        """The end of an operation that takes too long."""
        return Overspent(f"The operation took more than {self._seconds:g} s and was stopped.")

    def refund(self, objects: int) -> None:
        """Takes back what was spent on objects that are not in the answer after all."""
        self._left += objects

    def spend(self, objects: int) -> None:
        """Takes so many objects into the answer. Raises Overspent when they are too many, or too
        late: putting an answer together yields to nobody, so no timeout would stop it."""
        self._left -= objects
        if self._left < 0:
            raise Overspent(f"The answer would have more than {self._objects} objects.")
        if self._clock() > self._deadline:
            raise self.out_of_time()
