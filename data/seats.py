"""How much of what is large goes on at once."""

import asyncio
from collections import OrderedDict, deque

__all__ = ["Seat", "Seats"]


class Seats:
    """So many reads of more than one page are under way at once, each until its answer has been
    put together; the others wait in line. What such a read holds is a multiple of its answer, and
    while one of its pages is decoded nobody else has a turn: neither memory nor the wait of a
    small request may grow with the number of large ones. Each team has a line of its own, and
    they are served in turn, so that no team waits for all that another asks."""

    def __init__(self, count: int) -> None:
        self.count = self.free = count
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def seat(self, team_id: str) -> "Seat":
        """A seat for one request, not taken yet."""
        return Seat(self, team_id)

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return sum(not turn.done() for line in self._lines.values() for turn in line)

    async def acquire(self, team_id: str) -> None:
        """Waits for the team's turn."""
        if self.free:
            self.free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(team_id, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.release()
            raise

    def release(self) -> None:
        """Gives a seat to the first in the line of the team whose turn it is."""
        while self._lines:
            team_id, line = self._lines.popitem(last=False)
            turn = line.popleft()
            if line:
                self._lines[team_id] = line
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1


class Seat:
    """To be left, whether it was taken or not, when the request ends."""

    def __init__(self, seats: Seats, team_id: str) -> None:
        self._seats = seats
        self._team_id = team_id
        self._one_by_one = asyncio.Lock()
        self._taken = False
        self._left = False

    async def take(self) -> None:
        """Waits for its turn; at once when the request has it already. Raises RuntimeError when
        the request has ended: whoever reads for it is to stop."""
        async with self._one_by_one:
            if not self._taken and not self._left:
                await self._seats.acquire(self._team_id)
                self._taken = True
                self._give_back_if_left()
        if self._left:
            raise RuntimeError("the request has ended")

    def leave(self) -> None:
        """Gives it to the next in line."""
        self._left = True
        self._give_back_if_left()

    def _give_back_if_left(self) -> None:
        # A request may end while it stands in line.
        if self._left and self._taken:
            self._taken = False
            self._seats.release()
