"""Load on few connections: they are given back whatever happens, and what finds none waits (B-04);
one client serves the whole process (B-01)."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from itertools import cycle, islice
from typing import Any

import aiobotocore.client
import botocore.client
import pytest

from data.connections import Connections
from data.entities import Assignment, Project, Resource
from data.items import encode
from data.store import Store
from tests.api.samples import assignment, gid, project, resource
from tests.api_client import Api
from tests.store.stub import Conduct, Failure, Planner, Stub, no_complaints, planner, running_stub
from tests.taps import listening

CONNECTIONS = 5
TIMELINE = "{ team { resources { id } projects { id } assignments { id } } }"
CREATE = 'mutation { createResource(input: {name: "Ada"}) { resource { id } errors { code } } }'
CALLS = (TIMELINE, CREATE)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries wait for nothing."""
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)


def pool(store: Store) -> Connections:
    """The connections that the store's requests go by."""
    transport: Any = store.transport
    connections = transport.poster.connections
    assert isinstance(connections, Connections)
    return connections


def in_use(connections: Connections) -> int:
    """How many connections are in use."""
    return CONNECTIONS - connections.free


async def succeeds(api: Api, call: str) -> None:
    data = await api.data(call)
    assert data


async def fails(api: Api, call: str) -> None:
    response = await api.post(call)
    assert response.status_code == 200
    assert [error["extensions"] for error in response.json()["errors"]] == [{"code": "UNAVAILABLE"}]


async def is_cancelled(stub: Stub, api: Api, call: str) -> None:
    """The caller gives up while DynamoDB still thinks about it."""
    gate = asyncio.Event()
    stub.conduct[api.team] = Conduct(gate=gate)
    request = asyncio.create_task(api.run(call))
    await stub.arrived(api.team)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    gate.set()


async def is_cancelled_in_the_queue(running: Planner, api: Api, call: str) -> None:
    """The caller gives up while the request still waits for a connection, or has just got one."""
    asked = asyncio.Event()

    def note(_: str, request: Mapping[str, Any]) -> None:
        if f"TEAM#{api.team}" in str(request):
            asked.set()

    with listening(running.store, note):
        request = asyncio.create_task(api.run(call))
        await asked.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request


def storm(stub: Stub, running: Planner) -> list[Awaitable[None]]:
    """500 requests: a third is cancelled, a third fails, and a third is answered."""

    def failing(failure: Failure) -> Callable[[Api, str], Awaitable[None]]:
        def start(api: Api, call: str) -> Awaitable[None]:
            stub.conduct[api.team] = Conduct(failure)
            return fails(api, call)

        return start

    kinds: list[Callable[[Api, str], Awaitable[None]]] = [
        succeeds,
        lambda api, call: is_cancelled(stub, api, call),
        failing(Failure.ERROR_500),
        succeeds,
        lambda api, call: is_cancelled_in_the_queue(running, api, call),
        failing(Failure.THROTTLED),
        succeeds,
        lambda api, call: is_cancelled(stub, api, call),
        failing(Failure.RESET),
    ]
    # Nine kinds and two calls: every kind meets both.
    return [
        kind(running.api(f"storm-{number}"), CALLS[number % 2])
        for number, kind in enumerate(islice(cycle(kinds), 500))
    ]


@pytest.mark.usefixtures("no_pauses")
async def test_connections_come_back_from_cancelled_and_failed_requests() -> None:
    with no_complaints():
        async with (
            running_stub() as stub,
            planner(stub.url, max_connections=CONNECTIONS) as running,
        ):
            connections = pool(running.store)
            await asyncio.gather(*storm(stub, running))
            # A read that nobody waits for any more is answered all the same.
            await stub.idle()
            seconds = await time_of_normal_requests(running, 50)
            # One that waited for a connection that never comes back would wait for good.
            assert max(seconds) < 5.0
            await stub.idle()
            assert in_use(connections) == 0
            assert set(connections.idle) == connections.open


async def time_of_normal_requests(running: Planner, count: int) -> list[float]:
    """How long each of so many requests takes, as many at once as there are connections."""
    clock = asyncio.get_running_loop().time
    turn = asyncio.Semaphore(CONNECTIONS)

    async def one(number: int) -> float:
        async with turn:
            before = clock()
            await succeeds(running.api(f"normal-{number}"), CALLS[number % 2])
            return clock() - before

    return await asyncio.gather(*(one(number) for number in range(count)))


async def test_requests_beyond_the_pool_wait_for_a_connection_and_do_not_fail() -> None:
    async with running_stub() as stub, planner(stub.url, max_connections=CONNECTIONS) as running:
        stub.conduct["crowd"] = Conduct(gate=asyncio.Event())
        gate = stub.conduct["crowd"].gate
        assert gate
        crowd = [
            asyncio.create_task(succeeds(running.api("crowd"), CALLS[number % 2]))
            for number in range(100)
        ]
        # All connections are taken, and nobody is told off for it.
        await stub.arrived("crowd", CONNECTIONS)
        assert not any(task.done() for task in crowd)
        assert in_use(pool(running.store)) == CONNECTIONS
        gate.set()
        await asyncio.gather(*crowd)
        assert len(stub.of("crowd")) == 100
        assert stub.most_connections == CONNECTIONS
        assert stub.most_requests == CONNECTIONS


@pytest.fixture
def clients_made(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many clients were created, by the class that did."""
    made: Counter[str] = Counter()
    for creator in (botocore.client.ClientCreator, aiobotocore.client.AioClientCreator):
        original = creator.create_client

        def create_client(self: Any, *args: Any, _original: Any = original, **kwargs: Any) -> Any:
            made[type(self).__name__] += 1
            return _original(self, *args, **kwargs)

        monkeypatch.setattr(creator, "create_client", create_client)
    return made


async def test_one_client_serves_start_up_and_all_requests(clients_made: Counter[str]) -> None:
    stored: list[Resource | Project | Assignment] = [
        resource("r"),
        project("p"),
        assignment("2024-01-10", id="a"),
    ]
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        (TIMELINE, {}),
        (CREATE, {}),
        ("query($id: ID!) { node(id: $id) { id } }", {"id": gid("Assignment", "a")}),
        (
            'mutation($id: ID!) { updateResource(input: {id: $id, name: "Eve"})'
            " { resource { version } errors { code } } }",
            {"id": gid("Resource", "r")},
        ),
        (
            "mutation($id: ID!) { deleteProject(input: {id: $id}) { errors { code } } }",
            {"id": gid("Project", "p")},
        ),
        ('mutation { createResource(input: {name: ""}) { errors { code } } }', {}),
    )
    turn = asyncio.Semaphore(20)

    async def one(running: Planner, number: int) -> None:
        query, variables = calls[number % len(calls)]
        async with turn:
            await running.api("mixed").data(query, **variables)

    async with running_stub() as stub, planner(stub.url) as running:
        items = tuple(encode("mixed", entity) for entity in stored)
        stub.conduct["mixed"] = Conduct(items=items)
        await asyncio.gather(*(one(running, number) for number in range(300)))
        assert len(stub.of("mixed")) > 300
    assert clients_made == {"AioClientCreator": 1}
