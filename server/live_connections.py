"""How many connections and subscriptions there are, and how many there may be."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from data.errors import LimitExceeded
from server.metrics import Metrics

__all__ = ["MAX_WAITING", "LiveConnections"]

MAX_WAITING: Final = 100
"""WebSockets that are open and have not said who they are. A client says so in its first message;
who opens hundreds and says nothing is none."""


class LiveConnections:
    """Counts what the process carries. A team has its share of both, so that no team can take what
    all others need."""

    def __init__(self, metrics: Metrics, *, max_of_team: int) -> None:
        self._metrics = metrics
        self._max_of_team = max_of_team
        self._websockets = Counter[str]()
        self._subscriptions = Counter[str]()
        self._waiting: dict[asyncio.Timeout, None] = {}

    @contextmanager
    def waiting(self, timeout: asyncio.Timeout) -> Iterator[None]:
        """Around the wait of a WebSocket for its first message. Where there are too many, the one
        that has waited longest is out of time."""
        if len(self._waiting) >= MAX_WAITING:
            longest = next(iter(self._waiting))
            del self._waiting[longest]
            if not longest.expired():
                longest.reschedule(asyncio.get_running_loop().time())
        self._waiting[timeout] = None
        try:
            yield
        finally:
            self._waiting.pop(timeout, None)

    @contextmanager
    def websocket(self, team_id: str) -> Iterator[None]:
        """Around a WebSocket whose session is of the team. Raises LimitExceeded."""
        with (
            self._one_more(self._websockets, team_id, "connections"),
            self._metrics.live_connections.labels("websocket").track_inprogress(),
        ):
            yield

    def event_stream(self) -> AbstractContextManager[None]:
        """Around a response of server-sent events, which has one subscription."""
        return self._metrics.live_connections.labels("sse").track_inprogress()

    @contextmanager
    def subscription(self, team_id: str) -> Iterator[None]:
        """Around a subscription. Raises LimitExceeded."""
        with (
            self._one_more(self._subscriptions, team_id, "subscriptions"),
            self._metrics.subscriptions.track_inprogress(),
        ):
            yield

    @contextmanager
    def _one_more(self, counts: Counter[str], team_id: str, what: str) -> Iterator[None]:
        if counts[team_id] >= self._max_of_team:
            raise LimitExceeded(f"Your team has {self._max_of_team} {what} here, and no more.")
        counts[team_id] += 1
        try:
            yield
        finally:
            counts[team_id] -= 1
            if not counts[team_id]:
                del counts[team_id]
