"""A client that goes away in the middle: the server's work is finished, or the same call finishes
it (S-14). The server is uvicorn, which tells no handler that its client has gone: so a handler
runs on to its end, and that is the rule that is asserted here."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final

import pytest
import uvicorn
from starlette.applications import Starlette
from structlog.testing import capture_logs

from data.entities import Assignment
from data.expressions import Item
from data.items import encode
from data.metering import Operation
from data.store import Store
from tests.api.samples import assignment, gid, ids, resource
from tests.api_client import Api, put
from tests.store.stub import Conduct, Planner, Stub, no_complaints, planner, running_stub
from tests.tombstones import Deleted, deletions, remaining

PATIENCE: Final = 20.0
TIMELINE = "{ team { resources { id } projects { id } assignments { id } } }"
DELETE = """mutation($id: ID!) { deleteResource(input: {id: $id}) {
  deletedResourceId deletedAssignmentIds errors { code } } }"""
MANY: Final = 50
CHUNK: Final = 20


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few assignments make several chunks."""
    monkeypatch.setattr("data.cascade._PER_TRANSACTION", CHUNK)


class Server(uvicorn.Server):
    """A uvicorn server in the loop of the tests, whose signals stay theirs."""

    def __init__(self, app: Starlette) -> None:
        # The application is started already, and nobody's logs are to be configured.
        super().__init__(
            uvicorn.Config(app, port=0, lifespan="off", log_config=None, ws="none", loop="none")
        )
        self.listens = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listens.set()

    @property
    def port(self) -> int:
        port: int = self.servers[0].sockets[0].getsockname()[1]
        return port

    async def has_seen_everybody_go(self) -> None:
        """Waits until no client is connected."""
        await until(lambda: not self.server_state.connections)

    async def is_done(self) -> None:
        """Waits until no handler runs."""
        await until(lambda: not self.server_state.tasks)


@asynccontextmanager
async def listening(app: Starlette) -> AsyncIterator[Server]:
    """The application on a port of loopback."""
    server = Server(app)
    serving = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(PATIENCE):
            await server.listens.wait()
        yield server
    finally:
        server.should_exit = True
        await serving


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 (uvicorn has no event for either condition)
            await asyncio.sleep(0.005)


