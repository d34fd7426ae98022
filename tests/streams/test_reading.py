"""The reader of a stream as AWS has them."""

import asyncio
import gc
import weakref

import msgspec
import pytest
from structlog.testing import capture_logs

from data.clock import ago, epoch_of
from data.errors import Unavailable
from data.followers import Pace
from data.live import FellBehind, Limits, LiveFeed
from data.stream_records import written_at
from data.streams import Record
from tests.streams.clients import FAST, Client, feed_on, versions
from tests.streams.fake import FakeStream, item


async def test_what_is_written_after_subscribing_is_told_in_order() -> None:
    fake = FakeStream()
    fake.write("acme", "a", 1, at=ago(3600))
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
        assert client.changes == []
        for version in (2, 3, 4):
            fake.write("acme", "a", version)
        await client.until("a", 4)
        assert versions(client.changes) == [("a", 2), ("a", 3), ("a", 4)]


async def test_nobody_is_told_of_another_team() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        acme, other = Client("acme"), Client("other")
        await acme.connect(feed)
        await other.connect(feed)
        fake.write("acme", "a", 1)
        fake.write("other", "b", 1)
        fake.write("acme", "c", 1)
        await acme.until("c", 1)
        await other.until("b", 1)
        assert versions(acme.changes) == [("a", 1), ("c", 1)]
        assert versions(other.changes) == [("b", 1)]


async def test_children_are_read_after_their_parents_and_from_their_beginning() -> None:
    fake = FakeStream(page=2)
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
        for version in range(1, 10):
            fake.write("acme", "a", version)
        fake.split(fake.open[0])
        for version in range(10, 20):
            fake.write("acme", "a", version)
        for shard in fake.open:
            fake.roll(shard)
        for version in range(20, 30):
            fake.write("acme", "a", version)
        await client.until("a", 29)
        assert versions(client.changes) == [("a", version) for version in range(1, 30)]


@pytest.mark.parametrize("count", [0, 3])
async def test_expired_iterator_is_renewed_without_a_gap(count: int) -> None:
    fake = FakeStream()
    fake.write("acme", "a", 1, at=ago(3600))
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
        for version in range(2, count + 2):
            fake.write("acme", "a", version)
            await client.until("a", version)
        fake.expire_iterators()
        fake.write("acme", "a", count + 2)
        await client.until("a", count + 2)
        assert versions(client.changes) == [("a", version) for version in range(2, count + 3)]


async def test_throttling_and_faults_that_pass_lose_nothing() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
        codes = ["LimitExceededException", "ThrottlingException", "InternalServerError"]
        fake.fail("GetRecords", *codes, *codes)
        fake.fail("DescribeStream", *codes)
        fake.write("acme", "a", 1)
        await client.until("a", 1)
        assert not fake.errors["GetRecords"]
        assert versions(client.changes) == [("a", 1)]


async def test_empty_page_is_not_the_end() -> None:
    fake = FakeStream(page=1, empty=2)
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
        for version in range(1, 6):
            fake.write("acme", "a", version)
        await client.until("a", 5)
        assert versions(client.changes) == [("a", version) for version in range(1, 6)]


async def test_source_that_is_lost_for_long_ends_subscriptions_and_comes_back() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams, pace=Pace(poll=0.001, patience=0.01)) as feed:
        client = Client("acme")
        await client.connect(feed)
        fake.fail("GetRecords", *["ThrottlingException"] * 10_000)
        with pytest.raises(Unavailable):
            await client.take()
        await client.leave()
        fake.errors.clear()
        fake.write("acme", "a", 1)
        await _connect_at_last(client, feed)
        await client.until("a", 1)


async def test_records_that_are_trimmed_before_they_are_read_are_a_gap() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
        fake.write("acme", "a", 1)
        await client.until("a", 1)
        fake.write("acme", "a", 2)
        fake.trim(fake.open[0])
        with pytest.raises(FellBehind):
            await client.take()


