"""The stand-in for DynamoDB gives back what DynamoDB said, and knows what it was never asked."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession

from bench.replay import replaying
from bench.wire import Connection, connected, dynamodb_request
from data.expressions import KeyQuery, s
from data.store import Store
from tests.api.samples import resource
from tests.api_client import put

QUERY = "DynamoDB_20120810.Query"
TRANSACT = "DynamoDB_20120810.TransactWriteItems"


@asynccontextmanager
async def replay_of(engine: str) -> AsyncIterator[tuple[int, Connection]]:
    """The port of a stand-in over the engine, and a connection to it."""
    async with (
        replaying(int(engine.rpartition(":")[2])) as port,
        connected(port, 1) as [connection],
    ):
        yield port, connection


async def control(port: int, what: str) -> dict[str, Any]:
    async with ClientSession() as http, http.get(f"http://127.0.0.1:{port}/{what}") as answer:
        counts: dict[str, Any] = await answer.json(content_type=None)
        return counts


def query(table: str, team: str, **more: object) -> bytes:
    request = {
        "TableName": table,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": f"TEAM#{team}"}},
        **more,
    }
    return dynamodb_request(QUERY, json.dumps(request).encode())


def transaction(table: str, id: str) -> bytes:
    item = {"pk": {"S": "TEAM#written"}, "sk": {"S": f"RES#{id}"}}
    request = {"TransactItems": [{"Put": {"TableName": table, "Item": item}}]}
    return dynamodb_request(TRANSACT, json.dumps(request).encode())


async def test_an_answer_is_given_again_whatever_the_order_of_the_request(
    engine: str, store: Store, team: str
) -> None:
    await put(store, team, [resource("a")])
    request = query(store.table, team)
    members = json.loads(request.partition(b"\r\n\r\n")[2])
    turned = json.dumps(dict(reversed(members.items()))).encode()
    async with replay_of(engine) as (port, connection):
        first = await connection.ask(request)
        await put(store, team, [resource("b")])
        assert await connection.ask(request) == first
        assert await connection.ask(dynamodb_request(QUERY, turned)) == first
        counts = await control(port, "counts")
    assert [item["sk"] for item in json.loads(first[1])["Items"]] == [{"S": "RES#a"}]
    assert (counts["requests"], counts["unknown"]) == ({"Query": 3}, 0)


async def test_each_page_is_an_answer_of_its_own(engine: str, store: Store, team: str) -> None:
    await put(store, team, [resource("a"), resource("b")])
    async with replay_of(engine) as (_, connection):
        _, first = await connection.ask(query(store.table, team, Limit=1))
        start = json.loads(first)["LastEvaluatedKey"]
        second = query(store.table, team, Limit=1, ExclusiveStartKey=start)
        keys = [
            json.loads((await connection.ask(second))[1])["Items"][0]["sk"]["S"] for _ in range(2)
        ]
    assert keys == ["RES#b", "RES#b"]


async def test_the_checksum_is_that_of_the_content(engine: str, store: Store, team: str) -> None:
    """Clients of AWS refuse an answer whose `x-amz-crc32` is wrong."""
    async with replay_of(engine) as (port, _), ClientSession() as http:
        _, _, content = query(store.table, team).partition(b"\r\n\r\n")
        url, headers = f"http://127.0.0.1:{port}/", {"X-Amz-Target": QUERY}
        for _ in range(2):
            async with http.post(url, data=content, headers=headers) as answer:
                assert int(answer.headers["x-amz-crc32"]) == zlib.crc32(await answer.read())


async def test_what_is_new_after_the_seal_is_refused_and_counted(
    engine: str, store: Store, team: str
) -> None:
    async with replay_of(engine) as (port, connection):
        known = query(store.table, team)
        await connection.ask(known)
        await control(port, "seal")
        assert (await connection.ask(known))[0] == 200
        assert (await connection.ask(query(store.table, "another")))[0] == 400
        assert (await control(port, "unseal"))["unknown"] == 1
        assert (await connection.ask(query(store.table, "another")))[0] == 200


async def test_one_transaction_answers_for_all_of_its_shape(engine: str, store: Store) -> None:
    async with replay_of(engine) as (port, connection):
        assert (await connection.ask(transaction(store.table, "first")))[0] == 200
        await control(port, "seal")
        assert (await connection.ask(transaction(store.table, "second")))[0] == 200
    written = await store.query(KeyQuery("#pk = :pk", {":pk": s("TEAM#written")}))
    assert [item["sk"]["S"] for item in written] == ["RES#first"]


@pytest.mark.parametrize("size", [1, 7, 1_000])
async def test_a_request_may_arrive_in_pieces(
    engine: str, store: Store, team: str, size: int
) -> None:
    request = query(store.table, team)
    async with replay_of(engine) as (_, connection):
        whole = await connection.ask(request)
        answer = asyncio.create_task(connection.ask(request[:size]))
        await asyncio.sleep(0)
        for start in range(size, len(request), size):
            connection.transport.write(request[start : start + size])
        assert await answer == whole
