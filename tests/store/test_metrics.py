"""The page of metrics: who may see it, what it counts, and that clients can't make it grow."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from structlog.testing import capture_logs

from data.administration import create_table
from data.expressions import s
from server.metrics import MAX_OPERATION_NAMES
from tests.store.stub import Conduct, Failure, Planner, Stub, planner, running_stub
from tests.store.test_lifetime import unfinished

QUERY = "query Timeline { team { resources { id } } }"
CREATE = 'mutation Add { createResource(input: {name: "%s"}) { resource { id } } }'
TOKEN = "a token for the scraper"


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with running_stub() as stub:
        yield stub


@pytest.fixture
async def running(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Planner]:
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)
    async with planner(stub.url, metrics=True) as running:
        yield running


Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def samples(running: Planner) -> Samples:
    page = (await running.http.get("/metrics")).text
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float | None:
    return found.get((f"planner_{name}", frozenset(labels.items())))


# Who may see it


async def test_the_page_is_not_there_unless_it_is_asked_for(stub: Stub) -> None:
    async with planner(stub.url) as running:
        assert (await running.http.get("/metrics")).status_code == 404


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (None, 401),
        ("Bearer", 401),
        (f"Bearer {TOKEN}x", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
    ],
)
async def test_with_a_token_only_those_who_have_it_are_answered(
    stub: Stub, sent: str | None, status: int
) -> None:
    async with planner(stub.url, metrics=True, metrics_token=SecretStr(TOKEN)) as running:
        headers = {"Authorization": sent} if sent else {}
        response = await running.http.get("/metrics", headers=headers)
        assert response.status_code == status
        assert ("planner_operations" in response.text) == (status == 200)
        assert response.headers.get("www-authenticate") == (None if status == 200 else "Bearer")


async def test_the_format_is_the_one_that_the_scraper_prefers(running: Planner) -> None:
    plain = await running.http.get("/metrics")
    assert plain.headers["content-type"].startswith("text/plain; version=")
    headers = {"Accept": "application/openmetrics-text; version=1.0.0"}
    open_metrics = await running.http.get("/metrics", headers=headers)
    assert open_metrics.headers["content-type"].startswith("application/openmetrics-text")
    assert open_metrics.text.endswith("# EOF\n")


# What it counts


async def test_operations_are_counted_with_what_they_sent(stub: Stub, running: Planner) -> None:
    stub.conduct["busy"] = Conduct(failure=Failure.THROTTLED, failures=2)
    holiday = {"pk": s("TEAM#t"), "sk": s("RES#h"), "EntityType": s("Holiday")}
    stub.conduct["t"] = Conduct(pages=3, items=(holiday,))
    await running.api("busy").data(QUERY)
    await running.api("t").data(QUERY)
    await running.api("t").data(CREATE % "Ada")
    await running.api("t").data(CREATE % " ")
    await running.api("t").run("{ nothing }")
    await running.http.post("/graphql", content="{}")
    found = await samples(running)
    timeline = {"operation": "Timeline", "type": "query"}
    add = {"operation": "Add", "type": "mutation"}
    unknown = {"operation": "unknown", "type": "unknown"}
    assert value(found, "operations_total", **timeline, outcome="ok") == 2
    assert value(found, "operations_total", **add, outcome="ok") == 1
    assert value(found, "operations_total", **add, outcome="refused") == 1
    assert value(found, "operations_total", **unknown, outcome="invalid") == 1
    assert value(found, "operation_errors_total", code="INVALID") == 1
    assert value(found, "operation_errors_total", code="BAD_USER_INPUT") == 1
    assert value(found, "operation_duration_seconds_count", **timeline) == 2
    assert value(found, "operations_in_progress") == 0
    assert value(found, "dynamodb_requests_total", operation="Query") == 6
    assert value(found, "dynamodb_requests_total", operation="PutItem") == 1
    assert value(found, "dynamodb_retries_total") == 2
    ok = {"operation": "Timeline", "outcome": "ok"}
    assert value(found, "operation_dynamodb_requests_total", **ok) == 6
    assert value(found, "operation_dynamodb_retries_total", **ok) == 2
    assert value(found, "dynamodb_pages_total") == 4
    assert value(found, "items_skipped_total", code="UNKNOWN_ENTITY_TYPE") == 3
    assert value(found, "requests_refused_total", status="401", code="UNAUTHENTICATED") == 1
    assert not [name for name, _ in found if name.endswith("_created")]


async def test_units_of_a_real_engine_are_added_up(engine: str) -> None:
    async with planner(engine, metrics=True, table="planner-metered") as running:
        await create_table(running.store)
        api = running.api("team")
        await api.data(CREATE % "Ada")
        await api.data(QUERY)
        found = await samples(running)
        assert value(found, "dynamodb_read_units_total") == 1.0
        assert (value(found, "dynamodb_write_units_total") or 0) >= 1.0


async def test_what_is_under_way_is_in_progress(stub: Stub, running: Planner) -> None:
    gate = asyncio.Event()
    stub.conduct["slow"] = Conduct(gate=gate)
    asking = asyncio.create_task(running.api("slow").data(QUERY))
    await stub.arrived("slow")
    assert value(await samples(running), "operations_in_progress") == 1
    gate.set()
    await asking
    assert value(await samples(running), "operations_in_progress") == 0


async def test_large_reads_under_way_and_in_line_are_counted(running: Planner) -> None:
    seats = running.store.seats
    under_way = [seats.seat(f"team {number}") for number in range(seats.count)]
    for seat in under_way:
        await seat.take()
    in_line = [asyncio.create_task(seats.seat("late").take()) for _ in range(3)]
    await asyncio.sleep(0)
    found = await samples(running)
    assert value(found, "large_reads_in_progress") == len(under_way) == 2
    assert value(found, "large_reads_waiting") == 3
    for task in in_line:
        task.cancel()
    for seat in under_way:
        seat.leave()
    found = await samples(running)
    assert value(found, "large_reads_in_progress") == value(found, "large_reads_waiting") == 0


async def test_an_operation_that_a_stopping_server_gives_up_is_an_error_of_ours(
    stub: Stub, running: Planner
) -> None:
    stub.conduct["slow"] = Conduct(gate=asyncio.Event())
    with capture_logs() as logs:
        asking = asyncio.create_task(running.api("slow").data(QUERY))
        await stub.arrived("slow")
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
    [line] = logs
    assert (line["outcome"], line["status"], line["requests"]) == ("error", 503, 1)
    assert line["codes"] == ["UNAVAILABLE"]
    found = await samples(running)
    labels = {"operation": "Timeline", "type": "query", "outcome": "error"}
    assert value(found, "operations_total", **labels) == 1
    assert value(found, "operations_in_progress") == 0


async def test_deletions_in_the_background_are_counted(stub: Stub, running: Planner) -> None:
    gate = asyncio.Event()
    stub.conduct["team"] = Conduct(items=unfinished(), gate=gate, held_from=2)
    await running.api("team").data(QUERY)
    await stub.arrived("team", 2)
    assert value(await samples(running), "background_deletions_in_progress") == 1
    gate.set()
    await running.app.state.cascades.aclose()
    found = await samples(running)
    assert value(found, "background_deletions_in_progress") == 0
    assert value(found, "background_deletions_total", outcome="finished") == 1
    assert value(found, "background_deletions_total", outcome="failed") == 0
    assert value(found, "dynamodb_requests_total", operation="TransactWriteItems") == 1


async def test_a_deletion_that_fails_in_the_background_is_counted(
    stub: Stub, running: Planner
) -> None:
    conduct = stub.conduct["team"] = Conduct(items=unfinished())
    await running.api("team").data(QUERY)
    conduct.failure = Failure.THROTTLED
    await running.app.state.cascades.aclose()
    found = await samples(running)
    assert value(found, "background_deletions_total", outcome="failed") == 1


# That it does not grow


async def test_hundreds_of_names_are_no_hundreds_of_series(stub: Stub, running: Planner) -> None:
    api = running.api("team")
    for number in range(300):
        await api.data(f"query Name{number} {{ team {{ __typename }} }}")
    await api.data("query Name7 { team { __typename } }")
    operations = {
        dict(labels)["operation"]: count
        for (name, labels), count in (await samples(running)).items()
        if name == "planner_operations_total"
    }
    assert len(operations) == MAX_OPERATION_NAMES + 1
    assert operations["Name7"] == 2, "a name that is known stays known"
    assert operations["other"] == 300 - MAX_OPERATION_NAMES


async def test_names_of_documents_that_are_not_valid_take_no_place(running: Planner) -> None:
    for number in range(MAX_OPERATION_NAMES + 10):
        await running.api("team").run(f"query Bad{number} {{ nothing }}")
    await running.api("team").data(QUERY)
    names = {dict(labels).get("operation") for _, labels in await samples(running)}
    assert {"unknown", "Timeline"} <= names
    assert not names & {"Bad0", "other"}


async def test_each_application_has_a_registry_of_its_own(stub: Stub, running: Planner) -> None:
    await running.api("team").data(QUERY)
    async with planner(stub.url, metrics=True) as other:
        labels = {"operation": "Timeline", "type": "query", "outcome": "ok"}
        assert value(await samples(other), "operations_total", **labels) is None
        assert value(await samples(running), "operations_total", **labels) == 1
    assert not [each.name for each in REGISTRY.collect() if each.name.startswith("planner")]
