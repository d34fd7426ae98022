"""What requests cost: every one that is sent counts, and what DynamoDB reports of it."""

from typing import Any

import pytest

from data.errors import Unavailable
from data.expressions import Expression, KeyQuery, s
from data.guards import IS_NEW
from data.metering import Consumption, Meter, Operation, consumption
from data.store import ConditionFailed
from data.transactions import Put
from tests.unit.data.scripted_client import ITEM, KEY, Client, failure, store_of

TABLE = {"TableName": "planner"}
QUERY = KeyQuery("#pk = :pk", {":pk": s("TEAM#t1")})
THROTTLED = failure("ThrottlingException")
REFUSED = failure("ConditionalCheckFailedException")
COST = {"ConsumedCapacity": {**TABLE, "CapacityUnits": 2.5}}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)


@pytest.mark.parametrize(
    ("operation", "reported", "expected"),
    [
        ("Query", {**TABLE, "CapacityUnits": 1.5}, Consumption(1.5, 0.0)),
        ("GetItem", {**TABLE, "CapacityUnits": 1.0}, Consumption(1.0, 0.0)),
        ("PutItem", {**TABLE, "CapacityUnits": 3.0}, Consumption(0.0, 3.0)),
        ("UpdateItem", {**TABLE, "CapacityUnits": 3.0}, Consumption(0.0, 3.0)),
        ("DeleteItem", {**TABLE, "CapacityUnits": 3.0}, Consumption(0.0, 3.0)),
        (
            "TransactWriteItems",
            [{**TABLE, "CapacityUnits": 6.0, "WriteCapacityUnits": 6.0}],
            Consumption(0.0, 6.0),
        ),
        # Sent again with its token, a transaction only reads.
        (
            "TransactWriteItems",
            [{**TABLE, "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}],
            Consumption(4.0, 0.0),
        ),
        ("TransactWriteItems", [{**TABLE, "CapacityUnits": 6.0}], Consumption(0.0, 6.0)),
        (
            "TransactWriteItems",
            [{"CapacityUnits": 1.0}, {"CapacityUnits": 2.0}],
            Consumption(0.0, 3.0),
        ),
        ("Query", TABLE, Consumption()),
        ("TransactWriteItems", [], Consumption()),
        ("Query", None, Consumption()),
    ],
)
def test_units_are_read_or_written_as_the_operation_does(
    operation: Operation, reported: Any, expected: Consumption
) -> None:
    assert consumption(operation, {"ConsumedCapacity": reported}) == expected


def test_an_engine_that_reports_nothing_costs_nothing() -> None:
    assert consumption("Query", {}) == Consumption(0.0, 0.0)


async def test_every_operation_is_counted_by_its_name() -> None:
    store = store_of(Client({"Items": [], **COST}))
    await store.query(QUERY)
    await store.get(KEY)
    await store.put(ITEM, IS_NEW)
    await store.delete(KEY, IS_NEW)
    await store.update(KEY, Expression("SET #a = :a", {":a": s("x")}), IS_NEW)
    await store.transact([Put(ITEM, IS_NEW)], token="t")
    assert store.meter == Meter(
        requests=store.meter.requests, pages=1, retries=0, read_units=5.0, write_units=10.0
    )
    assert store.meter.requests == dict.fromkeys(
        ("Query", "GetItem", "PutItem", "DeleteItem", "UpdateItem", "TransactWriteItems"), 1
    )


async def test_each_page_is_a_request_and_a_page() -> None:
    last = {"Items": [ITEM], **COST}
    store = store_of(Client({**last, "LastEvaluatedKey": KEY}, last))
    await store.query(QUERY)
    assert (store.meter.requests, store.meter.pages) == ({"Query": 2}, 2)
    assert store.meter.read_units == 5.0


async def test_what_is_sent_again_is_a_request_and_a_retry() -> None:
    store = store_of(Client(THROTTLED, THROTTLED, {"Items": []}))
    await store.query(QUERY)
    assert store.meter == Meter(requests=store.meter.requests, pages=1, retries=2)
    assert store.meter.requests == {"Query": 3}


@pytest.mark.parametrize(
    ("trouble", "raised", "sent"), [(THROTTLED, Unavailable, 6), (REFUSED, ConditionFailed, 1)]
)
async def test_what_fails_in_the_end_was_sent_all_the_same(
    trouble: Exception, raised: type[Exception], sent: int
) -> None:
    store = store_of(Client(trouble))
    with pytest.raises(raised):
        await store.put(ITEM, IS_NEW)
    assert store.meter == Meter(requests=store.meter.requests, retries=sent - 1)
    assert store.meter.requests == {"PutItem": sent}


async def test_a_metered_view_counts_for_itself_and_for_the_process() -> None:
    store = store_of(Client({"Items": [], **COST}))
    first, second = Meter(), Meter()
    await store.metered(first).query(QUERY)
    await store.metered(second).get(KEY)
    await store.get(KEY)
    assert (first.requests, first.read_units) == ({"Query": 1}, 2.5)
    assert (second.requests, second.read_units) == ({"GetItem": 1}, 2.5)
    assert (store.meter.requests, store.meter.read_units) == ({"Query": 1, "GetItem": 2}, 7.5)
