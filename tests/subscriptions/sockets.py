"""Clients of subscriptions on the wire: WebSockets and streams of events, said word by word."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

import httpx
from starlette.applications import Starlette
from starlette.datastructures import State
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from data.live import LiveFeed
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from server.ws_messages import PROTOCOL
from tests.api_client import COOKIE, token
from tests.live import live
from tests.subscriptions.feed import Feed

__all__ = ["PATIENCE", "SUBSCRIPTION", "Server", "Socket", "changed", "serving", "until"]

PATIENCE: Final = 20.0
SUBSCRIPTION: Final = "subscription Live($since: String) { teamChanged(since: $since) { cursor } }"


async def until(is_so: Callable[[], object]) -> None:
    """Waits until it is so; fails when that takes too long."""
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110 - another thread makes it so
            await asyncio.sleep(0.005)


class Socket:
    """One WebSocket, as a client has it."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def say(self, type: str, **members: object) -> None:
        await self.connection.send(json.dumps({"type": type, **members}))

    async def hear(self) -> dict[str, Any]:
        """The next message."""
        async with asyncio.timeout(PATIENCE):
            message: dict[str, Any] = json.loads(await self.connection.recv())
        return message

    async def begin(self, payload: Mapping[str, object] | None = None) -> None:
        """Says who it is, and is acknowledged."""
        await self.say("connection_init", **({} if payload is None else {"payload": payload}))
        assert await self.hear() == {"type": "connection_ack"}

    async def subscribe(self, id: str = "1", **payload: object) -> None:
        """Begins an operation, by default a subscription."""
        await self.say("subscribe", id=id, payload={"query": SUBSCRIPTION, **payload})

    async def stands(self, id: str = "1", **payload: object) -> None:
        """Begins a subscription, whose first answer comes."""
        await self.subscribe(id, **payload)
        assert await self.hear() == {"type": "next", "id": id, "payload": changed("cursor-0")}

    async def is_closed(self) -> tuple[int | None, str]:
        """The code and the reason that the server closes with, whatever it says before."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    await self.connection.recv()
        except ConnectionClosed as closed:
            return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (None, "")

    async def is_open(self) -> bool:
        """Whether it answers, with nothing left to be heard before."""
        await self.say("ping")
        return await self.hear() == {"type": "pong"}


def changed(cursor: str) -> dict[str, Any]:
    """The answer to SUBSCRIPTION."""
    return {"data": {"teamChanged": {"cursor": cursor}}}


@dataclass
class Server:
    """A running server, and the feed of its subscriptions. One that is another process has neither
    an application to look into nor such a feed."""

    url: str
    app: Starlette | None = None
    feed: Feed = field(default_factory=Feed)

    @asynccontextmanager
    async def socket(
        self,
        team: str | None,
        *,
        origin: str | None = None,
        protocols: Sequence[str] = (PROTOCOL,),
        headers: Mapping[str, str] | None = None,
        path: str = "/graphql",
        **options: Any,
    ) -> AsyncIterator[Socket]:
        """A WebSocket with the cookie of a member of the team."""
        cookie = {"Cookie": f"{COOKIE}={token(team)}"} if team else {}
        async with connect(
            self.url.replace("http", "ws", 1) + path,
            subprotocols=[Subprotocol(each) for each in protocols] or None,
            origin=cast("Origin", origin),
            additional_headers={**cookie, **(headers or {})},
            compression=None,
            proxy=None,
            **options,
        ) as connection:
            yield Socket(connection)

    @asynccontextmanager
    async def begun(self, team: str) -> AsyncIterator[Socket]:
        """A WebSocket that is acknowledged."""
        async with self.socket(team) as socket:
            await socket.begin()
            yield socket

    @asynccontextmanager
    async def http(self, team: str | None) -> AsyncIterator[httpx.AsyncClient]:
        """A client with the cookie of a member of the team."""
        headers = {"Cookie": f"{COOKIE}={token(team)}"} if team else {}
        async with httpx.AsyncClient(
            base_url=self.url, headers=headers, timeout=PATIENCE
        ) as client:
            yield client

    @property
    def state(self) -> State:
        """What the application has put together."""
        assert self.app
        return self.app.state

    def counts(self, metric: str, **labels: str) -> float:
        """A number of the server's metrics."""
        found = self.state.metrics.registry.get_sample_value(metric, labels)
        return found or 0.0

    def begin(self) -> None:
        """Puts a feed in place of the one there is."""
        self.feed = Feed()
        self.state.operations.live = cast("LiveFeed", self.feed)

    async def is_left(self) -> None:
        """Waits until nobody is there any more, and nothing of them is left."""
        await until(lambda: not self.feed.lines)
        for transport in ("websocket", "sse"):
            await until(lambda: not self.counts("planner_live_connections", transport=transport))  # noqa: B023
        await until(lambda: not self.counts("planner_subscriptions"))


@asynccontextmanager
async def serving(settings: Settings, *, log_level: str = "critical") -> AsyncIterator[Server]:
    """A server with these settings."""
    app = create_app(settings, credentials=DUMMY_CREDENTIALS)
    with live(settings, app, log_level=log_level) as url:
        server = Server(url, app)
        async with server.http(None) as client:
            await client.get("/healthz")  # Answered once it has started.
        server.begin()
        yield server
