"""The one client: which failures pass, how often a request is sent, and what a page is."""

from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ProxyConnectionError,
    ReadTimeoutError,
    SSLError,
)

import data.patience
import data.sending
from data.errors import LimitExceeded, Unavailable
from data.expressions import Expression, Item, KeyQuery, n, s
from data.guards import IS_NEW
from data.metering import Meter
from data.store import CancellationReason, ConditionFailed, RetryPolicy, Store, TransactionCanceled
from data.transactions import Action, Delete, Put, to_request
from tests.unit.data.scripted_client import ENDPOINT, ITEM, KEY, Client, failure, store_of

ATTEMPTS = 6


def canceled(*codes: str, item: Item | None = None) -> ClientError:
    reasons = [
        {"Code": code} | ({"Item": item} if item and code == "ConditionalCheckFailed" else {})
        for code in codes
    ]
    return failure("TransactionCanceledException", CancellationReasons=reasons)


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What would have been waited, in seconds, at its longest: nothing is."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(data.sending, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(data.patience, "random", SimpleNamespace(uniform=lambda _, most: most))
    monkeypatch.setattr(data.sending, "time", SimpleNamespace(monotonic=lambda: sum(waited)))
    return waited


async def transact(store: Store) -> None:
    await store.transact([Put(ITEM, IS_NEW)], token="token-1")


PASSING: list[Exception] = [
    *(
        failure(code)
        for code in (
            "LimitExceededException",
            "ProvisionedThroughputExceededException",
            "RequestLimitExceeded",
            "ThrottlingException",
            "TransactionInProgressException",
        )
    ),
    failure("InternalServerError", 500),
    failure("ServiceUnavailable", 503),
    failure("SomethingElse", 500),
    failure("502", 502),
    failure("", 599),
    failure("Unknown", 504),
    EndpointConnectionError(**ENDPOINT),
    ConnectTimeoutError(**ENDPOINT),
    SSLError(**ENDPOINT, error=RuntimeError("secret")),
    ProxyConnectionError(proxy_url="http://proxy.example"),
    ReadTimeoutError(**ENDPOINT),
    ConnectionClosedError(**ENDPOINT),
    HTTPClientError(error=RuntimeError("secret")),
    ConnectionResetError("secret"),
    TimeoutError("secret"),
    OSError("secret"),
    canceled("TransactionConflict"),
    canceled("None", "TransactionConflict"),
    canceled("ThrottlingError"),
    canceled("ProvisionedThroughputExceeded", "None"),
]
names = [f"{type(error).__name__} {error}"[:80] for error in PASSING]


@pytest.mark.parametrize("error", PASSING, ids=names)
async def test_a_failure_that_passes_is_sent_again_with_the_same_token(error: Exception) -> None:
    client = Client(error, error, {})
    await transact(store_of(client))
    assert (
        client.requests
        == [
            (
                "TransactWriteItems",
                {
                    "TransactItems": [to_request(Put(ITEM, IS_NEW), "planner")],
                    "ClientRequestToken": "token-1",
                },
            )
        ]
        * 3
    )


@pytest.mark.parametrize("error", PASSING, ids=names)
async def test_a_failure_that_does_not_pass_is_unavailable_after_a_bounded_time(
    error: Exception, pauses: list[float]
) -> None:
    client = Client(error)
    with pytest.raises(Unavailable) as raised:
        await transact(store_of(client))
    assert len(client.requests) == ATTEMPTS
    assert len({request["ClientRequestToken"] for _, request in client.requests}) == 1
    assert pauses == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8])
    assert "secret" not in raised.value.message


async def test_no_request_is_begun_after_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(failure("ThrottlingException"))
    # Each request takes four seconds to fail.
    monkeypatch.setattr(
        data.sending, "time", SimpleNamespace(monotonic=lambda: 4.0 * len(client.requests))
    )
    with pytest.raises(Unavailable):
        await transact(store_of(client))
    assert len(client.requests) == 3


async def test_who_is_more_patient_waits_longer(pauses: list[float]) -> None:
    client = Client(failure("ThrottlingException"))
    with pytest.raises(Unavailable):
        await transact(store_of(client, retries=RetryPolicy(attempts=100, seconds=20)))
    assert 19 < sum(pauses) <= 20
    assert max(pauses) == 1
    assert len(client.requests) == len(pauses) + 1


