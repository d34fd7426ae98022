"""Streams of events, read as they come (HTML Standard §9.2.6)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx

from tests.subscriptions.sockets import SUBSCRIPTION, Server

__all__ = ["EVENTS", "Stream", "reading"]

EVENTS: Final = "text/event-stream"


class Stream:
    """A response, and its events: name and data, without comments."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        # One, since a response that nobody goes on reading is closed.
        self._events = _events(response)

    async def hear(self) -> tuple[str, str]:
        """The next event."""
        return await anext(self._events)

    async def rest(self) -> list[tuple[str, str]]:
        """The events until the end."""
        return [event async for event in self._events]


@asynccontextmanager
async def reading(
    server: Server, team: str | None, *, method: str = "POST", **envelope: Any
) -> AsyncIterator["Stream"]:
    """The response to a subscription, or to what the envelope says, as it begins."""
    content = {"query": SUBSCRIPTION, **envelope}
    how: Any = {"params": content} if method == "GET" else {"json": content}
    async with (
        server.http(team) as client,
        client.stream(method, "/graphql", headers={"Accept": EVENTS}, **how) as response,
    ):
        yield Stream(response)


async def _events(response: httpx.Response) -> AsyncIterator[tuple[str, str]]:
    name, data = "message", list[str]()
    async for line in response.aiter_lines():
        field, _, value = line.partition(":")
        match field:
            case "event":
                name = value.removeprefix(" ")
            case "data":
                data.append(value.removeprefix(" "))
            case "":
                if not line and data:
                    yield name, "\n".join(data)
                    name, data = "message", []
