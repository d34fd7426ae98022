"""What the log says of each request: one line, what it cost, and nothing that a user wrote."""

import hashlib
from collections.abc import Iterator, MutableMapping
from typing import Any

import httpx
import pytest
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

import resolvers.owner_writes
import server.telemetry
from data.errors import Unavailable
from data.expressions import s
from data.store import Store
from resolvers.context import RequestContext
from server.telemetry import OperationLine, RefusedLine
from tests.api.http import GRAPHQL, JSON, QUERY
from tests.api.samples import assignment, resource
from tests.api_client import Api, put

pytestmark = pytest.mark.engines("local")

Lines = list[MutableMapping[str, Any]]
SECRET = "not for the log"
NAMED = "query Timeline { team { name } }"
CREATE = "mutation Add($name: String!) { createResource(input: {name: $name}) { %s } }"
UPDATE = """mutation Change($id: ID!) {
  updateResource(input: {id: $id, name: "x", expectedVersion: 9}) { %s }
}"""


@pytest.fixture
def lines() -> Iterator[Lines]:
    with capture_logs(processors=[merge_contextvars]) as captured:
        yield captured


def of(lines: Lines, event: str = "operation") -> MutableMapping[str, Any]:
    """The one line with this event."""
    [line] = [each for each in lines if each["event"] == event]
    return line


def test_the_hash_of_a_team_can_be_computed_by_an_operator() -> None:
    # printf %s acme | sha256sum | cut -c1-12
    assert hashlib.sha256(b"acme").hexdigest()[:12] == "822b33ad87c1"


async def test_a_query_is_one_line_with_its_cost(api: Api, store: Store, lines: Lines) -> None:
    await put(store, api.team, [resource("r1")])
    lines.clear()
    response = await api.post(NAMED)
    [line] = lines
    duration, units = line.pop("duration_ms"), line.pop("read_units")
    assert line == {
        "event": "operation",
        "log_level": "info",
        "operation": "Timeline",
        "type": "query",
        "team": hashlib.sha256(api.team.encode()).hexdigest()[:12],
        "outcome": "ok",
        "codes": [],
        "status": 200,
        "requests": 1,
        "pages": 1,
        "retries": 0,
        "write_units": 0.0,
        "items_skipped": 0,
        "correlation_id": response.headers["X-Correlation-Id"],
    }
    assert duration > 0
    assert units >= 0
    assert {*line, "duration_ms", "read_units"} - {"event", "log_level"} == {
        *OperationLine.__required_keys__
    }


async def test_a_mutation_counts_what_it_sent(api: Api, lines: Lines) -> None:
    await api.data(CREATE % "resource { id }", name="Ada")
    line = of(lines)
    assert (line["operation"], line["type"], line["outcome"]) == ("Add", "mutation", "ok")
    assert (line["requests"], line["pages"]) == (1, 0)


async def test_units_are_those_that_dynamodb_reports(api: Api, lines: Lines) -> None:
    """moto reports no capacity that means anything; this module is on DynamoDB Local."""
    await api.data(CREATE % "resource { id }", name="Ada")
    await api.data("{ team { resources { name } } }")
    created, read = [each for each in lines if each["event"] == "operation"]
    # An item below 1 kB on the table and on two indexes; a strongly consistent read below 4 kB.
    assert created["write_units"] >= 1
    assert created["read_units"] == 0
    assert (read["read_units"], read["write_units"]) == (1.0, 0.0)


async def test_an_operation_without_a_name_is_anonymous(api: Api, lines: Lines) -> None:
    await api.data(QUERY)
    assert of(lines)["operation"] == "anonymous"


async def test_a_name_is_cut_to_a_hundred_characters(api: Api, lines: Lines) -> None:
    await api.data(f"query {'n' * 5_000} {{ team {{ name }} }}")
    assert of(lines)["operation"] == "n" * 100


