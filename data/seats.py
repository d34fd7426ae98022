"""How much of what is large goes on at once."""

import asyncio

__all__ = ["Seat", "Seats"]


class Seats:
    """So many reads of more than one page are under way at once, each until its answer has been
    put together; the others wait in line. What such a read holds is a multiple of its answer, and
    while one of its pages is decoded nobody else has a turn: neither memory nor the wait of a
    small request may grow with the number of large ones."""

    def __init__(self, count: int) -> None:
        self._free = asyncio.Semaphore(count)

    def seat(self) -> "Seat":
        """A seat for one request, not taken yet."""
        return Seat(self._free)


class Seat:
    """To be left, whether it was taken or not, when the request ends."""

    def __init__(self, free: asyncio.Semaphore) -> None:
        self._free = free
        self._one_by_one = asyncio.Lock()
        self._taken = False
        self._left = False

    async def take(self) -> None:
        """Waits for its turn; at once when the request has it already."""
        async with self._one_by_one:
            if self._taken or self._left:
                return
            await self._free.acquire()
            self._taken = True
            self._give_back_if_left()

    def leave(self) -> None:
        """Gives it to the next in line."""
        self._left = True
        self._give_back_if_left()

    def _give_back_if_left(self) -> None:
        # A request may end while it stands in line.
        if self._left and self._taken:
            self._taken = False
            self._free.release()