async def test_table_without_a_stream_has_no_live_updates_and_says_so() -> None:
    fake = FakeStream()
    fake.turn_off()
    async with feed_on(fake.streams) as feed:
        with capture_logs() as logs, pytest.raises(Unavailable):
            await feed.subscribe("acme")
        assert feed.subscribers == 0
    assert [each["reason"] for each in logs] == ["stream_off"]


async def test_no_permission_is_no_fault_of_the_subscriber() -> None:
    fake = FakeStream()
    fake.fail("DescribeStream", "AccessDeniedException")
    async with feed_on(fake.streams) as feed:
        with pytest.raises(Unavailable):
            await feed.subscribe("acme")


async def test_after_a_failure_nobody_asks_until_a_pause_is_over() -> None:
    fake = FakeStream()
    fake.fail("DescribeStream", *["AccessDeniedException"] * 1000)
    async with feed_on(fake.streams) as feed:
        for _ in range(50):
            with pytest.raises(Unavailable):
                await feed.subscribe("acme")
        assert fake.requests["DescribeStream"] < 10


async def test_source_that_opens_and_fails_again_is_asked_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attempts: list[int] = []

    def jittered(attempt: int, first: float, longest: float) -> float:
        attempts.append(attempt)
        return 0.0

    monkeypatch.setattr("data.live.jittered", jittered)
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        for _ in range(4):
            client = Client("acme")
            fake.fail("GetRecords", "AccessDeniedException")
            await client.connect(feed)
            with pytest.raises(Unavailable):
                await client.take()
            await client.leave()
        assert attempts == [0, 1, 2, 3]
        monkeypatch.setattr("data.live._STEADY", 0.0)
        fake.fail("GetRecords", "AccessDeniedException")
        await client.connect(feed)
        with pytest.raises(Unavailable):
            await client.take()
        await client.leave()
    assert attempts[4:] == [0]


def test_moment_of_a_write_is_the_items_own_where_the_stream_allows_for_it() -> None:
    minute = epoch_of("2026-05-01T10:00:00.000Z")

    def written(at: str, *, created: float = minute) -> float:
        fake = FakeStream()
        fake.put(item("acme", "a", 1, at=at), key="a")
        [(_, record)] = fake.open[0].records
        record["dynamodb"]["ApproximateCreationDateTime"] = created
        return written_at(msgspec.convert(record, Record)) - minute

    assert written("2026-05-01T10:00:59.900Z") == pytest.approx(59.9)
    assert written("2026-05-01T09:59:59.900Z") == 0
    assert written("2999-01-01T00:00:00.000Z") == 70
    imported = "2026-05-01T09:00:00.000Z"
    assert written(imported) == 60
    assert written("no moment") == 60
    # A time that is no full minute is not rounded to one.
    assert written(imported, created=minute + 13) == 13


@pytest.mark.parametrize("end", [FakeStream.turn_off, FakeStream.recreate])
async def test_stream_that_ends_ends_subscriptions_and_the_next_is_found(end: object) -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
        assert callable(end)
        end(fake)
        with pytest.raises(Unavailable):
            await client.take()
        await client.leave()
        fake.recreate()
        client.cursor = None
        await _connect_at_last(client, feed)
        fake.write("acme", "a", 1)
        await client.until("a", 1)


async def _connect_at_last(client: Client, feed: LiveFeed) -> None:
    async with asyncio.timeout(20):
        while client.subscription is None:
            try:
                await client.connect(feed)
            except Unavailable:
                await asyncio.sleep(0.01)


