"""What a client hears when DynamoDB falters: retries are bounded, a lost answer is a success, and
a fault that stays is UNAVAILABLE (D-05). No batch call is there to leave items behind (D-08), and
numbers are whole (D-14)."""

import ast
import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from graphql import (
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    build_schema,
    get_named_type,
)
from starlette.applications import Starlette

import data.patience
import data.sending
from data.entities import Entity, Membership, Team
from data.expressions import Item
from data.items import encode
from data.store import Store
from schema import sdl
from tests.api.samples import assignment, gid, input_type, project, resource
from tests.api_client import Api, put
from tests.faults import Fault, Plan, faulty
from tests.store.scenarios import state
from tests.store.stub import Conduct, Failure, Planner, Stub, planner, running_stub

ROOT = Path(__file__).parents[2]
ATTEMPTS = 6
LONGEST_PAUSES = [0.05, 0.1, 0.2, 0.4, 0.8]
CREATE = 'mutation { createResource(input: {name: "Ada"}) { resource { id } errors { code } } }'
ASSIGN = f"""mutation {{ createAssignment(input: {{
  resourceId: "{gid("Resource", "r")}", projectId: "{gid("Project", "p")}",
  startDate: "2024-01-10", endDate: "2024-01-12"
}}) {{ assignment {{ id }} errors {{ code }} }} }}"""
TIMELINE = "{ team { resources { id } projects { id } assignments { id } } }"
UNAVAILABLE = {"code": "UNAVAILABLE"}

# Attempts and time


@dataclass
class Clock:
    """The time that the store sees: pauses pass at once, and each request takes `per_request`."""

    stub: Stub
    pauses: list[float]
    per_request: float = 0.0

    def now(self) -> float:
        return sum(self.pauses) + self.per_request * len(self.stub.received)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.fixture(scope="module")
async def stub() -> AsyncIterator[Stub]:
    async with running_stub() as stub:
        yield stub


@pytest.fixture(scope="module")
async def on_stub(stub: Stub) -> AsyncIterator[Planner]:
    """The application in front of the stub."""
    async with planner(stub.url) as running:
        yield running


