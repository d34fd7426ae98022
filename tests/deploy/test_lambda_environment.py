"""What an execution environment of Lambda goes through besides its events: it is frozen between
two of them, for as long as Lambda likes, and an answer must not be too large for it."""

import asyncio
import json
from typing import Any

import pytest
from msgspec.structs import replace

from data.entities import Entity
from data.items import encode
from server.aws_lambda import MAX_ANSWER_BYTES
from server.metrics import Metrics
from tests.api.http import GRAPHQL, QUERY
from tests.api.samples import assignment, project, resource
from tests.deploy.environment import Environment, environment
from tests.deploy.events import get, graphql
from tests.store.stub import Conduct, Failure, Stub, no_complaints, running_stub, settings_for

CREATE = 'mutation { createResource(input: {name: "Ada"}) { resource { name } errors { code } } }'
NAMES = "{ team { resources { name } projects { name } } }"
LEFT_BEHIND = "2020-01-01T00:00:00.000Z"


async def hang_up(stub: Stub) -> None:
    """Closes all connections from DynamoDB's side, while nobody there looks at them."""
    server: Any = stub._server
    for connection in server.connections:
        connection.force_close()
    while server.connections:  # noqa: ASYNC110 (nobody tells)
        await asyncio.sleep(0)


def retries(function: Environment) -> int:
    metrics: Metrics = function.app.state.metrics
    return int(metrics.registry.get_sample_value("planner_dynamodb_retries_total") or 0)


def connections(function: Environment) -> Any:
    return function.app.state.store.transport.poster.connections


async def test_warm_events_share_a_connection_and_a_start() -> None:
    with no_complaints():
        async with running_stub() as stub, environment(settings_for(stub.url)) as function:
            store = function.app.state.store
            for _ in range(3):
                assert (await function(graphql("warm", QUERY))).status == 200
            assert function.app.state.store is store
            assert stub.most_connections == 1


@pytest.mark.parametrize("document", [NAMES, CREATE], ids=["query", "mutation"])
async def test_a_connection_that_ended_in_the_freeze_costs_no_second_attempt(document: str) -> None:
    async with running_stub() as stub, environment(settings_for(stub.url)) as function:
        for _ in range(3):
            answer = await function(graphql("cold", document))
            assert "errors" not in answer.json()
            assert len(connections(function).open) == 1
            await hang_up(stub)
        assert retries(function) == 0
        assert len(stub.of("cold")) == 3


async def test_a_connection_that_was_frozen_for_long_is_not_used_though_it_seems_open() -> None:
    """Of an end that came while nobody listened there may be no trace."""
    async with running_stub() as stub, environment(settings_for(stub.url)) as function:
        await function(graphql("cold", NAMES))
        [before] = connections(function).open
        before.idle_since -= 60
        assert (await function(graphql("cold", NAMES))).status == 200
        [after] = connections(function).open
        assert after is not before


async def test_a_deletion_in_the_background_goes_on_with_the_next_event() -> None:
    marked = replace(resource("r"), deleting_at=LEFT_BEHIND)
    gate = asyncio.Event()
    async with running_stub() as stub, environment(settings_for(stub.url)) as function:
        items = tuple(encode("team", each) for each in (marked, assignment("2024-01-10", id="a")))
        stub.conduct["team"] = Conduct(items=items, gate=gate, held_from=2)
        await function(graphql("team", NAMES))
        await stub.arrived("team", 2)
        gate.set()
        await stub.idle()  # Its answer is there, and nobody runs to read it.
        assert [each.operation for each in stub.of("team")] == ["Query", "GetItem"]
        for _ in range(6):
            await function(get("/healthz"))
        await stub.arrived("team", 4)
        assert stub.of("team")[3].operation == "TransactWriteItems"


async def test_what_is_left_in_the_background_is_finished_at_the_end() -> None:
    marked = replace(resource("r"), deleting_at=LEFT_BEHIND)
    with no_complaints():
        async with running_stub() as stub:
            stub.conduct["team"] = Conduct(items=(encode("team", marked),))
            async with environment(settings_for(stub.url)) as function:
                await function(graphql("team", NAMES))
            sent = [each.operation for each in stub.of("team")]
            assert sent == ["Query", "GetItem", "Query", "TransactWriteItems"]


def plan(assignments: int) -> list[Entity]:
    note = '"' * 500
    dates = ["2026-01-10"] * assignments
    many = [replace(assignment(day, id=f"a{n}"), note=note) for n, day in enumerate(dates)]
    return [resource("r"), project("p"), *many]


@pytest.mark.parametrize("accept", ["application/json", GRAPHQL])
async def test_an_answer_that_lambda_would_not_pass_on_says_so_itself(accept: str) -> None:
    """Each quotation mark is escaped twice: as the answer's, and as the event's."""
    notes = " ".join(f"a{n}: note" for n in range(10))
    document = f"{{ team {{ assignments {{ {notes} }} }} }}"
    async with running_stub() as stub, environment(settings_for(stub.url)) as function:
        for number, is_large in ((100, False), (400, True)):
            stub.conduct["team"] = Conduct(
                items=tuple(encode("team", each) for each in plan(number))
            )
            answer = await function(graphql("team", document, headers={"accept": accept}))
            assert answer.status == 200
            assert answer.headers["content-type"] == f"{accept}; charset=utf-8"
            assert answer.headers["content-length"] == str(len(answer.body))
            if is_large:
                assert answer.json()["data"] is None
                assert answer.is_refused(200, "LIMIT_EXCEEDED")
                assert len(json.dumps(answer.body.decode())) < MAX_ANSWER_BYTES
            else:
                assert len(answer.json()["data"]["team"]["assignments"]) == number


async def test_a_write_that_was_cut_off_is_sent_again_as_the_same_one() -> None:
    async with running_stub() as stub, environment(settings_for(stub.url)) as function:
        await function(graphql("other", NAMES))
        stub.conduct["team"] = Conduct(failure=Failure.RESET, failures=1)
        assert "errors" not in (await function(graphql("team", CREATE))).json()
        first, second = stub.of("team")
        assert first == second
        assert retries(function) == 1