async def test_what_changes_nothing_is_told_to_nobody() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
        fake.write("acme", "a", 1)
        first = item("acme", "a", 1)
        fake.put({**first, "longEnd": {"S": "x"}}, key="a", old=first)
        fake.put({**first, "deletingAt": first["updatedAt"]}, key="a", old=first)
        fake.put(None, key="a", old=first)
        before = item("acme", "b", 5)
        fake.put({**before, "longEnd": {"S": "x"}}, key="b", old=before)
        fake.put({"pk": {"S": "TEAM#acme"}, "sk": {"S": "RES#x"}}, key="a")
        fake.put({"pk": {"S": "USER#acme"}, "sk": {"S": "RES#x"}}, key="a")
        fake.put({**item("acme", "b", 1), "pk": {"S": "TEAM#acme#CLAIMS"}}, key="a")
        fake.write("acme", "z", 1)
        await client.until("z", 1)
        assert versions(client.changes) == [("a", 1), ("z", 1)]
        assert feed.counts.skipped == 1


async def test_reader_ends_some_time_after_the_last_subscriber_and_forgets() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams, limits=Limits(linger=0.0)) as feed:
        client = Client("acme")
        await client.connect(feed)
        assert client.subscription
        log = weakref.ref(client.subscription._reader.log)
        await client.leave()
        assert feed.subscribers == 0
        await _until_quiet(fake)
        gc.collect()
        assert log() is None
        await client.connect(feed)
        fake.write("acme", "a", 1)
        await client.until("a", 1)


async def _until_quiet(fake: FakeStream) -> None:
    async with asyncio.timeout(20):
        while True:
            before = fake.requests.total()
            await asyncio.sleep(20 * FAST.poll)
            if fake.requests.total() == before:
                return


async def test_reader_goes_on_while_there_is_a_subscriber() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams, limits=Limits(linger=0.0)) as feed:
        first, second = Client("acme"), Client("acme")
        await first.connect(feed)
        await second.connect(feed)
        await first.leave()
        fake.write("acme", "a", 1)
        await second.until("a", 1)
        assert feed.subscribers == 1


async def test_closing_a_subscription_ends_the_wait_for_its_next_batch() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        subscription = await feed.subscribe("acme")
        await anext(subscription)
        waiting = asyncio.ensure_future(anext(subscription))
        await asyncio.sleep(0)
        await subscription.aclose()
        with pytest.raises(StopAsyncIteration):
            await waiting
        await subscription.aclose()
        assert feed.subscribers == 0


async def test_closing_the_feed_leaves_no_task_and_tells_subscribers() -> None:
    fake = FakeStream()
    before = asyncio.all_tasks()
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
    with pytest.raises(Unavailable):
        await client.take()
    with pytest.raises(Unavailable):
        await feed.subscribe("acme")
    assert asyncio.all_tasks() == before


async def test_closing_the_feed_ends_a_reader_that_is_being_opened() -> None:
    fake = FakeStream()
    fake.fail("DescribeStream", "ThrottlingException")
    before = asyncio.all_tasks()
    async with feed_on(fake.streams) as feed:
        subscribing = asyncio.create_task(feed.subscribe("acme"))
        await asyncio.sleep(0)
        assert fake.requests["DescribeStream"] == 1
    await asyncio.wait([subscribing])
    assert asyncio.all_tasks() == before


async def test_one_reader_serves_all_however_many_come_at_once() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        clients = [Client(f"team-{number % 5}") for number in range(50)]
        await asyncio.gather(*(client.connect(feed) for client in clients))
        assert fake.places == [(fake.open[0].id, "LATEST")]


async def test_subscribers_in_step_get_equal_batches() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        first, second = Client("acme"), Client("acme")
        await first.connect(feed)
        await second.connect(feed)
        for version in range(1, 251):
            fake.write("acme", "a", version)
        await first.until("a", 250)
        fake.write("other", "b", 1)
        await second.until("a", 250)
        keys = [[batch.key for batch in each.batches[1:]] for each in (first, second)]
        assert keys[0] == keys[1]
        assert [len(batch.changes) for batch in first.batches[1:]] == [100, 100, 50]
        assert first.batches[1:] == second.batches[1:]
