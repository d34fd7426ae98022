"""An operation that takes too long is stopped, and says so."""

import asyncio

import pytest

from tests.store.stub import Conduct, no_complaints, planner, running_stub

READ = "{ team { resources { id } projects { id } } }"
WRITE = 'mutation { createResource(input: {name: "x"}) { resource { id } errors { code } } }'


@pytest.mark.parametrize("operation", [READ, WRITE])
async def test_operation_is_stopped_when_its_time_is_up(operation: str) -> None:
    with no_complaints():
        async with running_stub() as stub, planner(stub.url, max_seconds=0.3) as running:
            api = running.api("slow")
            gate = asyncio.Event()
            stub.conduct[api.team] = Conduct(gate=gate)
            answer = await api.run(operation)
            assert answer["data"] is None
            [error] = answer["errors"]
            assert error["extensions"] == {"code": "LIMIT_EXCEEDED"}
            assert error["message"] == "The operation took more than 0.3 s and was stopped."
            # The next one has its own time.
            assert "errors" not in await running.api("quick").run(operation)
            gate.set()
            await stub.idle()
