"""Coming back with a cursor, to the same process or to another one: no gap, and nothing twice."""

import asyncio
import time

import pytest

from data.clock import ago
from data.errors import BadInput
from data.followers import Pace
from data.live import FellBehind, Limits, LiveFeed
from data.positions import Positions, encoded
from data.streams import RecordPage, Streams
from tests.streams.clients import Client, feed_on, versions
from tests.streams.fake import ARN, FakeStream, item


def numbered(count: int, *, first: int = 1) -> list[tuple[str, int]]:
    return [("a", version) for version in range(first, first + count)]


async def written(fake: FakeStream, client: Client, count: int) -> None:
    """Writes the next versions of `a`, and has the client take them."""
    last = len(client.changes)
    for version in range(last + 1, last + count + 1):
        fake.write("acme", "a", version)
    await client.until("a", last + count)


async def test_cursor_of_one_process_is_good_in_another_after_the_first_is_gone() -> None:
    fake = FakeStream(page=3)
    client = Client("acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await written(fake, client, 5)
        await client.leave()
    for version in range(6, 12):
        fake.write("acme", "a", version)
        fake.write("other", "b", version)
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await client.until("a", 11)
        await written(fake, client, 3)
        assert versions(client.changes) == numbered(14)


async def test_cursor_with_nothing_read_yet_misses_nothing_either() -> None:
    fake = FakeStream()
    fake.write("acme", "a", 7, at=ago(3600))
    client = Client("acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await client.leave()
    fake.write("acme", "a", 8)
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await client.until("a", 8)
        fake.write("acme", "a", 9)
        await client.until("a", 9)
        assert versions(client.changes) == [("a", 8), ("a", 9)]


async def test_what_was_imported_is_told_to_a_cursor_from_earlier_in_the_same_minute() -> None:
    fake = FakeStream()
    minute = (time.time() - 120) // 60 * 60
    shard = fake.open[0].id
    fake.put(item("acme", "a", 5, at=ago(24 * 3600)), key="a", created=minute)
    client = Client("acme")
    stood = Positions(minute + 45, {shard: None})
    client.cursor = encoded(stood, stream=ARN + fake.label, team_id="acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        fake.write("acme", "b", 1)
        await client.until("b", 1)
        assert versions(client.changes) == [("a", 5), ("b", 1)]


async def test_shards_that_ended_meanwhile_are_followed_to_those_that_came_of_them() -> None:
    fake = FakeStream(page=2)
    client = Client("acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await written(fake, client, 3)
        await client.leave()
    for version in range(4, 20):
        fake.write("acme", "a", version)
        if version % 3 == 0:
            for shard in fake.open:
                fake.split(shard)
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await client.until("a", 19)
        await written(fake, client, 1)
        assert versions(client.changes) == numbered(20)


async def test_shard_that_only_the_other_process_knows_is_looked_for() -> None:
    fake = FakeStream()
    slow = Pace(poll=0.001, discovery=3600)
    client = Client("acme")
    async with feed_on(fake.streams, pace=slow) as behind, feed_on(fake.streams) as feed:
        await Client("acme").connect(behind)
        await client.connect(feed)
        fake.roll(fake.open[0])
        await written(fake, client, 3)
        await client.leave()
        await client.connect(behind)
        await written(fake, client, 3)
        assert versions(client.changes) == numbered(6)


async def test_what_the_log_has_is_told_again_without_a_request() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        stays, client = Client("acme"), Client("acme")
        await stays.connect(feed)
        await client.connect(feed)
        await written(fake, client, 3)
        await client.leave()
        for version in range(4, 8):
            fake.write("acme", "a", version)
        await stays.until("a", 7)
        places = [*fake.places]
        await client.connect(feed)
        assert versions(client.changes) == numbered(7)
        assert fake.places == places


async def test_many_who_come_back_at_once_share_one_reading() -> None:
    fake = FakeStream()
    clients = [Client("acme") for _ in range(20)]
    async with feed_on(fake.streams) as feed:
        for client in clients:
            await client.connect(feed)
        for version, client in enumerate(clients, start=1):
            fake.write("acme", "a", version)
            await client.until("a", version)
    fake.places.clear()
    async with feed_on(fake.streams) as feed:
        await Client("other").connect(feed)
        # Each stands further back than the one before, so that none is served by what those read.
        await asyncio.gather(*(client.connect(feed) for client in reversed(clients)))
        kinds = [kind for _, kind in fake.places]
        assert kinds == ["LATEST", "AFTER_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"]
        for client in clients:
            await client.until("a", 20)
            assert versions(client.changes) == numbered(20)


async def test_team_that_asks_for_too_much_again_and_again_is_in_the_way_once() -> None:
    fake = FakeStream(page=1)
    client = Client("acme")
    shard = fake.open[0].id
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        for number in range(20):
            fake.write("busy", str(number), 1)
        await written(fake, client, 1)
    fake.write("acme", "a", 2)
    came: list[str] = []

    async def too_much(feed: LiveFeed, seconds: float) -> None:
        stood = Positions(time.time() - seconds, {shard: 1})
        cursor = encoded(stood, stream=ARN + fake.label, team_id="busy")
        with pytest.raises(BadInput, match="older"):
            await feed.subscribe("busy", cursor)
        came.append("busy")

    async def comes_back(feed: LiveFeed) -> None:
        await client.connect(feed)
        came.append("acme")

    async with feed_on(fake.streams, limits=Limits(max_changes=5)) as feed:
        await Client("other").connect(feed)
        # So far apart that none is served by what is read for another.
        asking = [too_much(feed, seconds) for seconds in (1000, 2000, 3000)]
        await asyncio.gather(*asking, comes_back(feed))
        await client.until("a", 2)
    assert came == ["busy", "acme", "busy", "busy"]


async def test_team_that_was_refused_has_less_read_again_for_a_while() -> None:
    fake = FakeStream()
    for number in range(20):
        shard = fake.write("busy", str(number), 1)
    last = fake.shards[shard].records[-1][0] - 1
    async with feed_on(fake.streams, limits=Limits(max_changes=5)) as feed:
        await Client("other").connect(feed)

        async def comes_back(team: str, seconds: float, number: int) -> int:
            stood = Positions(time.time() - seconds, {shard: number})
            cursor = encoded(stood, stream=ARN + fake.label, team_id=team)
            before = len(fake.places)
            try:
                await (await feed.subscribe(team, cursor)).aclose()
            except BadInput:
                return -1
            return len(fake.places) - before

        assert await comes_back("busy", 1000, 1) == -1
        read = len(fake.places)
        assert [await comes_back("busy", seconds, 1) for seconds in (1000, 2000, 501)] == [-1] * 3
        assert len(fake.places) == read
        assert await comes_back("busy", 499, last) == 1
        assert await comes_back("acme", 1000, 1) == -1
        assert len(fake.places) == read + 2


async def test_quiet_team_has_newer_cursors_now_and_then() -> None:
    fake = FakeStream()
    client = Client("acme")
    async with feed_on(fake.streams, limits=Limits(fresh=0.02)) as feed:
        await client.connect(feed)
        for _ in range(3):
            await client.take()
        assert versions(client.changes) == []
        assert len({batch.cursor for batch in client.batches}) == 4
        fake.write("acme", "a", 1)
        await client.until("a", 1)
        await client.leave()
        fake.write("acme", "a", 2)
        await client.connect(feed)
        await client.until("a", 2)
        assert versions(client.changes) == numbered(2)


class Held(Streams):
    """A stream of which a process reads nothing while the gate is shut."""

    def __init__(self, streams: Streams) -> None:
        super().__init__(streams.store, streams.transport)
        self.gate = asyncio.Event()
        self.gate.set()

    async def records(self, iterator: str) -> tuple[RecordPage, int]:
        await self.gate.wait()
        return await super().records(iterator)


async def test_process_that_is_behind_does_not_set_a_client_back() -> None:
    fake = FakeStream()
    held = Held(fake.streams)
    async with feed_on(fake.streams) as ahead, feed_on(held) as behind:
        client, stays = Client("acme"), Client("acme")
        await client.connect(ahead)
        await stays.connect(behind)
        await written(fake, client, 1)
        await stays.until("a", 1)
        held.gate.clear()
        await written(fake, client, 3)
        await client.leave()
        await client.connect(behind)
        await client.leave()
        await client.connect(ahead)
        await written(fake, client, 1)
        assert versions(client.changes) == numbered(5)
        held.gate.set()
        await stays.until("a", 5)
        assert versions(stays.changes) == numbered(5)


async def test_who_comes_back_from_ahead_takes_nothing_from_those_who_wait() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as ahead, feed_on(fake.streams, pace=Pace(poll=0.3)) as behind:
        client, stays = Client("acme"), Client("acme")
        await client.connect(ahead)
        await stays.connect(behind)
        await written(fake, client, 1)
        await client.leave()
        await client.connect(behind)
        await written(fake, client, 1)
        await stays.until("a", 2)
        assert versions(stays.changes) == versions(client.changes) == numbered(2)


async def test_who_is_served_already_is_not_told_what_was_before() -> None:
    fake = FakeStream()
    client = Client("acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await written(fake, client, 1)
    fake.write("acme", "a", 2, at=ago(60))
    async with feed_on(fake.streams) as feed:
        served = Client("acme")
        await served.connect(feed)
        await client.connect(feed)
        await client.until("a", 2)
        fake.write("acme", "a", 3)
        await served.until("a", 3)
        await client.until("a", 3)
        assert versions(served.changes) == [("a", 3)]
        assert versions(client.changes) == numbered(3)


async def test_cursor_of_another_team_or_cut_or_changed_is_bad_input() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        client = Client("acme")
        await client.connect(feed)
        await written(fake, client, 1)
        assert client.cursor
        middle = len(client.cursor) // 2
        swapped = "A" if client.cursor[middle] != "A" else "B"
        changed = client.cursor[:middle] + swapped + client.cursor[middle + 1 :]
        for cursor in ("", "é", "AAAA", client.cursor[:-4], changed, client.cursor * 2000):
            with pytest.raises(BadInput) as caught:
                await feed.subscribe("acme", cursor)
            assert caught.value.field == ("since",)
        with pytest.raises(BadInput):
            await feed.subscribe("other", client.cursor)
        assert feed.subscribers == 1


async def test_cursor_of_a_table_that_was_made_anew_is_bad_input() -> None:
    fake = FakeStream()
    client = Client("acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
    fake.recreate()
    async with feed_on(fake.streams) as feed:
        with pytest.raises(BadInput):
            await client.connect(feed)


async def test_cursor_that_the_stream_has_forgotten_is_bad_input() -> None:
    fake = FakeStream()
    client = Client("acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await written(fake, client, 1)
    fake.write("acme", "a", 2)
    fake.trim(fake.open[0])
    async with feed_on(fake.streams) as feed:
        with pytest.raises(BadInput, match="read the team again"):
            await client.connect(feed)


async def test_cursor_whose_shard_is_gone_is_bad_input() -> None:
    fake = FakeStream()
    client = Client("acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await written(fake, client, 1)
    gone = fake.open[0]
    fake.roll(gone)
    del fake.shards[gone.id]
    async with feed_on(fake.streams) as feed:
        with pytest.raises(BadInput, match="read the team again"):
            await client.connect(feed)


async def test_more_than_the_log_holds_is_not_told_again_and_harms_nobody() -> None:
    fake = FakeStream()
    client = Client("acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await written(fake, client, 1)
    for version in range(2, 60):
        fake.write("acme", "a", version)
    async with feed_on(fake.streams, limits=Limits(max_changes=50)) as feed:
        served = Client("acme")
        await served.connect(feed)
        with pytest.raises(BadInput, match="read the team again"):
            await client.connect(feed)
        fake.write("acme", "a", 60)
        await served.until("a", 60)


async def test_slow_consumer_is_dropped_and_the_log_stays_bounded() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams, limits=Limits(max_changes=50)) as feed:
        slow, quick = Client("acme"), Client("acme")
        await slow.connect(feed)
        await quick.connect(feed)
        for version in range(1, 200, 20):
            for each in range(version, version + 20):
                fake.write("acme", "a", each)
            await quick.until("a", version + 19)
        with pytest.raises(FellBehind):
            await slow.take()
        assert feed.counts.dropped == 1
        assert versions(quick.changes) == numbered(200)


async def test_slow_team_does_not_fall_behind_because_of_a_busy_one() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams, limits=Limits(max_changes=50)) as feed:
        quiet, busy = Client("quiet"), Client("busy")
        await quiet.connect(feed)
        await busy.connect(feed)
        for version in range(1, 200, 20):
            for each in range(version, version + 20):
                fake.write("busy", "a", each)
            await busy.until("a", version + 19)
        fake.write("quiet", "b", 1)
        await quiet.until("b", 1)


async def test_cursor_behind_a_batch_that_is_not_the_last_goes_on_with_the_next() -> None:
    fake = FakeStream()
    async with feed_on(fake.streams) as feed:
        quick, slow = Client("acme"), Client("acme")
        await quick.connect(feed)
        await slow.connect(feed)
        await written(fake, quick, 250)
        await slow.take()
        assert len(slow.changes) == 100
        await slow.leave()
    async with feed_on(fake.streams) as feed:
        await slow.connect(feed)
        await slow.until("a", 250)
        assert versions(slow.changes) == numbered(250)


async def test_life_of_an_id_that_ended_meanwhile_is_told_before_the_next_one() -> None:
    fake = FakeStream()
    client, stays = Client("acme"), Client("acme")
    async with feed_on(fake.streams) as feed:
        await client.connect(feed)
        await written(fake, client, 1)
    lives = [("a", 2), ("a", 3), ("a", 4), ("a", 1), ("a", 2)]
    fake.write("acme", "a", 2)
    fake.write("acme", "a", 3)
    fake.delete("acme", "a", 4)
    fake.write("acme", "a", 1)
    fake.delete("acme", "a", 2)
    async with feed_on(fake.streams) as feed:
        await stays.connect(feed)
        for version in (1, 2):
            fake.write("acme", "a", version)
            await stays.until("a", version)
        fake.delete("acme", "a", 3)
        await stays.until("a", 3)
        await client.connect(feed)
        fake.write("acme", "z", 1)
        await client.until("z", 1)
        await stays.until("z", 1)
    lately = [("a", 1), ("a", 2), ("a", 3), ("z", 1)]
    assert versions(client.changes) == [("a", 1), *lives, *lately]
    assert versions(stays.changes) == lately
