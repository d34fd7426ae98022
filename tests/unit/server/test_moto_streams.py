"""moto's stream forgets what is old, and costs no memory for those who read it."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from types_aiobotocore_dynamodb.type_defs import WriteRequestTypeDef

from data.administration import create_table
from data.expressions import Item
from data.opening import open_store
from data.rows import row_of
from data.store import Store
from data.streams import Place, StreamLost, Streams, Trimmed, open_streams
from server.engines import DUMMY_CREDENTIALS
from server.moto_streams import KEPT
from tests.engines import running

BATCH = 25
"""AWS limit: entries of a BatchWriteItem."""


@pytest.fixture
async def streams() -> AsyncIterator[Streams]:
    with running("embedded") as url:
        name = f"planner-{uuid.uuid4().hex}"
        async with open_store(name, endpoint_url=url, credentials=DUMMY_CREDENTIALS) as store:
            await create_table(store)
            async with open_streams(
                store, endpoint_url=url, credentials=DUMMY_CREDENTIALS
            ) as streams:
                yield streams


def item(number: int) -> Item:
    return {"pk": {"S": "TEAM#acme"}, "sk": {"S": str(number % BATCH)}}


async def write(store: Store, count: int) -> None:
    """Writes so many times, by few requests."""
    for start in range(0, count, BATCH):
        numbers = range(start, min(start + BATCH, count))
        puts: list[WriteRequestTypeDef] = [{"PutRequest": {"Item": item(each)}} for each in numbers]
        await store.client.batch_write_item(RequestItems={store.table: puts})


async def test_stream_keeps_the_last_records_with_their_numbers(streams: Streams) -> None:
    await write(streams.store, 1)
    arn = await streams.arn()
    _, shards = await streams.shards(arn)
    [shard] = shards
    first = await streams.iterator(arn, shard, Place.OLDEST)
    page, _ = await streams.records(first)
    oldest = int(page.records[0].images.sequence)
    await write(streams.store, KEPT + 1)
    with pytest.raises(Trimmed):
        await streams.iterator(arn, shard, oldest)
    with pytest.raises(Trimmed):
        await streams.records(first)
    page, _ = await streams.records(await streams.iterator(arn, shard, Place.OLDEST))
    assert int(page.records[0].images.sequence) == oldest + 2
    assert len(page.records) == 1_000


async def test_an_item_of_any_form_is_recorded(streams: Streams) -> None:
    """What other writers store is no reason to end a connection."""
    forms: Item = {
        "pk": {"S": "TEAM#acme"},
        "sk": {"S": "PRJ#1"},
        "tags": {"L": [{"S": "a"}, {"S": "b"}]},
        "links": {"L": [{"M": {"label": {"S": "x"}, "url": {"S": "https://example.com"}}}]},
        "words": {"SS": ["one", "two"]},
        "version": {"N": "3"},
        "note": {"NULL": True},
    }
    others: Any = {"raw": {"B": b"bytes"}, "yes": {"BOOL": True}, "numbers": {"NS": ["1", "2"]}}
    await streams.store.client.put_item(TableName=streams.store.table, Item={**forms, **others})
    arn = await streams.arn()
    _, shards = await streams.shards(arn)
    [shard] = shards
    page, _ = await streams.records(await streams.iterator(arn, shard, Place.OLDEST))
    assert [record.images.new for record in page.records] == [row_of(forms)]


async def test_iterator_is_its_place_and_can_be_read_again(streams: Streams) -> None:
    await write(streams.store, 3)
    arn = await streams.arn()
    _, shards = await streams.shards(arn)
    [shard] = shards
    iterator = await streams.iterator(arn, shard, Place.OLDEST)
    pages = [(await streams.records(iterator))[0] for _ in range(2)]
    assert pages[0] == pages[1]
    assert len(pages[0].records) == 3


async def test_stream_that_is_turned_off_ends(streams: Streams) -> None:
    arn = await streams.arn()
    _, shards = await streams.shards(arn)
    await write(streams.store, 2)
    await streams.store.client.update_table(
        TableName=streams.store.table, StreamSpecification={"StreamEnabled": False}
    )
    await write(streams.store, 2)
    is_written, shards = await streams.shards(arn)
    assert not is_written
    assert all(shard.closed for shard in shards.values())
    [shard] = shards
    page, _ = await streams.records(await streams.iterator(arn, shard, Place.OLDEST))
    assert (len(page.records), page.next) == (2, None)
    with pytest.raises(StreamLost):
        await streams.arn()
    with pytest.raises(StreamLost):
        await streams.shards(f"{arn}0")
