"""Stand-in until the feed is there."""

from dataclasses import dataclass

from data.changes import Change

__all__ = ["Batch", "FellBehind", "LiveFeed", "Subscription"]


class FellBehind(Exception):
    pass


@dataclass(frozen=True)
class Batch:
    changes: tuple[Change, ...]
    cursor: str
    key: tuple[object, ...]


class Subscription:
    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> Batch:
        raise StopAsyncIteration

    async def aclose(self) -> None:
        pass


class LiveFeed:
    async def subscribe(self, team_id: str, since: str | None) -> Subscription:
        return Subscription()

    async def aclose(self) -> None:
        pass
