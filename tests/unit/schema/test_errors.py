"""What a client hears of a failure: its code and field, and nothing of the inside."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest
from graphql import GraphQLError, parse
from structlog.testing import capture_logs

from data.cascade import Cascades
from data.entities import Role
from data.errors import (
    BadInput,
    Forbidden,
    LimitExceeded,
    PlannerError,
    Refused,
    Unauthenticated,
    Unavailable,
    conflict,
    invalid,
    not_found,
)
from data.loader import Part, PartitionLoader
from data.slices import Slice
from resolvers.context import RequestContext
from resolvers.session import Session
from schema.errors import Places, answer_error, request_error
from schema.execution import Answer, carry_out, prepare
from schema.payloads import UserErrorCode, user_errors
from tests.limits import LIMITS, budget
from tests.unit.data.memory_store import TEAM, MemoryStore

ID = "correlation-1"
NOWHERE = Places(None)
SECRET = "secret: table planner, key TEAM#t1"


def wrapped(error: Exception, times: int = 1) -> GraphQLError:
    """The error as execution passes it on, located once or more often."""
    for _ in range(times):
        error = GraphQLError(str(error), path=["team", 0, "name"], original_error=error)
    assert isinstance(error, GraphQLError)
    return error


EXPECTED: list[tuple[PlannerError, str]] = [
    (Unauthenticated("who are you"), "UNAUTHENTICATED"),
    (Forbidden("not you"), "FORBIDDEN"),
    (BadInput("not so"), "BAD_USER_INPUT"),
    (LimitExceeded("too much"), "LIMIT_EXCEEDED"),
    (Unavailable("not now"), "UNAVAILABLE"),
    (Refused(conflict("not again")), "REFUSED"),
]


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(("error", "code"), EXPECTED)
def test_what_the_planner_raises_keeps_its_message_and_code(
    error: PlannerError, code: str, times: int
) -> None:
    with capture_logs() as logs:
        answer = answer_error(wrapped(error, times), ID, NOWHERE)
    assert answer == {
        "message": error.message,
        "path": ["team", 0, "name"],
        "extensions": {"code": code},
    }
    assert logs == []


def test_bad_input_names_its_field() -> None:
    answer = answer_error(wrapped(BadInput("not so", field=("from",))), ID, NOWHERE)
    assert answer["extensions"] == {"code": "BAD_USER_INPUT", "field": ["from"]}


class Odd(Exception):
    pass


MASKED: list[Callable[[], Exception]] = [
    lambda: Odd(SECRET),
    lambda: KeyError(SECRET),
    lambda: ValueError(SECRET),
    lambda: AssertionError(SECRET),
    lambda: Odd("Argument 'from' has invalid value: " + SECRET),
    lambda: Odd("Variable '$from' has invalid value: " + SECRET),
    lambda: GraphQLError(SECRET),
]


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("make", MASKED)
def test_any_other_exception_is_masked_and_can_be_found_in_the_log(
    make: Callable[[], Exception], times: int
) -> None:
    with capture_logs() as logs:
        answer = answer_error(wrapped(make(), times), ID, NOWHERE)
    assert answer == {
        "message": "Internal error",
        "path": ["team", 0, "name"],
        "extensions": {"code": "INTERNAL", "correlationId": ID},
    }
    [log] = logs
    assert log["correlation_id"] == ID
    assert log["log_level"] == "error"
    assert log["exc_info"] is not None


def test_a_message_is_not_endless() -> None:
    assert len(request_error(GraphQLError("x" * 10_000), NOWHERE)["message"]) == 500


# Through a whole operation


class Failing(PartitionLoader):
    def __init__(self, store: MemoryStore, error: Exception) -> None:
        super().__init__(store.as_store, TEAM, on_left_behind=lambda _: None)
        self._error = error

    async def load(self, slices: Collection[Slice]) -> Mapping[Slice, Part]:
        raise self._error


async def run(
    query: str, variables: dict[str, Any] | None = None, *, error: Exception | None = None
) -> Answer:
    store = MemoryStore()
    session = Session(user_id="u1", team_id=TEAM, role=Role.MEMBER)
    context = RequestContext(session, store.as_store, Cascades(store.as_store), budget())
    context.loader = Failing(store, error or Odd("a read was begun"))
    document = prepare(query, limits=LIMITS, introspection=False)
    answer = await carry_out(
        document,
        context,
        variables=variables,
        operation_name=None,
        correlation_id=ID,
        limits=LIMITS,
    )
    assert store.requests == 0
    return answer


@pytest.mark.parametrize(("error", "code"), EXPECTED)
async def test_a_failure_of_a_read_has_its_code_in_the_answer(
    error: PlannerError, code: str
) -> None:
    answer = await run("{team{name}}", error=error)
    [found] = answer.body["errors"]
    assert found["message"] == error.message
    assert found["extensions"]["code"] == code
    assert found["path"] == ["team"]
    assert answer.executed


async def test_nothing_of_an_unknown_failure_leaks() -> None:
    with capture_logs() as logs:
        answer = await run("{team{name}}", error=Odd(SECRET))
    assert "secret" not in str(answer.body)
    assert answer.body["errors"][0]["extensions"] == {"code": "INTERNAL", "correlationId": ID}
    assert [log["correlation_id"] for log in logs] == [ID]


CREATE = "mutation($input:CreateProjectInput!){createProject(input:$input){errors{code}}}"
LINK = {"label": "x", "url": 5}
PROJECT = {"name": "x", "color": "#000000"}

NAMED: list[tuple[str, dict[str, Any], list[str]]] = [
    # variables
    ("query($from:Date){team{assignments(from:$from){id}}}", {"from": "20240101"}, ["from"]),
    ("query($from:Date){team{assignments(from:$from){id}}}", {"from": 5}, ["from"]),
    ("query($from:Date!){team{assignments(from:$from){id}}}", {}, ["from"]),
    ("query($from:Date!){team{assignments(from:$from){id}}}", {"from": None}, ["from"]),
    ("query($id:ID!){node(id:$id){id}}", {"id": {"a": 1}}, ["id"]),
    ("query($ids:[ID!]!){nodes(ids:$ids){id}}", {"ids": ["a", None]}, ["ids", "1"]),
    (CREATE, {"input": PROJECT | {"name": 5}}, ["input", "name"]),
    (CREATE, {"input": PROJECT | {"name": None}}, ["input", "name"]),
    (CREATE, {"input": PROJECT | {"links": [LINK]}}, ["input", "links", "0", "url"]),
    (CREATE, {"input": PROJECT | {"tags": ["a", 5]}}, ["input", "tags", "1"]),
    (CREATE, {"input": {"name": "x"}}, ["input", "color"]),
    (CREATE, {"input": PROJECT | {"colour": "x"}}, ["input", "colour"]),
    # literals
    ('mutation{createProject(input:{name:"x"}){errors{code}}}', {}, ["input", "color"]),
    ('{team{assignments(from:"20240101"){id}}}', {}, ["from"]),
    ("{team{assignments(to:5){id}}}", {}, ["to"]),
    ('{team{resources{assignments(to:"2024-02-30"){id}}}}', {}, ["to"]),
    ("{node(id:true){id}}", {}, ["id"]),
    (
        'mutation{createProject(input:{name:5,color:"#000000"}){errors{code}}}',
        {},
        ["input", "name"],
    ),
    (
        'mutation{createProject(input:{name:"x",color:"c",links:[{label:"x",url:5}]}){errors{code}}}',
        {},
        ["input", "links", "url"],
    ),
    (
        """mutation{createAssignment(input:{
            resourceId:"a",projectId:"b",startDate:"2024-01-01",endDate:"x"
        }){errors{code}}}""",
        {},
        ["input", "endDate"],
    ),
    (
        "{team{...F}} fragment F on Team {assignments(from:5){id}}",
        {},
        ["from"],
    ),
]


@pytest.mark.parametrize(("query", "variables", "field"), NAMED)
async def test_bad_user_input_names_the_field_and_nothing_is_read(
    query: str, variables: dict[str, Any], field: list[str]
) -> None:
    answer = await run(query, variables)
    [error] = answer.body["errors"]
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": field}
    assert error["locations"]
    assert "data" not in answer.body
    assert not answer.executed


@pytest.mark.parametrize(
    "query",
    [
        "",
        "{",
        "{team",
        "{nothing}",
        "{team{nothing}}",
        "{team}",
        "{team{id{id}}}",
        "{...F}",
        "{...F} fragment F on Query {...F}",
        "query($a:Nothing){team{id}}",
        "mutation{createResource{errors{code}}}",
        "subscription{team{id}}",
        "query A{team{id}} query B{team{id}}",
        "{team{id @nothing}}",
        "{__schema{types{name}}}",
    ],
)
async def test_a_document_at_fault_is_bad_user_input(query: str) -> None:
    answer = await run(query)
    assert answer.body["errors"]
    assert {error["extensions"]["code"] for error in answer.body["errors"]} == {"BAD_USER_INPUT"}
    assert not answer.executed


async def test_arguments_that_only_execution_can_judge_are_bad_user_input_too() -> None:
    answer = await run('query($id:ID="x"){node(id:$id){id}}', {"id": None})
    [error] = answer.body["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert "correlationId" not in error["extensions"]


# Refusals of a write


def test_a_refusal_becomes_the_errors_of_a_payload() -> None:
    errors = user_errors(
        Refused(
            invalid("a", "links", "0", "url"),
            not_found("b", "id"),
            conflict("c"),
        )
    )
    assert [(error.code, error.message, error.field) for error in errors] == [
        (UserErrorCode.INVALID, "a", ["links", "0", "url"]),
        (UserErrorCode.NOT_FOUND, "b", ["id"]),
        (UserErrorCode.CONFLICT, "c", None),
    ]


@pytest.mark.parametrize(
    ("depth", "extensions"),
    [
        (30, {"code": "LIMIT_EXCEEDED"}),
        (2, {"code": "INTERNAL", "correlationId": ID}),
    ],
)
def test_a_stack_that_is_used_up_is_the_clients_fault_only_where_the_document_is_deep(
    depth: int, extensions: dict[str, str]
) -> None:
    error = wrapped(RecursionError("maximum recursion depth exceeded"), 1)
    with capture_logs() as logs:
        answer = answer_error(error, ID, Places(parse("{a" * depth + "}" * depth)))
    assert answer["extensions"] == extensions
    assert "recursion" not in answer["message"]
    assert len(logs) == ("correlationId" in extensions)