async def test_every_operation_is_sent_again() -> None:
    throttled = failure("ThrottlingException")
    for operation in ("Query", "GetItem", "PutItem", "DeleteItem", "UpdateItem"):
        client = Client(throttled, {"Items": []})
        store = store_of(client)
        match operation:
            case "Query":
                await store.query(QUERY)
            case "GetItem":
                await store.get(KEY)
            case "PutItem":
                await store.put(ITEM, IS_NEW)
            case "DeleteItem":
                await store.delete(KEY, IS_NEW)
            case "UpdateItem":
                await store.update(KEY, Expression("SET #a = :a", {":a": s("x")}), IS_NEW)
        assert [sent for sent, _ in client.requests] == [operation, operation]
        assert client.requests[0] == client.requests[1]


@pytest.mark.parametrize(
    "code",
    [
        "ValidationException",
        "AccessDeniedException",
        "ResourceNotFoundException",
        "IdempotentParameterMismatchException",
        "UnrecognizedClientException",
        "ItemCollectionSizeLimitExceededException",
    ],
)
async def test_a_fault_of_ours_is_not_sent_again_and_stays_what_it_is(code: str) -> None:
    error = failure(code)
    client = Client(error)
    with pytest.raises(ClientError) as raised:
        await transact(store_of(client))
    assert raised.value is error
    assert len(client.requests) == 1


@pytest.mark.parametrize(
    "codes", [("ValidationError",), ("None", "ItemCollectionSizeLimitExceeded")]
)
async def test_a_cancelled_transaction_for_a_fault_of_ours_is_not_sent_again(
    codes: Sequence[str],
) -> None:
    client = Client(canceled(*codes))
    with pytest.raises(ClientError):
        await transact(store_of(client))
    assert len(client.requests) == 1


@pytest.mark.parametrize(
    "codes",
    [
        ("ConditionalCheckFailed",),
        ("None", "ConditionalCheckFailed", "None"),
        ("ConditionalCheckFailed", "TransactionConflict"),
        ("ThrottlingError", "ConditionalCheckFailed"),
        ("ConditionalCheckFailed", "ConditionalCheckFailed"),
    ],
)
async def test_a_condition_that_failed_is_said_reason_by_reason_and_not_sent_again(
    codes: Sequence[str],
) -> None:
    client = Client(canceled(*codes, item=ITEM))
    with pytest.raises(TransactionCanceled) as raised:
        await transact(store_of(client))
    assert len(client.requests) == 1
    assert raised.value.reasons == tuple(
        CancellationReason(code, ITEM if code == "ConditionalCheckFailed" else None)
        for code in codes
    )
    assert [reason.condition_failed for reason in raised.value.reasons] == [
        code == "ConditionalCheckFailed" for code in codes
    ]


async def test_a_condition_that_fails_after_a_conflict_has_passed_is_said() -> None:
    client = Client(canceled("TransactionConflict"), canceled("ConditionalCheckFailed"))
    with pytest.raises(TransactionCanceled):
        await transact(store_of(client))
    assert len(client.requests) == 2


async def test_a_bug_is_not_taken_for_a_failure_of_the_network() -> None:
    client = Client(KeyError("bug"))
    with pytest.raises(KeyError):
        await transact(store_of(client))
    assert len(client.requests) == 1


@pytest.mark.parametrize("there", [ITEM, None])
async def test_a_conditional_write_that_is_refused_brings_what_stands_there(
    there: Item | None,
) -> None:
    answer: dict[str, Any] = {"Item": there} if there else {}
    client = Client(failure("ConditionalCheckFailedException", **answer))
    store = store_of(client)
    for write in (
        store.put(ITEM, IS_NEW),
        store.delete(KEY, IS_NEW),
        store.update(KEY, Expression("SET #a = :a", {":a": s("x")}), IS_NEW),
    ):
        with pytest.raises(ConditionFailed) as raised:
            await write
        assert raised.value.item == there
    assert len(client.requests) == 3


# What is sent

GUARD = Expression("#version = :version", {":version": n(3)})
GUARDED = {
    "TableName": "planner",
    "ConditionExpression": "#version = :version",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}