@pytest.mark.parametrize("selection", ["resource { id }", "e: errors { m: message }", "__typename"])
async def test_a_refused_write_is_refused_whatever_the_payload_selects(
    api: Api, lines: Lines, selection: str
) -> None:
    await api.data(CREATE % selection, name=" ")
    line = of(lines)
    assert (line["outcome"], line["codes"], line["status"]) == ("refused", ["INVALID"], 200)


async def test_every_code_of_a_document_is_there_once_in_order(api: Api, lines: Lines) -> None:
    id = await api.resource()
    lines.clear()
    blank = 'createResource(input: {name: ""}) { errors { code } }'
    stale = f'updateResource(input: {{id: "{id}", name: "x", expectedVersion: 9}}) {{ __typename }}'
    await api.data(f"mutation {{ a: {blank} b: {stale} c: {blank} }}")
    line = of(lines)
    assert (line["outcome"], line["codes"]) == ("refused", ["CONFLICT", "INVALID"])


async def test_an_operation_without_data_is_an_error(api: Api, lines: Lines) -> None:
    answer = await api.run('{ team { assignments(from: "2024-02-02", to: "2024-01-01") { id } } }')
    assert answer["data"] is None
    line = of(lines)
    assert (line["outcome"], line["codes"]) == ("error", ["BAD_USER_INPUT"])
    assert line["requests"] == 0


