"""From start to stop: nothing is left open, and what is under way is finished first."""

import asyncio
import os
import re
import signal
import sys
import threading
import uuid
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from data.administration import create_table
from data.entities import Resource
from data.expressions import Item
from data.items import encode
from data.store import Store
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from tests.api.http import is_refused
from tests.api.samples import assignment, resource
from tests.api_client import Api, put
from tests.programs import deployment
from tests.store.stub import Conduct, no_complaints, planner, running_stub, settings_for
from tests.tombstones import deletions, remaining

PATIENCE = 30.0
TIMELINE = "{ team { resources { name } assignments { id } } }"
LEFT_BEHIND = "2020-01-01T00:00:00.000Z"


def marked(id: str) -> Resource:
    """A resource whose deletion was begun long ago and not finished."""
    return replace(resource(id), deleting_at=LEFT_BEHIND)


def unfinished() -> tuple[Item, ...]:
    """What a read of a team finds where a deletion was left behind."""
    of_resource = assignment("2024-01-10", id="a", resource="r")
    return encode("team", marked("r")), encode("team", of_resource)


# Three lives in one process


async def live(url: str, table: str, cycle: int) -> None:
    """One life: start, write, read, leave a cascade under way, stop."""
    app = create_app(settings_for(url, table=table), credentials=DUMMY_CREDENTIALS)
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://planner.test") as http,
    ):
        api = Api(http, "team")
        store: Store = app.state.store
        await create_table(store)
        assert await remaining(store, "cascade") == []
        assert len(await deletions(store, "cascade")) == 31 * cycle
        await api.resource(f"Ada {cycle}")
        resources = (await api.data(TIMELINE))["team"]["resources"]
        assert [each["name"] for each in resources] == [f"Ada {n}" for n in range(cycle + 1)]
        left = [assignment("2024-01-10", id=f"a{n}", resource="r") for n in range(30)]
        await put(store, "cascade", [marked("r"), *left])
        seen = await Api(http, "cascade").data(TIMELINE)
        assert seen == {"team": {"resources": [], "assignments": []}}


def test_three_lives_in_one_process_leave_nothing_open_and_no_cascade_cut(engine: str) -> None:
    table = f"planner-{uuid.uuid4().hex}"
    failures: list[BaseException] = []

    def lives() -> None:
        try:
            for cycle in range(3):
                asyncio.run(live(engine, table, cycle))
        except BaseException as error:
            failures.append(error)

    with no_complaints():
        # In a thread: the tests' own loop must stay the one of the main thread.
        thread = threading.Thread(target=lives)
        thread.start()
        thread.join()
    assert failures == []


async def test_stop_waits_for_the_cascades_that_are_under_way() -> None:
    gate = asyncio.Event()
    with no_complaints():
        async with running_stub() as stub:
            stub.conduct["team"] = Conduct(items=unfinished(), gate=gate, held_from=2)
            life = planner(stub.url)
            running = await life.__aenter__()
            await running.api("team").data(TIMELINE)
            await stub.arrived("team", 2)
            stop = asyncio.create_task(life.__aexit__(None, None, None))
            await loop_turns()
            assert not stop.done()
            gate.set()
            await stop
            sent = [received.operation for received in stub.of("team")]
            assert sent == ["Query", "GetItem", "Query", "TransactWriteItems"]


async def loop_turns() -> None:
    """Lets everything run that can run without an answer from outside."""
    for _ in range(50):
        await asyncio.sleep(0)


# `planner serve` and SIGTERM


@asynccontextmanager
async def served(folder: Path, url: str, **more: str) -> AsyncIterator[tuple[Process, str]]:
    """`planner serve` as a process of its own, and its address. Ended by its own pid."""
    environment: Mapping[str, str] = {
        "PATH": os.environ["PATH"],
        **deployment(url, "resource-planner"),
        "HOST": "127.0.0.1",
        "PORT": "0",
        # Whatever Python has to complain about, it says or makes an error.
        "PYTHONDEVMODE": "1",
        "PYTHONWARNINGS": "error",
        **more,
    }
    command = Path(sys.executable).with_name("planner")
    process = await asyncio.create_subprocess_exec(
        command, "serve", cwd=folder, env=environment, stdout=PIPE, stderr=PIPE
    )
    try:
        async with asyncio.timeout(PATIENCE):
            listening = await says(process, r'"url": ?"(http://[\d.]+:\d+)/graphql"')
            yield process, listening[1]
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def says(process: Process, pattern: str) -> re.Match[str]:
    """Reads the server's log up to the line that has the pattern."""
    assert process.stderr
    said = ""
    while line := (await process.stderr.readline()).decode():
        said += line
        if match := re.search(pattern, line):
            return match
    raise AssertionError(f"it ended: {said}")