async def test_a_put_with_a_condition() -> None:
    client = Client({})
    await store_of(client).put(ITEM, GUARD)
    assert client.requests == [
        (
            "PutItem",
            {
                **GUARDED,
                "Item": ITEM,
                "ExpressionAttributeNames": {"#version": "version"},
                "ExpressionAttributeValues": {":version": n(3)},
            },
        )
    ]


async def test_a_put_without_a_condition_sends_no_empty_maps() -> None:
    client = Client({})
    await store_of(client).put(ITEM, None)
    assert client.requests == [("PutItem", {"TableName": "planner", "Item": ITEM})]


async def test_a_delete_whose_condition_has_no_values_sends_none() -> None:
    client = Client({})
    await store_of(client).delete(KEY, Expression("attribute_exists(#sk)"))
    assert client.requests == [
        (
            "DeleteItem",
            {
                "TableName": "planner",
                "Key": KEY,
                "ConditionExpression": "attribute_exists(#sk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                "ExpressionAttributeNames": {"#sk": "sk"},
            },
        )
    ]


async def test_an_update_has_the_names_and_values_of_both_expressions() -> None:
    client = Client({})
    await store_of(client).update(KEY, Expression("SET #note = :note", {":note": s("x")}), GUARD)
    assert client.requests == [
        (
            "UpdateItem",
            {
                **GUARDED,
                "Key": KEY,
                "UpdateExpression": "SET #note = :note",
                "ExpressionAttributeNames": {"#note": "note", "#version": "version"},
                "ExpressionAttributeValues": {":note": s("x"), ":version": n(3)},
            },
        )
    ]


@pytest.mark.parametrize(("answer", "item"), [({"Item": ITEM}, ITEM), ({}, None)])
async def test_a_get_is_strongly_consistent_whatever_the_setting(
    answer: object, item: Item | None
) -> None:
    client = Client(answer)
    assert await store_of(client, consistent_reads=False).get(KEY) == item
    assert client.requests == [
        ("GetItem", {"TableName": "planner", "Key": KEY, "ConsistentRead": True})
    ]


async def test_a_transaction_has_its_actions_in_order() -> None:
    client = Client({})
    actions: list[Action] = [Put(ITEM, IS_NEW), Delete(KEY, GUARD)]
    await store_of(client).transact(actions, token="t")
    [(_, request)] = client.requests
    assert request["TransactItems"] == [to_request(action, "planner") for action in actions]


# Queries and their pages

QUERY = KeyQuery("#pk = :pk", {":pk": s("TEAM#t1")})
INDEXED = KeyQuery(
    "#pk = :pk AND #longEnd > :from",
    {":pk": s("TEAM#t1"), ":from": s("2024-01-01")},
    filter="#startDate < :from",
    index="byLongEnd",
    projection=("pk", "sk", "id"),
)


async def test_a_query_of_the_table_defines_what_it_uses_and_sends_nothing_empty() -> None:
    client = Client({"Items": [ITEM]})
    assert await store_of(client).query(QUERY) == [ITEM]
    assert client.requests == [
        (
            "Query",
            {
                "TableName": "planner",
                "KeyConditionExpression": "#pk = :pk",
                "ExpressionAttributeNames": {"#pk": "pk"},
                "ExpressionAttributeValues": {":pk": s("TEAM#t1")},
                "ConsistentRead": True,
            },
        )
    ]


async def test_a_query_of_an_index_has_its_filter_and_projection_and_no_consistency() -> None:
    client = Client({"Items": []})
    [_] = [page async for page in store_of(client).pages(INDEXED, consistent=True)]
    assert client.requests == [
        (
            "Query",
            {
                "TableName": "planner",
                "IndexName": "byLongEnd",
                "KeyConditionExpression": "#pk = :pk AND #longEnd > :from",
                "FilterExpression": "#startDate < :from",
                "ProjectionExpression": "#pk, #sk, #id",
                "ExpressionAttributeNames": {
                    "#id": "id",
                    "#longEnd": "longEnd",
                    "#pk": "pk",
                    "#sk": "sk",
                    "#startDate": "startDate",
                },
                "ExpressionAttributeValues": {":pk": s("TEAM#t1"), ":from": s("2024-01-01")},
            },
        )
    ]


