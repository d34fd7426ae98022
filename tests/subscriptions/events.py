"""Streams of events, read as they come (HTML Standard §9.2.6)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx

from tests.subscriptions.sockets import SUBSCRIPTION, Server

__all__ = ["EVENTS", "events", "reading"]

EVENTS: Final = "text/event-stream"


@asynccontextmanager
async def reading(
    server: Server, team: str | None, *, method: str = "POST", **envelope: Any
) -> AsyncIterator[httpx.Response]:
    """The response to a subscription, or to what the envelope says, as it begins."""
    content = {"query": SUBSCRIPTION, **envelope}
    how = {"params": content} if method == "GET" else {"json": content}
    async with (
        server.http(team) as client,
        client.stream(method, "/graphql", headers={"Accept": EVENTS}, **how) as response,
    ):
        yield response


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, str]]:
    """The events, name and data; comments are left out."""
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
