"""A DynamoDB endpoint that does as it is told, and the application in front of it.

It keeps nothing: it answers every write with success, and reads with what it was given. What it is
told is told for one team, so that requests that run side by side can meet different fates.
"""

import asyncio
import enum
import gc
import json
import logging
import sys
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from aiohttp import web
from pydantic import SecretStr
from starlette.applications import Starlette

from data.expressions import Item
from data.store import Store
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api_client import SECRET, Api
from tests.engines import HOME

__all__ = [
    "Conduct",
    "Failure",
    "Planner",
    "Received",
    "Stub",
    "no_complaints",
    "planner",
    "running_stub",
    "settings_for",
]

_PATIENCE: Final = 20.0
"""Seconds after which what is waited for counts as never coming; nothing waits for so long."""


class Failure(enum.Enum):
    """How a request fails: HTTP status and error code, or no answer at all."""

    ERROR_500 = (500, "InternalServerError")
    THROTTLED = (400, "ProvisionedThroughputExceededException")
    RESET = (0, "")


@dataclass(slots=True)
class Conduct:
    """What becomes of a team's requests. The first `failures` of them fail as `failure` says.
    Each waits for `delay` seconds, and from the `held_from`-th on for the `gate`. A Query has so
    many `pages`, each with all `items`; a GetItem brings the first item with its key."""

    failure: Failure | None = None
    failures: int = sys.maxsize
    delay: float = 0.0
    gate: asyncio.Event | None = None
    held_from: int = 1
    pages: int = 1
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came over the wire."""

    operation: str
    team: str | None
    body: Mapping[str, Any]


@dataclass
class Stub:
    """What was asked so far, and what is to be answered. `most_connections` is the highest number
    of connections that were open at once, `most_requests` that of unanswered requests."""

    conduct: dict[str, Conduct] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    most_connections: int = 0
    most_requests: int = 0
    url: str = ""
    _server: web.Server | None = None
    _by_team: Counter[str | None] = field(default_factory=Counter)
    _open: int = 0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def of(self, team: str, operation: str | None = None) -> list[Received]:
        """The team's requests so far: all, or those of one operation."""
        return [r for r in self.received if r.team == team and operation in (None, r.operation)]

    async def arrived(self, team: str, count: int = 1) -> None:
        """Waits until so many requests of the team have come."""
        await self._until(lambda: self._by_team[team] >= count)

    async def idle(self) -> None:
        """Waits until no request is unanswered."""
        await self._until(lambda: self._open == 0)

    async def _until(self, condition: Any) -> None:
        async with asyncio.timeout(_PATIENCE), self._changed:
            await self._changed.wait_for(condition)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """The one handler: looks at the target and the partition, and does as it was told."""
        body = json.loads(await request.read())
        operation = request.headers["X-Amz-Target"].partition(".")[2]
        team = _team(body)
        await self._begin(Received(operation, team, body))
        try:
            conduct = self.conduct.get(team or "", Conduct())
            number = self._by_team[team]
            await asyncio.sleep(conduct.delay)
            if conduct.gate and number >= conduct.held_from:
                await conduct.gate.wait()
            if conduct.failure and number <= conduct.failures:
                return _failed(request, conduct.failure)
            return _json(_ANSWERS.get(operation, _nothing)(body, conduct))
        finally:
            await self._end()

    async def _begin(self, received: Received) -> None:
        async with self._changed:
            self.received.append(received)
            self._by_team[received.team] += 1
            self._open += 1
            connections = self._server.connections if self._server else ()
            self.most_connections = max(self.most_connections, len(connections))
            self.most_requests = max(self.most_requests, self._open)
            self._changed.notify_all()

    async def _end(self) -> None:
        async with self._changed:
            self._open -= 1
            self._changed.notify_all()