async def send(server: Server, api: Api, query: str, **variables: Any) -> asyncio.StreamWriter:
    """Sends a request over a connection of its own, which the caller is free to drop."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    writer = await begin(server, api, len(body))
    writer.write(body)
    await writer.drain()
    return writer


async def begin(server: Server, api: Api, length: int) -> asyncio.StreamWriter:
    """Sends the head of a request."""
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    lines = [
        "POST /graphql HTTP/1.1",
        "Host: 127.0.0.1",
        f"Cookie: {api.headers['Cookie']}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    await writer.drain()
    return writer


async def drop(writer: asyncio.StreamWriter) -> None:
    """The client is gone, without a word."""
    writer.transport.abort()
    with suppress(ConnectionError):
        await writer.wait_closed()


def assert_nothing_is_wrong(logs: Sequence[Mapping[str, object]]) -> None:
    """That a client goes is its own affair: each operation has its line, and nobody is warned."""
    assert {(line["event"], line["log_level"]) for line in logs} == {("operation", "info")}


class Hold:
    """Holds a store's n-th request of an operation back, before it is sent."""

    def __init__(self, store: Store, operation: str, n: int) -> None:
        self.reached = asyncio.Event()
        self.released = asyncio.Event()
        self._left = n
        self._operation = operation
        self._store, self._transport = store, store.transport

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        self._left -= operation == self._operation
        if self._left == 0 and not self.reached.is_set():
            self.reached.set()
            await self.released.wait()
        return await self._transport.send(operation, request)

    async def __aenter__(self) -> "Hold":
        self._store.transport = self
        return self

    async def __aexit__(self, *_: object) -> None:
        self.released.set()
        self._store.transport = self._transport

    async def is_reached(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.reached.wait()


# Writes


async def busy_resource(store: Store, team: str) -> list[Assignment]:
    """A resource `r` with many assignments, which are returned, beside one that must stay."""
    theirs = [assignment("2024-01-10", id=f"a{n:03}", resource="r") for n in range(MANY)]
    stays = assignment("2024-01-10", id="other", resource="other")
    await put(store, team, [resource("r"), resource("other"), stays])
    await asyncio.gather(*(put(store, team, [each]) for each in theirs))
    return theirs


async def stored(store: Store, team: str) -> list[str]:
    return [item["id"]["S"] for item in await remaining(store, team)]


def said(theirs: Sequence[Assignment]) -> list[Deleted]:
    """What the deletion of `r` with these assignments leaves behind."""
    deleted = [("Assignment", each.id, each.version + 1, "user-1") for each in theirs]
    return [*deleted, ("Resource", "r", 2, "user-1")]


async def test_cascade_goes_on_to_its_end_when_the_client_has_gone(
    app: Starlette, store: Store, api: Api, team: str
) -> None:
    theirs = await busy_resource(store, team)
    with no_complaints(), capture_logs() as logs:
        async with listening(app) as server:
            async with Hold(app.state.store, "TransactWriteItems", 2) as hold:
                client = await send(server, api, DELETE, id=gid("Resource", "r"))
                await hold.is_reached()
                # In the middle of it: the first chunk is gone.
                assert len(await stored(store, team)) == 1 + MANY - CHUNK + 2
                assert await deletions(store, team) == said(theirs[:CHUNK])[:-1]
                await drop(client)
                await server.has_seen_everybody_go()
            await server.is_done()
        assert await stored(store, team) == ["other", "other"]
        assert await deletions(store, team) == said(theirs)
        assert_nothing_is_wrong(logs)
    again = await api.data(DELETE, id=gid("Resource", "r"))
    assert again["deleteResource"] == {
        "deletedResourceId": None,
        "deletedAssignmentIds": [],
        "errors": [{"code": "NOT_FOUND"}],
    }


@pytest.mark.parametrize("chunk", [1, 2, 3])
async def test_cascade_that_is_cut_shows_nothing_and_the_same_call_finishes_it(
    app: Starlette, store: Store, api: Api, team: str, chunk: int
) -> None:
    # uvicorn cuts no handler, but another server may, and so does a shutdown with a time limit.
    theirs = await busy_resource(store, team)
    with no_complaints(), capture_logs() as logs:
        async with Hold(app.state.store, "TransactWriteItems", chunk) as hold:
            request = asyncio.create_task(api.data(DELETE, id=gid("Resource", "r")))
            await hold.is_reached()
            request.cancel()
            with pytest.raises(asyncio.CancelledError):
                await request
        assert_nothing_is_wrong(logs)
    left = MANY - CHUNK * (chunk - 1)
    assert len(await stored(store, team)) == 1 + left + 2
    seen = (await api.data(TIMELINE))["team"]
    assert ids(seen["resources"]) == ["other"]
    assert ids(seen["assignments"]) == ["other"]
    again = (await api.data(DELETE, id=gid("Resource", "r")))["deleteResource"]
    assert again["errors"] == []
    assert sorted(again["deletedAssignmentIds"]) == sorted(
        gid("Assignment", each.id) for each in theirs[-left:]
    )
    assert await stored(store, team) == ["other", "other"]
    assert await deletions(store, team) == said(theirs)


# Reads

PAGES: Final = 50
PER_PAGE: Final = 10


@asynccontextmanager
async def served(max_items: int) -> AsyncIterator[tuple[Stub, Planner, Server]]:
    """A server whose store answers the team's Query in many pages, from the third on only when
    the gate is opened."""
    page: tuple[Item, ...] = tuple(encode("team", resource(f"r{n}")) for n in range(PER_PAGE))
    async with (
        running_stub() as stub,
        planner(stub.url, max_items=max_items) as running,
        listening(running.app) as server,
    ):
        gate = asyncio.Event()
        stub.conduct["team"] = Conduct(pages=PAGES, items=page, gate=gate, held_from=3)
        yield stub, running, server


@pytest.mark.parametrize(
    ("max_items", "pages"),
    [(PAGES * PER_PAGE, PAGES), (100, 100 // PER_PAGE + 1)],
    ids=["to the last page", "to PLANNER_MAX_ITEMS"],
)
async def test_timeline_is_read_on_when_the_client_has_gone_but_no_further_than_the_limit(
    max_items: int, pages: int
) -> None:
    with no_complaints(), capture_logs() as logs:
        async with served(max_items) as (stub, running, server):
            client = await send(server, running.api("team"), TIMELINE)
            await stub.arrived("team", 3)
            await drop(client)
            await server.has_seen_everybody_go()
            gate = stub.conduct["team"].gate
            assert gate
            gate.set()
            await server.is_done()
            assert [each.operation for each in stub.of("team")] == ["Query"] * pages
        assert_nothing_is_wrong(logs)


async def test_request_whose_client_goes_before_it_is_whole_asks_nothing() -> None:
    with no_complaints(), capture_logs() as logs:
        async with served(100) as (stub, running, server):
            client = await begin(server, running.api("team"), length=1_000)
            client.write(b'{"query": "')
            await client.drain()
            await until(lambda: bool(server.server_state.tasks))
            await drop(client)
            await server.has_seen_everybody_go()
            await server.is_done()
            assert stub.of("team") == []
        [line] = logs
        assert (line["event"], line["code"], line["status"]) == ("request refused", "CANCELED", 499)
