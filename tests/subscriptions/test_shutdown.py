"""A server that is told to stop says so to who listens, and waits for none of them."""

import json
import re
import signal

import pytest

from data.store import Store
from tests.docs.documents import ROOT
from tests.programs import PATIENCE, PLANNER, deployment, program, until_it_says
from tests.subscriptions.events import reading
from tests.subscriptions.sockets import Server


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_sigterm_closes_websockets_with_1012_ends_streams_and_the_process(
    engine: str, store: Store, team: str, workers: str
) -> None:
    """The client comes back, to the next server. What is said here is of `planner serve` as it is,
    with the table's stream."""
    environment = {
        **deployment(engine, store.table),
        "HOST": "127.0.0.1",
        "PORT": "0",
        "PLANNER_WORKERS": workers,
        # Far longer than the test is: who waits for the end of a stream never stops.
        "PLANNER_SHUTDOWN_SECONDS": "600",
        "PYTHONWARNINGS": "error",
    }
    with program((*PLANNER, "serve"), environment, folder=ROOT) as process:
        said = until_it_says(process, '"listening"')
        [url] = re.findall(r"http://[\d.:]+", said)
        until_it_says(process, "Application startup complete", times=int(workers))
        server = Server(url)
        async with server.begun(team) as socket, reading(server, team) as stream:
            await socket.subscribe()
            assert (await socket.hear())["type"] == "next"
            assert (await stream.hear())[0] == "next"
            process.send_signal(signal.SIGTERM)
            assert (await socket.is_closed())[0] == 1012
            # Without `complete`: there is more, elsewhere.
            assert await stream.rest() == []
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode in (0, -signal.SIGTERM), said
    assert "exceeded" not in said
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    ended = [line["ended"] for line in lines if line["event"] == "operation"]
    assert ended == ["shutdown", "shutdown"]
    assert [line for line in lines if line["level"] in ("warning", "error")] == []