@asynccontextmanager
async def running_stub() -> AsyncIterator[Stub]:
    """A stub that listens on loopback, at a port that the system picks."""
    stub = Stub()
    app = web.Application()
    app.router.add_post("/", stub.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    stub._server = runner.server
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        stub.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield stub
    finally:
        for conduct in stub.conduct.values():
            if conduct.gate:
                conduct.gate.set()
        await runner.cleanup()


@dataclass(frozen=True, slots=True)
class Planner:
    """The application, started, and a client of it."""

    app: Starlette
    http: httpx.AsyncClient

    @property
    def store(self) -> Store:
        store: Store = self.app.state.store
        return store

    def api(self, team: str) -> Api:
        return Api(self.http, team)


def settings_for(url: str, *, table: str = "planner", **more: Any) -> Settings:
    """Settings for a store at this address."""
    return Settings(auth_secret=SecretStr(SECRET), table=table, endpoint_url=url, home=HOME, **more)


@asynccontextmanager
async def planner(
    url: str, *, credentials: Mapping[str, Any] | None = DUMMY_CREDENTIALS, **more: Any
) -> AsyncIterator[Planner]:
    """The application on the store at this address, from its start to its stop. Without
    credentials boto finds its own."""
    app = create_app(settings_for(url, **more), credentials=credentials)
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://planner.test") as http,
    ):
        yield Planner(app, http)


class _Collector(logging.Handler):
    def __init__(self, into: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._into = into

    def emit(self, record: logging.LogRecord) -> None:
        self._into.append(f"{record.name}: {self.format(record)}")


@contextmanager
def no_complaints() -> Iterator[None]:
    """Fails if anything warns, logs a warning or worse, or raises where nobody listens: a task
    whose exception is never retrieved, a client session or connection that is left open."""
    gc.collect()  # What others left behind is theirs.
    said: list[str] = []
    collector = _Collector(said)
    hook = sys.unraisablehook
    sys.unraisablehook = lambda args: said.append(f"{args.err_msg} {args.exc_value!r}")
    logging.getLogger().addHandler(collector)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield
            gc.collect()
        said += [str(each.message) for each in warned]
    finally:
        logging.getLogger().removeHandler(collector)
        sys.unraisablehook = hook
    assert not said, "\n".join(said)


def _team(body: Mapping[str, Any]) -> str | None:
    """The team whose partition a request is about; empty for the probe of readiness, which is
    about nobody's, and None for a request without a key."""
    if "TransactItems" in body:
        [body] = body["TransactItems"][0].values()
    key = body.get("Key") or body.get("Item")
    values = body.get("ExpressionAttributeValues", {})
    pk = key["pk"]["S"] if key else values.get(":pk", {}).get("S")
    return pk.partition("#")[2].partition("#")[0] if pk else None


def _json(body: Mapping[str, Any], status: int = 200) -> web.Response:
    return web.Response(
        text=json.dumps(body), status=status, content_type="application/x-amz-json-1.0"
    )


def _failed(request: web.Request, failure: Failure) -> web.Response:
    status, code = failure.value
    if failure is Failure.RESET:
        if request.transport:
            request.transport.abort()
        return web.Response()
    return _json(
        {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "secret"}, status
    )


def _described(body: Mapping[str, Any], _: Conduct) -> dict[str, Any]:
    return {"Table": {"TableName": body["TableName"], "TableStatus": "ACTIVE"}}


def _queried(body: Mapping[str, Any], conduct: Conduct) -> dict[str, Any]:
    page = int(body.get("ExclusiveStartKey", {}).get("sk", {}).get("S", "0")) + 1
    answer: dict[str, Any] = {"Items": conduct.items, "Count": len(conduct.items)}
    if page < conduct.pages:
        answer["LastEvaluatedKey"] = {
            "pk": body["ExpressionAttributeValues"][":pk"],
            "sk": {"S": str(page)},
        }
    return answer


def _got(body: Mapping[str, Any], conduct: Conduct) -> dict[str, Any]:
    sk = body["Key"]["sk"]
    return next(({"Item": item} for item in conduct.items if item["sk"] == sk), {})


def _nothing(_: Mapping[str, Any], __: Conduct) -> dict[str, Any]:
    return {}


_ANSWERS: Final = {"DescribeTable": _described, "GetItem": _got, "Query": _queried}