async def test_an_operation_with_some_data_is_partial(
    api: Api, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = resolvers.owner_writes.create_resource

    async def fails_for_eve(context: RequestContext, **input: Any) -> Any:
        if input["name"] == "Eve":
            raise Unavailable("the store is busy; try again")
        return await create(context, **input)

    monkeypatch.setattr(resolvers.owner_writes, "create_resource", fails_for_eve)
    answer = await api.run(
        """mutation Two { a: createResource(input: {name: "Ada"}) { resource { name } }
        b: createResource(input: {name: "Eve"}) { resource { name } } }"""
    )
    assert answer["data"] == {"a": {"resource": {"name": "Ada"}}, "b": None}
    line = of(lines)
    assert (line["outcome"], line["codes"]) == ("partial", ["UNAVAILABLE"])


@pytest.mark.parametrize(
    "document", ["query Broken {", "query Broken { team { nothing } }", "# nothing"]
)
async def test_a_document_that_is_not_valid_has_no_name_and_no_type(
    api: Api, lines: Lines, document: str
) -> None:
    await api.run(document)
    line = of(lines)
    assert (line["operation"], line["type"]) == ("unknown", "unknown")
    assert (line["outcome"], line["codes"]) == ("invalid", ["BAD_USER_INPUT"])


async def test_variables_that_are_not_valid_leave_the_operation_known(
    api: Api, lines: Lines
) -> None:
    await api.run(CREATE % "__typename", name=7)
    line = of(lines)
    assert (line["operation"], line["type"], line["outcome"]) == ("Add", "mutation", "invalid")


async def test_items_that_were_skipped_are_counted_and_found_by_the_correlation_id(
    api: Api, store: Store, lines: Lines
) -> None:
    holiday = {"sk": s("RES#h"), "EntityType": s("Holiday")}
    await put(store, api.team, [holiday, assignment("2024-01-10", id="a", resource="r")])
    lines.clear()
    await api.data("{ team { resources { id } } }")
    line = of(lines)
    assert (line["outcome"], line["items_skipped"]) == ("ok", 1)
    assert of(lines, "item skipped")["correlation_id"] == line["correlation_id"]


async def test_a_masked_error_leads_to_its_lines(
    api: Api, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(context: RequestContext, **_: Any) -> Any:
        raise RuntimeError("arn:aws:dynamodb:secret")

    monkeypatch.setattr(resolvers.owner_writes, "create_resource", fails)
    response = await api.post(CREATE % "resource { id }", {"name": "Ada"})
    [error] = response.json()["errors"]
    line = of(lines)
    assert (line["outcome"], line["codes"]) == ("error", ["INTERNAL"])
    ids = {
        error["extensions"]["correlationId"],
        response.headers["X-Correlation-Id"],
        line["correlation_id"],
        of(lines, "operation failed")["correlation_id"],
    }
    assert len(ids) == 1
    assert "arn" not in str(line)


async def test_an_exception_that_no_answer_came_of_is_an_error_too(
    api: Api, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("secret")

    monkeypatch.setattr("server.operations.carry_out", fails)
    response = await api.post(NAMED)
    assert response.status_code == 500
    line = of(lines)
    assert (line["outcome"], line["codes"], line["status"]) == ("error", ["INTERNAL"], 500)
    [error] = response.json()["errors"]
    assert error["extensions"]["correlationId"] == line["correlation_id"]
    assert of(lines, "request failed")["correlation_id"] == line["correlation_id"]


REFUSED: list[tuple[int, str, dict[str, Any]]] = [
    (401, "UNAUTHENTICATED", {"headers": {"Cookie": "", "Authorization": f"Bearer {SECRET}"}}),
    (415, "BAD_USER_INPUT", {"headers": {"Content-Type": "text/plain"}, "content": SECRET}),
    (400, "BAD_USER_INPUT", {"content": SECRET}),
    (405, "BAD_USER_INPUT", {"method": "PUT", "content": SECRET}),
    (406, "BAD_USER_INPUT", {"headers": {"Accept": "text/css"}, "content": SECRET}),
    (413, "BAD_USER_INPUT", {"content": SECRET * 100_000}),
]


@pytest.mark.parametrize(("status", "code", "sent"), REFUSED, ids=lambda each: str(each)[:30])
async def test_a_request_that_is_no_operation_is_one_line_without_its_content(
    api: Api, lines: Lines, status: int, code: str, sent: dict[str, Any]
) -> None:
    headers = {**api.headers, "Content-Type": JSON, **sent.get("headers", {})}
    response = await api.http.request(
        sent.get("method", "POST"), "/graphql", headers=headers, content=sent.get("content", "")
    )
    assert response.status_code == status
    [line] = lines
    assert line == {
        "event": "request refused",
        "log_level": "info",
        "status": status,
        "code": code,
        "correlation_id": response.headers["X-Correlation-Id"],
    }
    assert line.keys() - {"event", "log_level"} == {*RefusedLine.__required_keys__}
    assert SECRET not in str(lines)


async def test_a_mutation_by_get_is_refused_before_it_is_an_operation(
    api: Api, http: httpx.AsyncClient, lines: Lines
) -> None:
    document = 'mutation Add { createResource(input: {name: "x"}) { __typename } }'
    await http.get("/graphql", params={"query": document}, headers=api.headers)
    assert of(lines, "request refused")["status"] == 405


async def test_each_request_has_a_correlation_id_of_its_own(api: Api) -> None:
    ids = {(await api.post(QUERY)).headers["X-Correlation-Id"] for _ in range(3)}
    assert len(ids) == 3


async def test_no_value_of_a_user_reaches_the_log(api: Api, lines: Lines) -> None:
    ids = [await api.resource(SECRET), await api.project(SECRET)]
    await api.data(CREATE % "resource { name }", name=SECRET)
    await api.run(f'query Find {{ node(id: "{SECRET}") {{ id }} }}')
    await api.run(f"{{ team {{ name }} }} # {SECRET}")
    await api.run(CREATE % "nothing", name=SECRET)
    await api.run(UPDATE % "errors { message }", id=SECRET)
    headers = {**api.headers, "Accept": GRAPHQL}
    await api.http.get("/graphql", params={"query": f"{{ {SECRET} }}"}, headers=headers)
    assert len(lines) >= 7
    said = str(lines)
    assert not [each for each in (SECRET, api.team, *ids, "user-1") if each in said]


def test_what_is_remembered_of_teams_is_bounded() -> None:
    assert server.telemetry._pseudonym.cache_parameters()["maxsize"] == 10_000