async def refuses_connections(url: str) -> None:
    """Waits until nobody listens there any more."""
    host, _, port = url.removeprefix("http://").partition(":")
    while True:
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except OSError:
            return
        writer.close()
        await asyncio.sleep(0.01)


STARTED = r"Started server process \[(\d+)\]"
CREATE = 'mutation { createResource(input: {name: "Ada"}) { resource { name } errors { code } } }'


async def test_sigterm_lets_a_slow_write_finish_and_its_answer_arrive(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running_stub() as stub, served(tmp_path, stub.url) as (process, url):
        stub.conduct["slow"] = Conduct(gate=gate)
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            answer = asyncio.create_task(Api(http, "slow").data(CREATE))
            await stub.arrived("slow")
            process.send_signal(signal.SIGTERM)
            await refuses_connections(url)
            assert not answer.done()
            gate.set()
            assert await answer == {"createResource": {"resource": {"name": "Ada"}, "errors": []}}
        said = await last_words(process)
        assert len(stub.of("slow")) == 1
        assert_ended_in_order(process, said)


async def test_sigterm_waits_no_longer_than_it_may(tmp_path: Path) -> None:
    """A request that does not end is given up, and its client is told so."""
    gate = asyncio.Event()
    allowed = {"PLANNER_SHUTDOWN_SECONDS": "1"}
    async with running_stub() as stub, served(tmp_path, stub.url, **allowed) as (process, url):
        stub.conduct["slow"] = Conduct(gate=gate)
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            answer = asyncio.create_task(Api(http, "slow").post(TIMELINE))
            await stub.arrived("slow")
            process.send_signal(signal.SIGTERM)
            assert is_refused(await answer, 503, "UNAVAILABLE")
        said = await last_words(process)
        gate.set()
        assert "timeout graceful shutdown exceeded" in said
        assert process.returncode in (0, -signal.SIGTERM), said


async def test_sigterm_lets_a_cascade_in_the_background_finish(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running_stub() as stub, served(tmp_path, stub.url) as (process, url):
        stub.conduct["team"] = Conduct(items=unfinished(), gate=gate, held_from=2)
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            await Api(http, "team").data(TIMELINE)
        await stub.arrived("team", 2)
        process.send_signal(signal.SIGTERM)
        # All requests are answered, and only the background is left.
        await says(process, "Waiting for application shutdown")
        gate.set()
        said = await last_words(process)
        sent = [received.operation for received in stub.of("team")]
        assert sent == ["Query", "GetItem", "Query", "TransactWriteItems"]
        assert "deletion finished" in said
        assert_ended_in_order(process, said)


async def test_workers_share_a_port_and_end_with_their_supervisor(tmp_path: Path) -> None:
    gate = asyncio.Event()
    workers = {"PLANNER_WORKERS": "2"}
    async with running_stub() as stub, served(tmp_path, stub.url, **workers) as (process, url):
        stub.conduct["slow"] = Conduct(gate=gate)
        pids = [int((await says(process, STARTED))[1]) for _ in range(2)]
        assert len({process.pid, *pids}) == 3
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            answer = asyncio.create_task(Api(http, "slow").data(CREATE))
            await stub.arrived("slow")
            process.send_signal(signal.SIGTERM)
            gate.set()
            assert await answer == {"createResource": {"resource": {"name": "Ada"}, "errors": []}}
        said = await last_words(process)
        assert said.count("Application shutdown complete") == 2
        assert_ended_in_order(process, said)
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


async def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    workers = {"PLANNER_WORKERS": "2"}
    async with running_stub() as stub, served(tmp_path, stub.url, **workers) as (process, url):
        pids = [int((await says(process, STARTED))[1]) for _ in range(2)]
        os.kill(pids[0], signal.SIGKILL)
        assert int((await says(process, STARTED))[1]) not in pids
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            assert "errors" not in await Api(http, "team").run(TIMELINE)
        process.send_signal(signal.SIGTERM)
        await last_words(process)
        assert process.returncode in (0, -signal.SIGTERM)


async def last_words(process: Process) -> str:
    out, err = await process.communicate()
    return (out + err).decode()


def assert_ended_in_order(process: Process, said: str) -> None:
    # uvicorn ends with the signal that it was sent, when all is done.
    assert process.returncode in (0, -signal.SIGTERM), said
    assert "Application shutdown complete" in said
    for complaint in ("Traceback", "ERROR", '"error"', "never retrieved", "nclosed", "Warning"):
        assert complaint not in said, said