@pytest.mark.parametrize(
    ("setting", "asked", "sent"),
    [
        (True, None, True),
        (False, None, False),
        (False, True, True),
        (True, False, False),
    ],
)
async def test_a_table_query_says_how_consistent_it_is(
    setting: bool, asked: bool | None, sent: bool
) -> None:
    client = Client({"Items": []})
    pages = store_of(client, consistent_reads=setting).pages(QUERY, consistent=asked)
    [_] = [page async for page in pages]
    assert [request["ConsistentRead"] for _, request in client.requests] == [sent]


def page(*numbers: int, more: bool = True) -> dict[str, object]:
    answer: dict[str, object] = {
        "Items": [{"pk": s("TEAM#t1"), "sk": s(str(number))} for number in numbers]
    }
    return answer | ({"LastEvaluatedKey": {"sk": s(f"after {numbers}")}} if more else {})


async def collected(pages: AsyncIterator[list[Item]]) -> list[list[str]]:
    return [[item["sk"]["S"] for item in items] async for items in pages]


async def test_an_empty_page_with_a_last_key_is_not_the_end() -> None:
    client = Client(page(1, 2), page(), page(), page(3), page(more=False))
    items = await store_of(client).query(QUERY)
    assert [item["sk"]["S"] for item in items] == ["1", "2", "3"]
    assert [request.get("ExclusiveStartKey") for _, request in client.requests] == [
        None,
        {"sk": s("after (1, 2)")},
        {"sk": s("after ()")},
        {"sk": s("after ()")},
        {"sk": s("after (3,)")},
    ]


async def test_pages_come_one_by_one_and_no_further_than_asked() -> None:
    client = Client(page(1), page(2), page(3, more=False))
    pages = store_of(client).pages(QUERY)
    assert [item["sk"]["S"] for item in await anext(pages)] == ["1"]
    assert len(client.requests) == 1
    assert await collected(pages) == [["2"], ["3"]]


async def test_a_page_that_fails_is_asked_for_again_where_it_was() -> None:
    client = Client(page(1), failure("ThrottlingException"), page(2, more=False))
    items = await store_of(client).query(QUERY)
    assert [item["sk"]["S"] for item in items] == ["1", "2"]
    assert client.requests[1] == client.requests[2]


@pytest.mark.parametrize(("most", "complete"), [(2, False), (3, True), (4, True)])
async def test_a_list_is_complete_or_an_error_and_never_cut(most: int, complete: bool) -> None:
    client = Client(page(1), page(2), page(3, more=False))
    store = store_of(client, max_items=most)
    if complete:
        assert len(await store.query(QUERY)) == 3
        return
    with pytest.raises(LimitExceeded, match="more than the 2 items"):
        await store.query(QUERY)


async def test_paging_stops_at_the_limit() -> None:
    client = Client(page(1, 2, 3))
    with pytest.raises(LimitExceeded):
        await store_of(client, max_items=7).query(QUERY)
    assert len(client.requests) == 3


@pytest.mark.parametrize(("size", "limit"), [(None, None), (1, 1), (100, 100)])
async def test_the_size_of_a_page_may_be_set(size: int | None, limit: int | None) -> None:
    client = Client(page(1), page(2, more=False))
    await store_of(client, page_size=size).query(QUERY)
    assert [request.get("Limit") for _, request in client.requests] == [limit, limit]


async def test_all_items_of_one_page_or_nothing_and_no_further_page() -> None:
    client = Client(page(1, 2, more=False), page(1, 2), page(more=False), page())
    store = store_of(client)
    rows = await store.page_of_rows(QUERY)
    assert rows is not None
    assert [row.sk.S for row in rows] == ["1", "2"]
    assert await store.page_of_rows(QUERY) is None
    assert await store.page_of_rows(QUERY) == []
    assert await store.page_of_rows(QUERY) is None
    assert len(client.requests) == 4
    assert not any("ExclusiveStartKey" in request for _, request in client.requests)


async def test_one_page_may_have_too_many_items_too() -> None:
    client = Client(page(1, 2, 3, more=False))
    with pytest.raises(LimitExceeded, match="more than the 2 items"):
        await store_of(client, max_items=2).page_of_rows(QUERY)


async def test_what_is_remembered_of_teams_is_the_same_for_every_operation() -> None:
    store = store_of(Client())
    store.metered(Meter()).large_teams.add("a")
    assert "a" in store.metered(Meter()).large_teams
