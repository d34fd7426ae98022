"""Live updates on the streams of both engines, from writes of the real store."""

from collections.abc import AsyncIterator

import pytest

from data.changes import ChangeKind
from data.clock import new_id
from data.entities import EntityType, Resource
from data.expressions import Item
from data.followers import Pace
from data.guards import EXISTS, IS_NEW
from data.items import encode, table_key
from data.keys import resource_sk
from data.live import Batch, LiveFeed
from data.stamps import changed, created
from data.store import Store, TransactionCanceled
from data.streams import Streams, open_streams
from data.tombstones import tombstone
from data.transactions import Delete, Put
from server.engines import DUMMY_CREDENTIALS
from tests.streams.clients import Client, feed_on, versions

PACE = Pace(poll=0.05)


@pytest.fixture(scope="module")
async def streams(store: Store, engine: str) -> AsyncIterator[Streams]:
    async with open_streams(store, endpoint_url=engine, credentials=DUMMY_CREDENTIALS) as streams:
        yield streams


@pytest.fixture
async def feed(streams: Streams) -> AsyncIterator[LiveFeed]:
    async with feed_on(streams, pace=PACE) as feed:
        yield feed


def item(team: str, entity: Resource) -> Item:
    return encode(team, entity)


def resource(name: str = "Ada") -> Resource:
    return created(Resource(id=new_id(), name=name), by="ada")


async def write(store: Store, team: str, entity: Resource) -> None:
    await store.put(item(team, entity), None)


async def test_creation_update_and_deletion_are_told_whole(
    store: Store, feed: LiveFeed, team: str
) -> None:
    client = Client(team)
    await client.connect(feed)
    first = resource()
    second = changed(first, by="eve")
    await write(store, team, first)
    await write(store, team, second)
    deletion = tombstone(team, EntityType.RESOURCE, first.id, version=2, by="eve")
    delete = Delete(table_key(team, resource_sk(first.id)), EXISTS)
    await store.transact([deletion, delete], token=new_id())
    await client.until(first.id, 3)
    assert [(each.kind, each.version, each.by) for each in client.changes] == [
        (ChangeKind.CREATED, 1, "ada"),
        (ChangeKind.UPDATED, 2, "eve"),
        (ChangeKind.DELETED, 3, "eve"),
    ]
    assert [each.entity for each in client.changes] == [first, second, None]


async def test_two_processes_tell_the_same_each_to_its_own_team(
    store: Store, streams: Streams, feed: LiveFeed, team: str, stranger_team: str
) -> None:
    async with feed_on(streams, pace=PACE) as other:
        here, there, stranger = Client(team), Client(team), Client(stranger_team)
        await here.connect(feed)
        await there.connect(other)
        await stranger.connect(other)
        for _ in range(5):
            await write(store, team, resource())
            await write(store, stranger_team, resource())
        last = resource()
        await write(store, stranger_team, last)
        await write(store, team, last)
        for client in (here, there, stranger):
            await client.until(last.id, 1)
        assert len(here.changes) == 6
        assert versions(here.changes) == versions(there.changes)
        assert len(stranger.changes) == 6
        ids = {each.entity_id for each in here.changes} & {e.entity_id for e in stranger.changes}
        assert ids == {last.id}


async def test_cursor_of_a_process_that_is_gone_goes_on_in_another(
    store: Store, streams: Streams, team: str
) -> None:
    client, entity = Client(team), resource()
    async with feed_on(streams, pace=PACE) as feed:
        await client.connect(feed)
        await write(store, team, entity)
        await client.until(entity.id, 1)
        await client.leave()
    for _ in range(120):
        entity = changed(entity)
        await write(store, team, entity)
    async with feed_on(streams, pace=PACE) as feed:
        await client.connect(feed)
        await client.until(entity.id, 121)
        entity = changed(entity)
        await write(store, team, entity)
        await client.until(entity.id, 122)
    assert versions(client.changes) == [(entity.id, version) for version in range(1, 123)]


async def test_transaction_that_is_rolled_back_is_told_to_nobody(
    store: Store, feed: LiveFeed, team: str
) -> None:
    client = Client(team)
    await client.connect(feed)
    there = resource()
    await write(store, team, there)
    refused = [Put(item(team, resource("x")), IS_NEW), Put(item(team, there), IS_NEW)]
    with pytest.raises(TransactionCanceled):
        await store.transact(refused, token=new_id())
    last = resource()
    await write(store, team, last)
    await client.until(last.id, 1)
    assert versions(client.changes) == [(there.id, 1), (last.id, 1)]


async def test_first_batch_comes_at_once(feed: LiveFeed, team: str) -> None:
    subscription = await feed.subscribe(team)
    batch: Batch = await anext(subscription)
    assert batch.changes == ()
    assert batch.cursor
    await subscription.aclose()


@pytest.fixture
def stranger_team(team: str) -> str:
    return f"{team}-stranger"