@pytest.fixture
def clock(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(stub, [])
    monkeypatch.setattr(data.sending, "asyncio", SimpleNamespace(sleep=clock.sleep))
    monkeypatch.setattr(data.sending, "time", SimpleNamespace(monotonic=clock.now))
    return clock


async def is_unavailable(api: Api, call: str) -> bool:
    """Whether the answer says so and nothing else; never what went wrong inside."""
    response = await api.post(call)
    assert response.status_code == 200
    assert not betrays(response)
    [error] = response.json()["errors"]
    return not any((response.json()["data"] or {}).values()) and error["extensions"] == UNAVAILABLE


def betrays(response: httpx.Response) -> list[str]:
    """The words of an answer that are about our inside."""
    inside = ("secret", "arn:", "Exception", "Error", "127.0.0.1", "imeout", "botocore", "INTERNAL")
    return [word for word in inside if word in response.text]


@pytest.mark.parametrize("failure", Failure)
@pytest.mark.parametrize("call", [TIMELINE, CREATE, ASSIGN], ids=["read", "put", "transaction"])
async def test_attempts_end_and_then_it_is_unavailable(
    stub: Stub, on_stub: Planner, team: str, clock: Clock, call: str, failure: Failure
) -> None:
    stub.conduct[team] = Conduct(failure)
    assert await is_unavailable(on_stub.api(team), call)
    assert len(stub.of(team)) == ATTEMPTS
    assert len(clock.pauses) == ATTEMPTS - 1


async def test_time_ends_before_the_attempts_when_each_takes_long(
    stub: Stub, on_stub: Planner, team: str, clock: Clock
) -> None:
    clock.per_request = 4.0
    stub.conduct[team] = Conduct(Failure.ERROR_500)
    assert await is_unavailable(on_stub.api(team), CREATE)
    # The third ends after twelve seconds of ten.
    assert len(stub.of(team)) == 3


async def test_pauses_have_full_jitter(
    stub: Stub, on_stub: Planner, team: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data.patience, "random", random.Random(1))
    stub.conduct[team] = Conduct(Failure.THROTTLED)
    for _ in range(40):
        assert await is_unavailable(on_stub.api(team), CREATE)
    for attempt, longest in enumerate(LONGEST_PAUSES):
        pauses = clock.pauses[attempt :: len(LONGEST_PAUSES)]
        assert len(pauses) == 40
        # From nothing to the whole: 40 of them come near both ends, and none is like another.
        assert 0 <= min(pauses) < longest * 0.2
        assert longest * 0.8 < max(pauses) <= longest
        assert len(set(pauses)) == 40


@pytest.mark.usefixtures("clock")
async def test_fault_that_passes_is_not_seen_by_the_client(
    stub: Stub, on_stub: Planner, team: str
) -> None:
    for failure in Failure:
        each = f"{team}-{failure.name}"
        stub.conduct[each] = Conduct(failure, failures=ATTEMPTS - 1)
        answer = await on_stub.api(each).data(CREATE)
        assert answer["createResource"]["errors"] == []
        assert len(stub.of(each)) == ATTEMPTS


@pytest.mark.usefixtures("clock")
async def test_all_attempts_of_a_transaction_have_one_token_and_the_next_has_another(
    stub: Stub, on_stub: Planner, team: str
) -> None:
    stub.conduct[team] = Conduct(Failure.ERROR_500, failures=3)
    await on_stub.api(team).data(ASSIGN)
    await on_stub.api(team).data(ASSIGN)
    bodies = [received.body for received in stub.of(team, "TransactWriteItems")]
    tokens = [body["ClientRequestToken"] for body in bodies]
    assert len(tokens) == 5
    assert tokens[:4] == [tokens[0]] * 4
    assert tokens[4] != tokens[0]
    assert bodies[:4] == [bodies[0]] * 4


async def test_timeouts_and_retries_of_the_client_are_set_and_not_left_to_boto(
    stub: Stub,
) -> None:
    async with planner(stub.url, max_connections=7) as running:
        config: Any = running.store.client.meta.config
        assert (config.connect_timeout, config.read_timeout) == (2, 5)
        assert config.max_pool_connections == 7
        # boto itself sends once, or attempts would multiply.
        assert config.retries["total_max_attempts"] == 1


@pytest.mark.usefixtures("clock")
async def test_store_that_never_answers_is_unavailable_too(stub: Stub, team: str) -> None:
    async with planner(stub.url) as running:
        transport: Any = running.store.transport
        connections = transport.poster.connections
        assert (connections.connect_timeout, connections.read_timeout) == (2, 5)
        connections.read_timeout = 0.05
        stub.conduct[team] = Conduct(gate=asyncio.Event())
        assert await is_unavailable(running.api(team), CREATE)
        assert len(stub.of(team)) == ATTEMPTS


# Mutations, and faults at each of their requests

NEW = "01890000-0000-7000-8000-000000000001"
OPERATION = "01890000-0000-7000-8000-000000000002"
DAYS = {"startDate": "2024-01-20", "endDate": "2024-01-21"}
OWNERS = {"resourceId": gid("Resource", "r1"), "projectId": gid("Project", "p1")}
PLAN: tuple[Entity, ...] = (
    resource("r1"),
    resource("r2"),
    project("p1"),
    assignment("2024-01-10", 3, id="a1", resource="r1", project="p1"),
    assignment("2024-01-11", 3, id="a2", resource="r2", project="p1"),
)


@dataclass(frozen=True)
class Call:
    """A mutation on PLAN."""

    name: str
    mutation: str
    selection: str
    input: dict[str, Any]

    def __repr__(self) -> str:
        return self.name

    async def __call__(self, api: Api) -> httpx.Response:
        return await api.post(
            f"mutation($input: {input_type(self.mutation)}!) {{"
            f" {self.mutation}(input: $input) {{ {self.selection} errors {{ code }} }} }}",
            {"input": self.input},
        )


RESOURCE = "resource { id name version }"
PROJECT = "project { id name color version }"
ASSIGNMENT = "assignment { id resourceId projectId startDate endDate note version }"

CREATES = (
    Call("create resource", "createResource", RESOURCE, {"name": "Eve"}),
    Call("create project", "createProject", PROJECT, {"name": "Road", "color": "#123456"}),
    Call("create assignment", "createAssignment", ASSIGNMENT, {**OWNERS, **DAYS}),
)
CALLS = (
    *(
        Call(f"{create} with an id", create.mutation, create.selection, {**create.input, "id": NEW})
        for create in CREATES
    ),
    Call("update resource", "updateResource", RESOURCE, {"id": gid("Resource", "r1"), "name": "B"}),
    Call(
        "update project",
        "updateProject",
        PROJECT,
        {"id": gid("Project", "p1"), "color": "#abcdef", "expectedVersion": 1},
    ),
    Call(
        "note assignment",
        "updateAssignment",
        ASSIGNMENT,
        {"id": gid("Assignment", "a1"), "note": "hi"},
    ),
    Call(
        "move assignment",
        "updateAssignment",
        ASSIGNMENT,
        {"id": gid("Assignment", "a1"), "startDate": "2023-12-01"},
    ),
    Call(
        "update assignments",
        "updateAssignments",
        "assignments { id startDate note version }",
        {
            "patches": [
                {"id": gid("Assignment", "a1"), "startDate": "2024-01-09"},
                {"id": gid("Assignment", "a2"), "note": "hi"},
            ]
        },
    ),
    Call(
        "shift project",
        "shiftProject",
        "shiftedAssignmentIds shiftedCount isDone",
        {"id": gid("Project", "p1"), "days": 40, "operationId": OPERATION},
    ),
    Call(
        "delete assignment",
        "deleteAssignment",
        "deletedAssignmentId",
        {"id": gid("Assignment", "a1")},
    ),
    Call(
        "delete resource",
        "deleteResource",
        "deletedResourceId deletedAssignmentIds",
        {"id": gid("Resource", "r1")},
    ),
    Call(
        "delete project",
        "deleteProject",
        "deletedProjectId deletedAssignmentIds",
        {"id": gid("Project", "p1")},
    ),
)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries wait for nothing."""
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)


@dataclass
class Trial:
    """Runs a call on one fresh team after the other."""

    http: httpx.AsyncClient
    store: Store
    behind: Store
    teams: Iterator[str]

    async def run(self, call: Call, plan: Plan, *, again: str | None = None) -> "Outcome":
        """What the client hears and what is stored then, with these faults behind the API; on a
        fresh team, or `again` on one that has had its call."""
        team = again or next(self.teams)
        if not again:
            await put(self.store, team, PLAN)
        with faulty(self.behind, plan) as client:
            response = await call(Api(self.http, team))
        sent = tuple(operation for operation, _ in client.sent)
        return Outcome(response, await state(self.store, team), sent, team)


@dataclass(frozen=True)
class Outcome:
    response: httpx.Response
    stored: list[Item]
    sent: tuple[str, ...]
    team: str

    @property
    def codes(self) -> set[str]:
        """The codes of all GraphQL errors."""
        errors = self.response.json().get("errors", [])
        return {error["extensions"]["code"] for error in errors}


@pytest.fixture
def trial(http: httpx.AsyncClient, store: Store, app: Starlette, team: str) -> Trial:
    names = (f"{team}-{number}" for number in count())
    return Trial(http, store, app.state.store, names)


def at(index: int, fault: Fault, *, stays: bool = False) -> Plan:
    """The fault for the request with this index, and for all later ones if it `stays`."""
    return lambda n, _: fault if n == index or (stays and n > index) else None


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("call", CALLS, ids=repr)
async def test_lost_answer_at_any_point_is_a_success_and_done_once(
    trial: Trial, call: Call
) -> None:
    told = await trial.run(call, lambda *_: None)
    payload = told.response.json()["data"][call.mutation]
    assert payload["errors"] == []
    for index, fault in product(range(len(told.sent)), (Fault.TIMEOUT_AFTER, Fault.RESET_AFTER)):
        lost = await trial.run(call, at(index, fault))
        # The same ids, versions and all else that an undisturbed call answers.
        assert lost.response.json() == {"data": {call.mutation: payload}}, (index, fault)
        assert lost.stored == told.stored, (index, fault)
        assert len(lost.sent) > len(told.sent)


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("create", CREATES, ids=repr)
async def test_lost_answer_to_a_create_brings_the_id_of_the_one_row_that_was_made(
    trial: Trial, create: Call
) -> None:
    lost = await trial.run(create, at(0, Fault.TIMEOUT_AFTER))
    assert len(lost.sent) == 2
    payload = lost.response.json()["data"][create.mutation]
    assert payload.pop("errors") == []
    [(kind, made)] = payload.items()
    known = {entity.id for entity in PLAN if not isinstance(entity, Team | Membership)}
    [row] = [item for item in lost.stored if item["id"]["S"] not in known]
    assert made["id"] == gid(kind.capitalize(), row["id"]["S"])
    assert row["version"] == {"N": "1"}


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("create", CALLS[: len(CREATES)], ids=repr)
async def test_client_that_never_heard_of_its_create_sends_it_again_and_hears_the_same(
    trial: Trial, create: Call
) -> None:
    told = await trial.run(create, lambda *_: None)
    lost = await trial.run(create, at(len(told.sent) - 1, Fault.TIMEOUT_AFTER, stays=True))
    assert lost.stored == told.stored
    again = await trial.run(create, lambda *_: None, again=lost.team)
    assert again.response.json() == told.response.json()
    assert again.stored == told.stored


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.TIMEOUT_BEFORE, Fault.TIMEOUT_AFTER])
@pytest.mark.parametrize("call", CALLS, ids=repr)
async def test_fault_that_stays_is_unavailable_and_nothing_of_our_inside_is_told(
    trial: Trial, call: Call, fault: Fault
) -> None:
    told = await trial.run(call, lambda *_: None)
    for index in range(len(told.sent)):
        failed = await trial.run(call, at(index, fault, stays=True))
        assert failed.response.status_code == 200
        assert not betrays(failed.response), (index, failed.response.text)
        if not failed.codes and "isDone" in failed.response.text:
            # A shift that had begun says what it did, and that there may be more.
            [payload] = failed.response.json()["data"].values()
            assert (payload["isDone"], payload["shiftedCount"] > 0) == (False, True), index
            continue
        if fault.is_done and not failed.codes:
            # A create that finds its own row knows that it is done.
            assert failed.response.json() == told.response.json()
            assert failed.stored == told.stored
            continue
        assert failed.codes == {"UNAVAILABLE"}, (index, failed.response.text)
        assert not any(failed.response.json()["data"].values())


# Batches (D-08)

BATCHES = {
    "batch_execute_statement",
    "batch_get_item",
    "batch_write_item",
    "batch_writer",
    "scan",
    "BatchExecuteStatement",
    "BatchGetItem",
    "BatchWriteItem",
    "Scan",
}


def batches(source: str) -> set[str]:
    """The calls that can leave items behind, or read a whole table, by whatever way they are
    named: an attribute, a name, or a string that is nothing else."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)):
                found |= {name} & BATCHES
            case ast.keyword(arg=str(name)):
                found |= {name} & BATCHES
    return found


def test_no_source_sends_a_batch_or_a_scan() -> None:
    sources = [
        file
        for package in ("data", "resolvers", "schema", "server")
        for file in sorted((ROOT / package).rglob("*.py"))
    ]
    assert len(sources) > 40
    assert {file.name: found for file in sources if (found := batches(file.read_text()))} == {}


@pytest.mark.parametrize(
    "source",
    [
        "await client.batch_write_item(RequestItems={})",
        "send = self.client.scan",
        "client.get_paginator('scan')",
        "getattr(client, 'batch_get_item')",
        "async with table.batch_writer() as batch: pass",
        "headers = {'X-Amz-Target': target('BatchWriteItem')}",
    ],
)
def test_a_batch_or_a_scan_would_be_found(source: str) -> None:
    assert batches(f"async def f():\n    {source}")


# Numbers (D-14)

NUMBERS: dict[str, tuple[str, str]] = {
    "a resource": ("updateResource", '{{id: "{}", name: "x", expectedVersion: {}}}'),
    "a project": ("updateProject", '{{id: "{}", name: "x", expectedVersion: {}}}'),
    "an assignment": ("updateAssignment", '{{id: "{}", note: "x", expectedVersion: {}}}'),
    "assignments": (
        "updateAssignments",
        '{{patches: [{{id: "{}", note: "x", expectedVersion: {}}}]}}',
    ),
    "days": ("shiftProject", '{{id: "{}", days: {}}}'),
}
IDS = {
    "updateResource": gid("Resource", "r1"),
    "updateProject": gid("Project", "p1"),
    "updateAssignment": gid("Assignment", "a1"),
    "updateAssignments": gid("Assignment", "a1"),
    "shiftProject": gid("Project", "p1"),
}
NO_INTS = ["1e400", "-1e400", "0.1", "1.5e0", '"1"', '""', "true", "2147483648", "NaN", "Infinity"]


@pytest.mark.parametrize("number", NO_INTS)
@pytest.mark.parametrize(("mutation", "input"), NUMBERS.values(), ids=NUMBERS.keys())
async def test_what_is_no_whole_number_is_refused_and_nothing_is_asked(
    stub: Stub, on_stub: Planner, team: str, mutation: str, input: str, number: str
) -> None:
    api = on_stub.api(team)
    literal = input.format(IDS[mutation], number)
    by_variable = input.format(IDS[mutation], "$number")
    fields = "{ errors { code } }"
    for document, variables in (
        (f"mutation {{ {mutation}(input: {literal}) {fields} }}", "{}"),
        (
            f"mutation($number: Int!) {{ {mutation}(input: {by_variable}) {fields} }}",
            f'{{"number": {number}}}',
        ),
    ):
        body = f'{{"query": {json.dumps(document)}, "variables": {variables}}}'
        headers = {**api.headers, "Content-Type": "application/json"}
        response = await api.http.post("/graphql", content=body.encode(), headers=headers)
        # NaN and Infinity are names in a document, and in JSON they are nothing.
        is_json = number not in ("NaN", "Infinity") or variables == "{}"
        assert response.status_code == (200 if is_json else 400)
        answer = response.json()
        assert answer.get("data") is None
        assert {e["extensions"]["code"] for e in answer["errors"]} == {"BAD_USER_INPUT"}
    assert stub.of(team) == []


@pytest.mark.parametrize("number", ["0", "-1", "2147483647"])
async def test_whole_number_is_compared_and_not_refused(
    stub: Stub, on_stub: Planner, team: str, number: str
) -> None:
    stub.conduct[team] = Conduct(items=tuple(encode(team, each) for each in PLAN))
    answer = await on_stub.api(team).data(
        f"""mutation {{ updateResource(input: {{id: "{IDS["updateResource"]}", name: "x",
          expectedVersion: {number}}}) {{ errors {{ code field }} }} }}"""
    )
    [error] = answer["updateResource"]["errors"]
    assert error == {"code": "CONFLICT", "field": ["expectedVersion"]}


def test_the_only_numbers_are_versions_and_counts_of_days_and_assignments() -> None:
    types = build_schema(sdl()).type_map
    numbers: set[tuple[str, str]] = set()
    for type in types.values():
        if isinstance(type, GraphQLObjectType | GraphQLInterfaceType):
            for name, field in type.fields.items():
                numbers.add((name, str(get_named_type(field.type))))
                for argument, each in field.args.items():
                    numbers.add((argument, str(get_named_type(each.type))))
        if isinstance(type, GraphQLInputObjectType):
            for name, value in type.fields.items():
                numbers.add((name, str(get_named_type(value.type))))
    assert {name for name, type in numbers if type == "Int"} == {
        "version",
        "expectedVersion",
        "days",
        "first",
        "shiftedCount",
    }
    assert "Float" not in {type for _, type in numbers}
