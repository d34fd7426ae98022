"""Spans nest: the request, its operation, what that sends; and they say nothing of a user's."""

import json
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import cast
from unittest.mock import ANY
from urllib.parse import urlsplit

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from pydantic import ValidationError

import server.settings
from data.administration import create_table
from server.settings import Settings
from tests.api_client import Api
from tests.docs.documents import ROOT
from tests.store.stub import Conduct, Failure, Planner, planner, running_stub

QUERY = "query Timeline { team { resources { name } } }"
CREATE = 'mutation Add { createResource(input: {name: "%s"}) { resource { id name } } }'
ADD = 'mutation { createResource(input: {name: "Ada"}) { resource { id } } }'
FEED = "mutation($id: ID!) { createCalendarFeed(input: {subjectId: $id}) { path } }"
SECRET = "not for a span"
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Where spans go in place of a collector."""
    exporter = InMemorySpanExporter()
    monkeypatch.setattr("server.tracing.OTLPSpanExporter", lambda: exporter)
    return exporter


@pytest.fixture
async def table(engine: str) -> AsyncIterator[str]:
    """A table that was made before anything is traced."""
    async with planner(engine, table="planner-traced") as running:
        await create_table(running.store)
        yield engine


class Traced:
    """What was exported once the application has ended: a span is sent no later."""

    def __init__(self, engine: str, exporter: InMemorySpanExporter) -> None:
        self._life = planner(engine, table="planner-traced", tracing=True)
        self._exporter = exporter
        self.spans: list[ReadableSpan] = []

    async def __aenter__(self) -> Planner:
        return await self._life.__aenter__()

    async def __aexit__(self, *_: object) -> None:
        await self._life.__aexit__(None, None, None)
        self.spans = list(self._exporter.get_finished_spans())

    def named(self, name: str) -> ReadableSpan:
        [span] = [each for each in self.spans if each.name == name]
        return span

    def assert_nested(self, *names: str) -> None:
        """Each span is the parent of the next, and there are no others."""
        assert sorted(each.name for each in self.spans) == sorted(names)
        for above, below in pairwise(names):
            parent = self.named(below).parent
            assert parent is not None
            assert parent.span_id == self.named(above).context.span_id


@pytest.fixture
def traced(table: str, exported: InMemorySpanExporter) -> Traced:
    return Traced(table, exported)


async def test_a_query_is_a_span_between_its_request_and_its_read(traced: Traced) -> None:
    async with traced as running:
        await running.api("team").data(QUERY)
    traced.assert_nested("POST /graphql", "query Timeline", "DynamoDB.Query")
    request, operation = traced.named("POST /graphql"), traced.named("query Timeline")
    assert request.parent is None
    assert request.kind is SpanKind.SERVER
    attributes = dict(operation.attributes or {})
    assert len(str(attributes.pop("planner.correlation_id"))) == 32
    assert attributes == {
        "graphql.operation.name": "Timeline",
        "graphql.operation.type": "query",
        "planner.outcome": "ok",
    }


async def test_the_span_of_a_calendar_has_its_route_and_not_its_address(traced: Traced) -> None:
    async with traced as running:
        subject = (await running.api("team").data(ADD))["createResource"]["resource"]["id"]
        path = (await running.api("team").data(FEED, id=subject))["createCalendarFeed"]["path"]
        assert (await running.http.get(path, params={"q": SECRET})).status_code == 200
    request = traced.named("GET /calendar/{token}.ics")
    below = [each for each in traced.spans if each.context.trace_id == request.context.trace_id]
    names = ["DynamoDB.GetItem", "DynamoDB.Query", "DynamoDB.Query", request.name]
    assert sorted(each.name for each in below) == names
    said = "".join(each.to_json() for each in traced.spans)
    assert path.removeprefix("/calendar/").removesuffix(".ics") not in said
    assert SECRET not in said


async def test_a_request_to_the_table_is_a_span_by_the_conventions_for_dynamodb(
    traced: Traced, table: str
) -> None:
    async with traced as running:
        await running.api("team").data(QUERY)
    span = traced.named("DynamoDB.Query")
    assert span.kind is SpanKind.CLIENT
    assert span.status.status_code is StatusCode.UNSET
    attributes = dict(span.attributes or {})
    assert len(str(attributes.pop("aws.request_id"))) > 20
    [cost] = cast("tuple[str, ...]", attributes.pop("aws.dynamodb.consumed_capacity"))
    assert json.loads(cost) == {"TableName": "planner-traced", "CapacityUnits": ANY}
    where = urlsplit(table)
    assert attributes == {
        "rpc.system": "aws-api",
        "rpc.service": "DynamoDB",
        "rpc.method": "Query",
        "db.system.name": "aws.dynamodb",
        "aws.dynamodb.table_names": ("planner-traced",),
        "cloud.region": "us-east-1",
        "server.address": where.hostname,
        "server.port": where.port,
        "http.response.status_code": 200,
    }


async def test_an_error_of_the_table_is_one_of_the_span_by_its_code_alone(traced: Traced) -> None:
    async with traced as running:
        api, id = running.api("team"), str(uuid.uuid4())
        for name in ("Ada", "Eve"):
            await api.mutate("createResource", "errors { code }", id=id, name=name)
    spans = [each for each in traced.spans if each.name == "DynamoDB.PutItem"]
    assert [each.status.status_code for each in spans] == [StatusCode.UNSET, StatusCode.ERROR]
    attributes = spans[1].attributes or {}
    assert attributes["error.type"] == "ConditionalCheckFailedException"
    assert attributes["http.response.status_code"] == 400
    assert spans[1].status.description is None
    assert list(spans[1].events) == []


async def test_every_attempt_is_a_span_of_its_own_and_a_lost_one_says_how(
    exported: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)
    async with running_stub() as stub:
        stub.conduct["team"] = Conduct(Failure.RESET, failures=1)
        traced = Traced(stub.url, exported)
        async with traced as running:
            await running.api("team").data(QUERY)
    lost, answered = (each for each in traced.spans if each.name == "DynamoDB.Query")
    assert lost.status.status_code is StatusCode.ERROR
    assert (lost.attributes or {})["error.type"] == "ConnectionClosedError"
    assert "http.response.status_code" not in (lost.attributes or {})
    # The stub gives no id.
    assert "aws.request_id" not in (answered.attributes or {})
    assert "error.type" not in (answered.attributes or {})


async def test_a_mutation_is_a_span_between_its_request_and_its_write(traced: Traced) -> None:
    async with traced as running:
        await running.api("team").data(CREATE % "Ada")
    traced.assert_nested("POST /graphql", "mutation Add", "DynamoDB.PutItem")


async def test_a_trace_is_continued_and_leads_to_the_log(traced: Traced) -> None:
    async with traced as running:
        api = running.api("team")
        headers = {
            **api.headers,
            "Content-Type": "application/json",
            "traceparent": f"00-{TRACE}-{PARENT}-01",
        }
        body = json.dumps({"query": QUERY})
        response = await api.http.post("/graphql", content=body, headers=headers)
    request = traced.named("POST /graphql")
    assert request.parent is not None
    assert f"{request.parent.span_id:016x}" == PARENT
    assert {f"{each.context.trace_id:032x}" for each in traced.spans if each.context} == {TRACE}
    operation = traced.named("query Timeline").attributes or {}
    assert operation["planner.correlation_id"] == response.headers["X-Correlation-Id"]


async def test_only_faults_of_ours_are_errors_of_a_span(
    traced: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with traced as running:
        api = running.api("team")
        await api.data(CREATE % " ")
        monkeypatch.setattr(running.store, "table", "planner-gone")
        await api.run(QUERY)
    refused, failed = traced.named("mutation Add"), traced.named("query Timeline")
    assert (refused.attributes or {})["error.type"] == "INVALID"
    assert refused.status.status_code is StatusCode.UNSET
    assert (failed.attributes or {})["error.type"] == "INTERNAL"
    assert failed.status.status_code is StatusCode.ERROR


async def test_no_value_of_a_user_reaches_a_span(traced: Traced) -> None:
    async with traced as running:
        api: Api = running.api("team")
        answer = await api.data(CREATE % SECRET)
        id = answer["createResource"]["resource"]["id"]
        await api.data("query Find($id: ID!) { node(id: $id) { id } }", id=id)
        query = {"query": f'query ByGet {{ team {{ name }} node(id: "{SECRET}") {{ id }} }}'}
        response = await running.http.get("/graphql", params=query, headers=api.headers)
        assert response.json()["data"]["node"] is None, "the query string was read all the same"
    said = "\n".join(each.to_json() for each in traced.spans)
    assert "query ByGet" in said
    for secret in (SECRET, "not%20for", "not+for", "ByGet {", "node(", id, "TEAM#", "user-1"):
        assert secret not in said, secret


async def test_health_and_metrics_leave_no_spans(traced: Traced) -> None:
    async with traced as running:
        for path in ("/healthz", "/readyz", "/nowhere"):
            await running.http.get(path)
    assert traced.spans == []


async def test_an_application_beside_a_traced_one_leaves_no_spans(
    traced: Traced, table: str
) -> None:
    async with planner(table, table="planner-traced") as untraced, traced:
        await untraced.api("team").data(QUERY)
    assert traced.spans == []


# Off, and without its packages


def test_nothing_of_it_is_imported_while_it_is_off() -> None:
    script = """
import sys
from pydantic import SecretStr
from server.app import create_app
from server.settings import Settings
create_app(Settings(auth_secret=SecretStr("x" * 32)))
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_its_packages_the_setting_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLANNER_TRACING", "true")
    assert Settings().tracing
    monkeypatch.setattr(server.settings, "find_spec", lambda _: None)
    with pytest.raises(ValidationError, match=r"pip install '.\[tracing\]'"):
        Settings()
