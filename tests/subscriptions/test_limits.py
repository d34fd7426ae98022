"""How much one connection and one team may have, and what becomes of who does not read."""

import asyncio
import json
from contextlib import suppress

import httpx
import pytest
from structlog.testing import capture_logs
from websockets.frames import Frame, Opcode

from data.errors import Unavailable
from data.live import FellBehind
from server.live_connections import LiveConnections
from server.settings import Settings
from tests.api.http import QUERY, named
from tests.live import Connection
from tests.subscriptions.events import reading
from tests.subscriptions.sockets import PATIENCE, SUBSCRIPTION, Server, until
from tests.subscriptions.test_handshake import handshake

TRY_AGAIN_LATER = 1013
LARGE = "x" * 20_000
"""A cursor, of which some hundreds are more than all buffers on the way take."""


@pytest.fixture(scope="module")
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"max_subscriptions": 2, "max_team_subscriptions": 3, "live_send_seconds": 0.2}
    )


def codes(errors: list[dict[str, dict[str, str]]]) -> list[str]:
    return [error["extensions"]["code"] for error in errors]


async def test_a_connection_has_so_many_operations_at_once_and_no_more(
    server: Server, team: str
) -> None:
    async with server.begun(team) as socket:
        await socket.stands("1")
        await socket.stands("2")
        for query in (SUBSCRIPTION, QUERY):
            await socket.subscribe("3", query=query)
            refused = await socket.hear()
            assert (refused["type"], refused["id"]) == ("error", "3")
            assert codes(refused["payload"]) == ["LIMIT_EXCEEDED"]
        await socket.say("complete", id="1")
        await until(lambda: len(server.feed.lines) == 1)
        await socket.subscribe("3", query=QUERY)
        assert (await socket.hear())["payload"] == named(team)


async def test_messages_that_come_at_once_are_taken_one_in_a_turn(
    server: Server, team: str
) -> None:
    """So that nobody waits for all of them: an operation begins before it is completed, and never
    are there more at once than the client has left open."""
    said: list[dict[str, object]] = [{"type": "connection_init"}]
    for id in map(str, range(50)):
        said.append({"type": "subscribe", "id": id, "payload": {"query": SUBSCRIPTION}})
        said.append({"type": "complete", "id": id})
    frames = [Frame(Opcode.TEXT, json.dumps(each).encode()).serialize(mask=True) for each in said]
    connection = await Connection.to(server.url)
    with capture_logs() as lines:
        await connection.send(handshake(team))
        assert (await connection.receive()).status == 101
        await connection.send(b"".join(frames))
        await until(lambda: len(lines) >= 50)
        connection.close()
    assert {(line["event"], line.get("ended")) for line in lines} == {("operation", "client")}
    assert len(lines) == 50


async def test_a_team_has_so_many_subscriptions_however_they_come(
    server: Server, team: str
) -> None:
    async with (
        server.begun(team) as socket,
        server.begun(f"{team}-other") as other,
        reading(server, team) as first,
        reading(server, team) as second,
    ):
        assert (await first.hear())[0] == (await second.hear())[0] == "next"
        await socket.stands("1")
        assert server.counts("planner_subscriptions") == 3
        await socket.subscribe("2")
        assert codes((await socket.hear())["payload"]) == ["LIMIT_EXCEEDED"]
        async with reading(server, team) as third:
            refused = await third.rest()
            assert [name for name, _ in refused] == ["next", "complete"]
            assert "LIMIT_EXCEEDED" in refused[0][1]
        # Another team has its own.
        await other.stands("1")
        await socket.say("complete", id="1")
        await until(lambda: server.counts("planner_subscriptions") == 3)
        await socket.stands("2")


