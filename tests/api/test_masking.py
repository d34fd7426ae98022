"""Whatever fails and wherever, a client learns that it failed and nothing else (S-10). The answer's
correlation id leads to the exception in the log."""

import asyncio
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError
from graphql import GraphQLError
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from structlog.testing import capture_logs

import schema.execution
import schema.types
import server.graphql_http
import server.operations
from data.entities import Entity, Team
from data.errors import LimitExceeded, Unavailable
from data.items import encode
from data.metering import Operation
from resolvers import reads
from resolvers.context import RequestContext
from resolvers.nodes import ResourceNode, TeamNode
from resolvers.viewer import Viewer
from schema import schema as planner
from schema.fast_path import FastExecutor
from server.session import Authenticator
from server.settings import Settings
from tests.api.http import GRAPHQL, JSON
from tests.api.samples import assignment, gid, project, resource
from tests.api_client import SECRET, Api

TABLE = "planner-secret-table"
ARN = f"arn:aws:dynamodb:eu-central-1:123456789012:table/{TABLE}"
PATH = "/srv/planner/secret_module.py"
TELLING = f"User: arn:aws:sts::123456789012:role/x may not query {ARN} in {PATH}, line 42"
TYPES = planner._schema.type_map


class Odd(Exception):
    """A fault of a kind that nobody foresaw."""


class Silent(Exception):
    """A fault that can't even say what it is."""

    def __str__(self) -> str:
        raise Odd(TELLING)


def refusal(code: str) -> Callable[[], Exception]:
    return lambda: ClientError({"Error": {"Code": code, "Message": TELLING}}, "Query")


FAULTS: dict[str, Callable[[], Exception]] = {
    "AccessDenied": refusal("AccessDeniedException"),
    "ValidationException": refusal("ValidationException"),
    "ResourceNotFound": refusal("ResourceNotFoundException"),
    "KeyError": lambda: KeyError(TELLING),
    "ValueError": lambda: ValueError(TELLING),
    "TimeoutError": lambda: TimeoutError(TELLING),
    "OSError": lambda: OSError(2, TELLING, PATH),
    "RecursionError": lambda: RecursionError(TELLING),
    "UnicodeEncodeError": lambda: UnicodeEncodeError("utf-8", TELLING, 0, 1, TELLING),
    "AssertionError": lambda: AssertionError(TELLING),
    "GraphQLError": lambda: GraphQLError(f"Argument 'id' has invalid value {TELLING}"),
    "ExceptionGroup": lambda: ExceptionGroup(TELLING, [Odd(TELLING), KeyError(TELLING)]),
    "Odd": lambda: Odd(f"Variable '$id' has invalid value: {TELLING}"),
    "Silent": Silent,
}

TELLTALE = re.compile(
    r"arn:|planner-secret|/srv|\.py|Traceback|line \d|12345678|\w+Error\b|\w+Exception|Odd|Silent"
)


