"""Whether the table can be used: `/readyz` names the culprit, soon, and asks seldom."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from data.expressions import s
from data.store import Outage, Store
from server.health import MESSAGES
from tests.store.stub import Conduct, Failure, Planner, Stub, no_complaints, planner, running_stub

PROBE = ""
"""The probe, as the stub has it: a request about no team."""


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with running_stub() as stub:
        yield stub


@pytest.fixture
async def running(stub: Stub) -> AsyncIterator[Planner]:
    async with planner(stub.url) as running:
        yield running


async def test_a_table_that_answers_is_ready(engine: str, store: Store) -> None:
    async with planner(engine, table=store.table) as running:
        response = await running.http.get("/readyz")
        assert (response.status_code, response.json()) == (200, {"status": "ready"})
        assert response.headers["cache-control"] == "no-store"


async def test_a_table_that_is_missing_is_said_to_be_missing(engine: str) -> None:
    async with planner(engine, table="planner-nowhere") as running:
        response = await running.http.get("/readyz")
        assert response.status_code == 503
        assert response.json() == {
            "status": "unavailable",
            "reason": "table_missing",
            "message": "There is no such table; `planner table create` makes it.",
        }
        assert (await running.http.get("/healthz")).text == "ok"


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (Failure.THROTTLED, "throttled"),
        (Failure.ERROR_500, "failing"),
        (Failure.RESET, "unreachable"),
    ],
)
async def test_trouble_is_named_without_what_aws_says_of_it(
    stub: Stub, running: Planner, failure: Failure, reason: str
) -> None:
    stub.conduct[PROBE] = Conduct(failure=failure)
    response = await running.http.get("/readyz")
    assert (response.status_code, response.json()["reason"]) == (503, reason)
    assert "secret" not in response.text
    assert len(stub.received) == 1, "it is not sent again"


async def test_nobody_at_the_address_is_unreachable() -> None:
    async with planner("http://127.0.0.1:9") as running:
        response = await running.http.get("/readyz")
        assert response.json()["reason"] == "unreachable"


async def test_an_answer_that_does_not_come_is_slow_and_leaves_nothing_open(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.health._PATIENCE", 0.05)
    gate = asyncio.Event()
    stub.conduct[PROBE] = Conduct(gate=gate)
    with no_complaints():
        async with planner(stub.url) as running:
            response = await running.http.get("/readyz")
            assert (response.status_code, response.json()["reason"]) == (503, "slow")
            gate.set()
            await stub.idle()


async def test_many_that_ask_at_once_and_soon_after_share_one_request(
    stub: Stub, running: Planner
) -> None:
    answers = await asyncio.gather(*(running.http.get("/readyz") for _ in range(20)))
    answers.append(await running.http.get("/readyz"))
    assert {answer.status_code for answer in answers} == {200}
    assert [received.operation for received in stub.received] == ["GetItem"]


async def test_the_probe_is_about_no_item_that_there_could_be(stub: Stub, running: Planner) -> None:
    await running.http.get("/readyz")
    [probe] = stub.received
    assert probe.body["Key"] == {"pk": s("TEAM##"), "sk": s("READY")}
    assert probe.body["ConsistentRead"] is True


def test_every_reason_has_a_message_without_an_address() -> None:
    assert MESSAGES.keys() == set(Outage)
    assert not [each for each in MESSAGES.values() if "arn" in each or "http" in each]