async def test_who_is_out_of_time_already_is_in_the_way_of_nobody_who_comes(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.live_connections.MAX_WAITING", 1)
    connections = LiveConnections(server.state.metrics, max_of_team=1)

    async def stays() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(0) as timeout:
                with connections.waiting(timeout):
                    await asyncio.Event().wait()

    async def comes() -> bool:
        await asyncio.sleep(0)  # Its time is up then, and it has yet to hear of that.
        async with asyncio.timeout(PATIENCE) as timeout:
            with connections.waiting(timeout):
                await asyncio.sleep(0)
                return True

    _, has_come = await asyncio.gather(stays(), comes())
    assert has_come


async def test_a_team_has_so_many_connections(server: Server, team: str) -> None:
    async with (
        server.begun(team),
        server.begun(team),
        server.begun(team),
        server.socket(team) as one_more,
    ):
        await one_more.say("connection_init")
        code, reason = await one_more.is_closed()
        assert code == TRY_AGAIN_LATER
        assert "3 connections" in reason


# Who does not read


def frame(text: str) -> bytes:
    """A masked text frame (RFC 6455 §5.2), with a mask of zeros."""
    data = text.encode()
    assert len(data) < 126
    return bytes([0x81, 0x80 | len(data), 0, 0, 0, 0]) + data


async def test_a_websocket_that_is_not_read_is_closed_and_costs_little(
    server: Server, team: str
) -> None:
    slow = server.counts("planner_subscriptions_ended_total", reason="slow")
    async with server.socket(team, max_queue=1) as socket, server.begun(team) as other:
        await socket.begin()
        await socket.stands()
        [line] = server.feed.lines
        server.feed.never_ends(LARGE)
        await until(lambda: not server.feed.lines)
        # What was taken is in buffers: of the client, of both kernels, and a little of ours.
        assert line.taken * len(LARGE) < 16_000_000
        assert server.counts("planner_subscriptions_ended_total", reason="slow") == slow + 1
        assert await other.is_open()
        # Who reads on in time learns why.
        assert (await socket.is_closed())[0] == TRY_AGAIN_LATER


async def test_an_event_stream_that_is_not_read_is_cut(
    server: Server, team: str, caplog: pytest.LogCaptureFixture
) -> None:
    slow = server.counts("planner_subscriptions_ended_total", reason="slow")
    async with reading(server, team) as stream:
        await stream.hear()
        server.feed.never_ends(LARGE)
        await server.is_left()
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            await stream.rest()
    assert server.counts("planner_subscriptions_ended_total", reason="slow") == slow + 1
    # To the web server it is a client that has gone.
    assert [each for each in caplog.records if each.name.startswith("uvicorn")] == []


async def test_a_websocket_that_never_reads_again_is_cut_whatever_waits_for_it(
    server: Server, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pings of RFC 6455 are answered without the application: their pongs do not pile up either."""
    monkeypatch.setattr("server.websocket_protocol.CLOSE_SECONDS", 0.1)
    connection = await Connection.to(server.url)
    await connection.send(handshake(team))
    assert (await connection.receive()).status == 101
    await connection.send(frame(json.dumps({"type": "connection_init"})))
    payload = {"query": "subscription { teamChanged { cursor } }"}
    await connection.send(frame(json.dumps({"type": "subscribe", "id": "1", "payload": payload})))
    await until(lambda: server.feed.lines)
    server.feed.never_ends(LARGE)
    ping = bytes([0x89, 0x80 | 100, 0, 0, 0, 0]) + b"x" * 100
    with suppress(ConnectionError):
        async with asyncio.timeout(PATIENCE):
            while True:
                await connection.send(ping * 100)
                await asyncio.sleep(0.005)
    assert server.counts("planner_websockets_closed_total", code="1013") >= 1
    connection.close()


@pytest.mark.parametrize(
    ("error", "reason", "codes"),
    [(FellBehind(), "slow", []), (Unavailable("not now"), "unavailable", ["UNAVAILABLE"])],
)
async def test_a_stream_that_breaks_sends_the_client_away_to_come_back(
    server: Server, team: str, error: Exception, reason: str, codes: list[str]
) -> None:
    ended = server.counts("planner_subscriptions_ended_total", reason=reason)
    with capture_logs() as lines:
        async with server.begun(team) as socket, reading(server, team) as stream:
            await socket.stands()
            assert (await stream.hear())[0] == "next"
            server.feed.breaks(error)
            assert (await socket.is_closed())[0] == TRY_AGAIN_LATER
            try:
                assert await stream.rest() == []
            except httpx.RemoteProtocolError:
                assert reason == "slow"
            await server.is_left()
    assert server.counts("planner_subscriptions_ended_total", reason=reason) == ended + 2
    operations = [line for line in lines if line["event"] == "operation"]
    assert [(each["ended"], each["codes"]) for each in operations] == [(reason, codes)] * 2