class Transport:
    """A transport that knows one page of rows, and fails at what it is told to."""

    def __init__(self, team: str) -> None:
        rows: list[Entity] = [
            Team(id=team, name="A"),
            project("p"),
            resource("r"),
            assignment("2024-01-10", id="a"),
        ]
        self.page = {"Items": [encode(team, row) for row in rows]}

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        return json.dumps(self.read() if operation == "Query" else self.written()).encode()

    def read(self) -> dict[str, Any]:
        return self.page

    def written(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Place:
    """Where a fault is met: what is replaced by something that fails, and what gets there."""

    target: Any
    name: str
    query: str = "{ team { name } }"
    is_property: bool = False
    path: tuple[str | int, ...] | None = None
    """In the answer of an operation; None outside of one."""


CREATE = 'mutation { createResource(input: {name: "x"}) { resource { id } errors { code } } }'
LISTS = "{ team { resources { id assignments { id } } } }"
NODE = f'{{ node(id: "{gid("Resource", "r")}") {{ id }} }}'
DAYS = "{ team { assignments { startDate } } }"

INSIDE = {
    "the store, read": Place(Transport, "read", path=("team",)),
    "the store, written": Place(Transport, "written", CREATE, path=("createResource",)),
    "a resolver of the root": Place(reads, "team", path=("team",)),
    "a resolver of a mutation": Place(reads, "written", CREATE, path=("createResource",)),
    "a resolver that does not wait": Place(
        schema.types.Role, "of", "{ viewer { role } }", path=("viewer", "role")
    ),
    "a list of its own read": Place(
        Viewer, "teams", "{ viewer { teams { id } } }", path=("viewer", "teams")
    ),
    "a field below": Place(
        TeamNode, "resources", LISTS, is_property=True, path=("team", "resources")
    ),
    "an item of a list": Place(
        ResourceNode, "assignments", LISTS, path=("team", "resources", 0, "assignments")
    ),
    "the way out of a scalar": Place(
        TYPES["Date"], "coerce_output_value", DAYS, path=("team", "assignments", 0, "startDate")
    ),
    "the type of a node": Place(TYPES["Assignment"], "is_type_of", NODE, path=("node",)),
}
OUTSIDE = {
    "negotiation": Place(server.graphql_http, "accepted_media_type"),
    "authentication": Place(Authenticator, "authenticate"),
    "the body": Place(Request, "stream"),
    "the document": Place(server.operations, "prepare"),
    "the context": Place(RequestContext, "__init__"),
    "the engine": Place(FastExecutor, "execute_operation"),
    "the extensions": Place(RequestContext, "warnings", is_property=True),
    "the errors": Place(schema.execution, "answer_error", "{ team { name version } }"),
}
PLACES = INSIDE | OUTSIDE


@pytest.fixture(scope="module")
def settings() -> Settings:
    """Nothing listens there: what is asked of the store is answered by `Transport`."""
    return Settings(
        auth_secret=SecretStr(SECRET), table=TABLE, endpoint_url="http://127.0.0.1:9", region="x"
    )


@pytest.fixture
def api(app: Starlette, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> Api:
    api = Api(http, f"team-{uuid.uuid4().hex[:12]}")
    monkeypatch.setattr(app.state.store, "transport", Transport(api.team))
    return api


def break_at(monkeypatch: pytest.MonkeyPatch, place: Place, fault: BaseException) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise fault

    monkeypatch.setattr(place.target, place.name, property(fail) if place.is_property else fail)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and all that led to it."""
    while error is not None:
        yield error
        if isinstance(error, GraphQLError) and error.original_error:
            yield from chain(error.original_error)
        error = error.__cause__ or error.__context__


def masked(response: httpx.Response, logs: list[Any], *faults: BaseException) -> dict[str, Any]:
    """The one error of an answer that tells nothing, with its exception in the log."""
    assert not TELLTALE.search(response.text), response.text
    assert not TELLTALE.search(str(response.headers))
    [error] = response.json()["errors"]
    assert error["message"] == "Internal error"
    extensions = error["extensions"]
    assert extensions.keys() == {"code", "correlationId"}
    assert extensions["code"] == "INTERNAL"
    [entry] = [each for each in logs if each["log_level"] == "error"]
    assert entry["correlation_id"] == extensions["correlationId"]
    for fault in faults:
        assert fault in chain(entry["exc_info"])
    found: dict[str, Any] = error
    return found


# What the network does to a request is sent again, and then UNAVAILABLE: no fault of ours.
MET = [
    pytest.param(place, make, id=f"{where}-{what}")
    for where, place in PLACES.items()
    for what, make in FAULTS.items()
    if not (place.target is Transport and what in ("TimeoutError", "OSError"))
]


@pytest.mark.parametrize(("place", "make"), MET)
async def test_whatever_fails_and_wherever_the_client_learns_nothing_and_the_log_has_it(
    api: Api, monkeypatch: pytest.MonkeyPatch, place: Place, make: Callable[[], Exception]
) -> None:
    fault = make()
    break_at(monkeypatch, place, fault)
    if place is OUTSIDE["the errors"]:
        break_at(monkeypatch, PLACES["a resolver of the root"], Odd(TELLING))
    with capture_logs() as logs:
        response = await api.post(place.query)
    error = masked(response, logs, fault)
    if place.path is None:
        assert response.status_code == 500
    elif not isinstance(fault, Silent):  # Over which GraphQL itself stumbles.
        assert response.status_code == 200
        assert error["path"] == list(place.path)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
async def test_a_cancellation_is_never_swallowed(
    api: Api, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    break_at(monkeypatch, place, asyncio.CancelledError())
    if place is OUTSIDE["the errors"]:
        break_at(monkeypatch, PLACES["a resolver of the root"], Odd(TELLING))
    with pytest.raises(asyncio.CancelledError):
        await api.post(place.query)


@pytest.mark.parametrize("place", INSIDE.values(), ids=INSIDE.keys())
async def test_what_the_planner_says_on_purpose_stays_readable_inside_an_operation(
    api: Api, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    break_at(monkeypatch, place, LimitExceeded("too much at once"))
    with capture_logs() as logs:
        response = await api.post(place.query)
    [error] = response.json()["errors"]
    assert (error["message"], error["extensions"]) == (
        "too much at once",
        {"code": "LIMIT_EXCEEDED"},
    )
    assert [each for each in logs if each["log_level"] == "error"] == []


@pytest.mark.parametrize("place", OUTSIDE.values(), ids=OUTSIDE.keys())
async def test_what_the_planner_says_on_purpose_stays_readable_outside_of_an_operation(
    api: Api, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    break_at(monkeypatch, place, Unavailable("not now"))
    if place is OUTSIDE["the errors"]:
        break_at(monkeypatch, PLACES["a resolver of the root"], Odd(TELLING))
    response = await api.post(place.query)
    [error] = response.json()["errors"]
    assert (response.status_code, error["message"]) == (503, "not now")
    assert error["extensions"] == {"code": "UNAVAILABLE"}


class Value:
    """A value that a field can't have; its text tells what it is."""

    def __repr__(self) -> str:
        return f"<Odd {TELLING}>"


VALUES: dict[str, tuple[type, str, str, Any]] = {
    "an object for an Int": (TeamNode, "version", "{ team { version } }", Value()),
    "half an Int": (TeamNode, "version", "{ team { version } }", Decimal("12345678.5")),
    "too large an Int": (TeamNode, "version", "{ team { version } }", 1234567800000),
    "text for an Int": (TeamNode, "version", "{ team { version } }", TELLING),
    "a dict for a String": (TeamNode, "name", "{ team { name } }", {"key": TELLING}),
    "null for a String!": (TeamNode, "name", "{ team { name } }", None),
    "an object for a list": (TeamNode, "resources", LISTS, Value()),
    "objects of no type": (TeamNode, "resources", LISTS, [Value()]),
    "null in a list": (TeamNode, "resources", LISTS, [None]),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
async def test_a_value_that_a_field_can_not_have_is_a_fault_of_ours(
    api: Api, monkeypatch: pytest.MonkeyPatch, value: tuple[type, str, str, Any]
) -> None:
    type, name, query, wrong = value
    monkeypatch.setattr(type, name, wrong)
    with capture_logs() as logs:
        response = await api.post(query)
    masked(response, logs)
    assert response.status_code == 200


async def test_a_node_of_no_known_type_is_a_fault_of_ours(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nodes(*_: Any) -> list[Any]:
        return [Value()]

    monkeypatch.setattr(reads, "nodes", nodes)
    with capture_logs() as logs:
        response = await api.post(NODE)
    masked(response, logs)


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_an_answer_that_can_not_be_encoded_is_a_fault_of_ours(
    api: Api, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    monkeypatch.setattr(RequestContext, "warnings", [Value()])
    api.headers["Accept"] = accept
    with capture_logs() as logs:
        response = await api.post("{ team { name } }")
    masked(response, logs)
    assert response.status_code == 500
    assert response.headers["content-type"] == f"{accept}; charset=utf-8"


async def test_every_failure_of_one_answer_is_in_the_log_under_its_correlation_id(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_at(monkeypatch, PLACES["a resolver of the root"], Odd(TELLING))
    break_at(monkeypatch, PLACES["a resolver that does not wait"], KeyError(TELLING))
    with capture_logs() as logs:
        answers = [(await api.run("{ team { id } }")), (await api.run("{ viewer { role } }"))]
    given = [each["errors"][0]["extensions"]["correlationId"] for each in answers]
    errors = [each for each in logs if each["log_level"] == "error"]
    assert [entry["correlation_id"] for entry in errors] == given
    assert len({*given}) == 2


SCALARS = {
    "variable": ("query($d: Date) { team { assignments(from: $d) { id } } }", {"d": "2024-01-01"}),
    "literal": ('{ team { assignments(from: "2024-01-01") { id } } }', {}),
}


@pytest.mark.parametrize("make", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("sent", SCALARS.values(), ids=SCALARS.keys())
async def test_a_scalar_that_falls_over_a_value_tells_nothing_of_its_inside(
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], Exception],
    sent: tuple[str, dict[str, Any]],
) -> None:
    fault = make()
    query, variables = sent
    for name in ("parse_value", "coerce_input_value", "parse_literal", "coerce_input_literal"):
        break_at(monkeypatch, Place(TYPES["Date"], name), fault)
    with capture_logs() as logs:
        # A comment, so that this document was never read before.
        response = await api.post(f"{query} # {uuid.uuid4()}", variables)
    if isinstance(fault, GraphQLError):
        pass  # By which a scalar says on purpose what is wrong with a value.
    elif isinstance(fault, ValueError):
        assert not TELLTALE.search(response.text), response.text
        [error] = response.json()["errors"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
    else:
        masked(response, logs, *([] if isinstance(fault, Silent) else [fault]))
        assert response.status_code == 500


async def test_a_number_that_python_can_not_print_is_the_clients_and_said_in_our_words(
    api: Api,
) -> None:
    input = f'{{id: "x", days: {"1" * 5_000}}}'
    answer = await api.run(f"mutation {{ shiftProject(input: {input}) {{ isDone }} }}")
    [error] = answer["errors"]
    assert error["message"] == "a value can't be read"
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": ["input", "days"]}
