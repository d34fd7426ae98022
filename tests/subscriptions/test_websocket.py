"""GraphQL over WebSocket, by the protocol graphql-transport-ws: what is said, and what is not."""

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame

from data.errors import Unavailable
from data.store import Store
from server.websocket_protocol import BoundedWebSocket
from tests.api.http import MUTATION, QUERY, named
from tests.api.samples import nothing_written
from tests.api_client import everything
from tests.subscriptions.sockets import PATIENCE, SUBSCRIPTION, Server, changed, until

BAD_REQUEST, UNAUTHORIZED = 4400, 4401


async def test_a_subscription_has_an_answer_for_each_batch_until_it_is_completed(
    server: Server, team: str
) -> None:
    async with server.begun(team) as socket:
        await socket.stands("a", variables={"since": "here"})
        [line] = server.feed.lines
        assert (line.team_id, line.since) == (team, "here")
        for cursor in ("1", "2"):
            server.feed.publish(cursor)
            assert await socket.hear() == {"type": "next", "id": "a", "payload": changed(cursor)}
        await socket.say("complete", id="a")
        await until(lambda: not server.feed.lines)
        # The id is free again.
        await socket.stands("a")


async def test_a_subscription_that_ends_by_itself_is_complete(server: Server, team: str) -> None:
    async with server.begun(team) as socket:
        await socket.stands("a")
        server.feed.breaks(StopAsyncIteration())
        assert await socket.hear() == {"type": "complete", "id": "a"}
        assert await socket.is_open()


async def test_subscriptions_of_one_connection_do_not_wait_for_each_other(
    server: Server, team: str
) -> None:
    async with server.begun(team) as socket:
        await socket.stands("a")
        await socket.stands("b")
        server.feed.publish("1")
        heard = [await socket.hear() for _ in range(2)]
        assert {each["id"] for each in heard} == {"a", "b"}
        await socket.subscribe("c", query=QUERY)
        assert await socket.hear() == {"type": "next", "id": "c", "payload": named(team)}
        assert await socket.hear() == {"type": "complete", "id": "c"}


# The same as over POST


async def test_queries_and_mutations_are_carried_out_as_over_post(
    server: Server, store: Store, team: str
) -> None:
    async with server.begun(team) as socket:
        await socket.subscribe("1", query=MUTATION)
        written: Any = {"data": {"createResource": {"errors": []}}}
        assert await socket.hear() == {"type": "next", "id": "1", "payload": written}
        assert await socket.hear() == {"type": "complete", "id": "1"}
    assert len(await everything(store, team)) == 1


@pytest.mark.parametrize(
    "envelope",
    [
        {"query": "{ team { nothing } }"},
        {"query": "{"},
        {"query": f"query A {QUERY} query B {QUERY}"},
        {"query": "{ \ud800 }"},
        {
            "query": "query($a: Int) { team { name @include(if: $a) } }",
            "variables": {"a": "\ud800"},
        },
        {"query": "{" + "".join(f"a{n}: __typename " for n in range(60)) + "}"},
        {"query": "{ node(id: 1) { id } nodes(ids: []) { id } }", "variables": {"x": [1] * 200}},
        {"documentId": "sha256:0"},
    ],
    ids=["unknown", "syntax", "no name", "surrogate", "variable", "aliases", "input", "untrusted"],
)
async def test_what_post_refuses_is_refused_with_the_same_errors(
    server: Server, store: Store, team: str, envelope: dict[str, Any]
) -> None:
    """S-03: the same limits, and the same words."""
    async with server.http(team) as client:
        content = json.dumps(envelope).encode()
        headers = {"Content-Type": "application/json"}
        over_post = (await client.post("/graphql", content=content, headers=headers)).json()
    async with nothing_written(store, team), server.begun(team) as socket:
        await socket.say("subscribe", id="1", payload=envelope)
        refused = {"type": "error", "id": "1", "payload": over_post["errors"]}
        assert await socket.hear() == refused
        assert await socket.is_open()


async def test_an_answer_with_errors_of_fields_is_an_answer(server: Server, team: str) -> None:
    query = '{ viewer { id } team { assignments(from: "2026-02-01", to: "2026-01-01") { id } } }'
    async with server.begun(team) as socket, server.http(team) as client:
        await socket.subscribe(query=query)
        over_post = (await client.post("/graphql", json={"query": query})).json()
        assert over_post["errors"]
        assert await socket.hear() == {"type": "next", "id": "1", "payload": over_post}
        assert (await socket.hear())["type"] == "complete"


@pytest.mark.parametrize("place", ["carry_out", "subscribe"])
async def test_a_fault_is_masked_logged_once_and_ends_nothing_else(
    server: Server, team: str, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("arn:aws:dynamodb:secret")

    monkeypatch.setattr(f"server.operations.{place}", fails)
    with capture_logs() as lines:
        async with server.begun(team) as socket:
            await socket.subscribe(query=QUERY if place == "carry_out" else SUBSCRIPTION)
            heard = await socket.hear()
            assert await socket.is_open()
    [error] = heard["payload"]
    assert (heard["type"], error["message"]) == ("error", "Internal error")
    assert error["extensions"]["code"] == "INTERNAL"
    [failed] = [line for line in lines if line["log_level"] == "error"]
    [operation] = [line for line in lines if line["event"] == "operation"]
    assert failed["correlation_id"] == error["extensions"]["correlationId"]
    assert operation["correlation_id"] == failed["correlation_id"]
    assert (operation["outcome"], operation["codes"]) == ("error", ["INTERNAL"])


async def test_a_fault_in_the_middle_of_a_subscription_is_masked_too(
    server: Server, team: str
) -> None:
    with capture_logs() as lines:
        async with server.begun(team) as socket:
            await socket.stands("a")
            server.feed.breaks(RuntimeError("arn:aws:dynamodb:secret"))
            heard = await socket.hear()
            assert (heard["type"], heard["payload"][0]["message"]) == ("error", "Internal error")
            assert await socket.is_open()
    [operation] = [line for line in lines if line["event"] == "operation"]
    assert (operation["ended"], operation["codes"]) == ("fault", ["INTERNAL"])


@pytest.mark.parametrize(
    ("refuses", "variables", "code"),
    [
        (Unavailable("not now"), {}, "UNAVAILABLE"),
        (None, {"since": "tampered"}, "BAD_USER_INPUT"),
    ],
)
async def test_a_subscription_that_can_not_begin_says_why(
    server: Server, team: str, refuses: Unavailable | None, variables: dict[str, str], code: str
) -> None:
    server.feed.refuses = refuses
    async with server.begun(team) as socket:
        await socket.subscribe(variables=variables)
        heard = await socket.hear()
        assert heard["type"] == "error"
        assert [each["extensions"]["code"] for each in heard["payload"]] == [code]
        assert await socket.is_open()


async def test_a_write_whose_client_goes_away_is_finished(
    server: Server, store: Store, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As over POST: nothing is cut in two."""
    loop = asyncio.get_running_loop()
    arrived, go_on = asyncio.Event(), asyncio.Event()
    transport = server.state.store.transport

    class Held:
        async def send(self, operation: str, request: object) -> bytes:
            loop.call_soon_threadsafe(arrived.set)
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(go_on.wait(), loop))
            sent: bytes = await transport.send(operation, request)
            return sent

    monkeypatch.setattr(server.state.store, "transport", Held())
    async with server.begun(team) as socket:
        await socket.subscribe("1", query=MUTATION)
        async with asyncio.timeout(PATIENCE):
            await arrived.wait()
        await socket.say("complete", id="1")
    go_on.set()
    await until(lambda: server.counts("planner_operations_in_progress") == 0)
    assert len(await everything(store, team)) == 1


# What the protocol closes for


def envelope(**payload: object) -> dict[str, object]:
    return {"query": QUERY, **payload}


MALFORMED: dict[str, object] = {
    "nothing": "",
    "no JSON": "{",
    "NaN": '{"type": "ping", "payload": {"a": NaN}}',
    "a name twice": '{"type": "ping", "type": "pong"}',
    "deep": "[" * 50_000,
    "an array": [],
    "a number": 1,
    "null": None,
    "no type": {"id": "1"},
    "an unknown type": {"type": "stop", "id": "1"},
    "the older protocol": {"type": "start", "id": "1", "payload": envelope()},
    "a type that is no string": {"type": ["ping"]},
    "a type of the server": {"type": "next", "id": "1", "payload": {}},
    "ping with a string": {"type": "ping", "payload": "x"},
    "no id": {"type": "subscribe", "payload": envelope()},
    "an empty id": {"type": "subscribe", "id": "", "payload": envelope()},
    "a number as id": {"type": "subscribe", "id": 1, "payload": envelope()},
    "a long id": {"type": "subscribe", "id": "x" * 256, "payload": envelope()},
    "no payload": {"type": "subscribe", "id": "1"},
    "an array as payload": {"type": "subscribe", "id": "1", "payload": [envelope()]},
    "no query": {"type": "subscribe", "id": "1", "payload": {}},
    "a number as query": {"type": "subscribe", "id": "1", "payload": {"query": 1}},
    "variables in a string": {"type": "subscribe", "id": "1", "payload": envelope(variables="{}")},
    "completes no id": {"type": "complete"},
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED.keys())
async def test_what_is_no_message_closes_with_4400(
    server: Server, store: Store, team: str, message: object
) -> None:
    async with nothing_written(store, team), server.begun(team) as socket:
        text = message if isinstance(message, str) else json.dumps(message)
        await socket.connection.send(text)
        code, reason = await socket.is_closed()
        assert code == BAD_REQUEST
        assert reason


async def test_messages_are_text(server: Server, team: str) -> None:
    async with server.begun(team) as socket:
        await socket.connection.send(b'{"type": "ping"}')
        assert (await socket.is_closed())[0] == BAD_REQUEST


async def test_a_message_over_the_limit_of_a_body_closes_with_1009(
    server: Server, team: str
) -> None:
    """It is refused before the application sees it, and yet operators do."""
    before = server.counts("planner_websockets_closed_total", code="1009")
    with capture_logs() as lines:
        async with server.begun(team) as socket:
            await socket.say("ping", payload={"x": "x" * 1_000_000})
            assert (await socket.is_closed())[0] == 1009
        await server.is_left()
    [closed] = [line for line in lines if line["event"] == "websocket closed"]
    assert (closed["close_code"], "xxx" in closed["reason"]) == (1009, False)
    assert server.counts("planner_websockets_closed_total", code="1009") == before + 1


async def test_a_client_that_closes_with_the_same_code_was_not_closed_here(
    server: Server, team: str
) -> None:
    with capture_logs() as lines:
        async with server.begun(team) as socket:
            await socket.connection.close(1009, "too big for me")
        await server.is_left()
    assert [line["event"] for line in lines] == []


async def test_text_that_is_none_closes_with_1007_and_is_no_fault_of_ours(
    server: Server, team: str, caplog: pytest.LogCaptureFixture
) -> None:
    """RFC 6455 §8.1."""
    async with server.begun(team) as socket:
        await socket.connection.send([b'{"type": "', b"\xff"], text=True)
        assert (await socket.is_closed())[0] == 1007
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


async def test_a_message_in_pieces_is_one_and_takes_no_more_memory_than_that(
    server: Server, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces: list[int] = []

    def counting(protocol: BoundedWebSocket, frame: Frame) -> None:
        handle_cont(protocol, frame)
        pieces.append(len(protocol.frames))

    handle_cont = BoundedWebSocket.handle_cont
    monkeypatch.setattr(BoundedWebSocket, "handle_cont", counting)
    async with server.begun(team) as socket:
        await socket.connection.send(["", *'{"type": "ping"', "", "", "}"])
        assert await socket.hear() == {"type": "pong"}
    assert len(pieces) > 10
    assert max(pieces) == 1


async def test_subscribing_before_it_is_acknowledged_closes_with_4401(
    server: Server, store: Store, team: str
) -> None:
    """S-03: the older protocol carried out what came before the session was looked at."""
    async with nothing_written(store, team), server.socket(team) as socket:
        await socket.subscribe(query=MUTATION)
        assert await socket.is_closed() == (UNAUTHORIZED, "Unauthorized")


async def test_a_second_init_closes_with_4429(server: Server, team: str) -> None:
    async with server.begun(team) as socket:
        await socket.say("connection_init")
        assert await socket.is_closed() == (4429, "Too many initialisation requests")


@pytest.mark.parametrize("query", [SUBSCRIPTION, QUERY])
async def test_an_id_in_use_closes_with_4409(server: Server, team: str, query: str) -> None:
    id = "é" * 100
    async with server.begun(team) as socket:
        await socket.stands(id)
        await socket.subscribe(id, query=query)
        code, reason = await socket.is_closed()
        assert code == 4409
        assert reason.startswith("Subscriber for é")


@pytest.mark.parametrize("query", [SUBSCRIPTION, QUERY])
async def test_what_is_ended_as_soon_as_it_is_asked_for_has_a_line_of_log_too(
    server: Server, team: str, query: str
) -> None:
    with capture_logs() as lines:
        async with server.begun(team) as socket:
            for say in ("subscribe", "complete", "subscribe", "subscribe"):
                message = {"type": say, "id": "a", "payload": {"query": query}}
                # Not one after the other: all of them are there when the first is read.
                socket.connection.protocol.send_text(json.dumps(message).encode())
            socket.connection.send_data()
            await socket.is_closed()
        await until(lambda: len([line for line in lines if line["event"] == "operation"]) == 2)


async def test_a_reason_repeats_what_is_no_text_as_well_as_it_can(
    server: Server, team: str
) -> None:
    """A lone surrogate in the id, which JSON lets through."""
    async with server.begun(team) as socket:
        with capture_logs() as lines:
            for _ in range(2):
                await socket.subscribe("\ud800")
            assert await socket.is_closed() == (4409, "Subscriber for ? already exists")
            await server.is_left()
    [closed] = [line for line in lines if line["event"] == "websocket closed"]
    assert closed["reason"] == "Subscriber for {} already exists"


async def test_a_ping_that_is_too_deep_to_be_repeated_closes_with_4400_or_is_answered(
    server: Server, team: str
) -> None:
    """How deep that is depends on how deep the server's own stack is by then."""
    codes: set[int | None] = set()
    for depth in (10, *range(900, 1_000, 3)):
        async with server.begun(team) as socket:
            nested = "[" * depth + "]" * depth
            await socket.connection.send(f'{{"type": "ping", "payload": {{"a": {nested}}}}}')
            try:
                heard = str(await socket.connection.recv())
                assert heard.startswith('{"type":"pong"') or heard.startswith('{"type": "pong"')
                codes.add(None)
            except ConnectionClosed as closed:
                codes.add(closed.rcvd.code if closed.rcvd else 1006)
    assert codes == {None, BAD_REQUEST}


@pytest.mark.parametrize("protocols", [(), ("graphql-ws",), ("graphql-transport-ws2", "soap")])
async def test_another_sub_protocol_closes_with_4406_and_nothing_is_read(
    server: Server, store: Store, team: str, protocols: tuple[str, ...]
) -> None:
    """S-03."""
    async with nothing_written(store, team), server.socket(team, protocols=protocols) as socket:
        assert socket.connection.subprotocol is None
        with suppress(ConnectionClosed):
            await socket.say("start", id="1", payload={"query": MUTATION})
        assert (await socket.is_closed())[0] == 4406


async def test_who_does_not_say_who_they_are_is_closed_with_4408(
    server: Server, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.graphql_ws.INIT_SECONDS", 0.05)
    async with server.socket(team) as socket:
        # A ping is none of it.
        await socket.say("ping")
        assert await socket.hear() == {"type": "pong"}
        assert await socket.is_closed() == (4408, "Connection initialisation timeout")


async def test_of_too_many_who_say_nothing_the_one_that_waits_longest_is_closed(
    server: Server, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.live_connections.MAX_WAITING", 2)
    async with server.socket(None) as first, server.socket(None), server.socket(None):
        assert (await first.is_closed())[0] == 4408
        # Whoever says it at once gets in.
        async with server.begun(team) as socket:
            assert await socket.is_open()


async def test_pings_are_answered_with_what_they_bring_and_pongs_are_heard(
    server: Server, team: str
) -> None:
    async with server.socket(team) as socket:
        for _ in range(2):
            await socket.say("pong")
            await socket.say("pong", payload={"any": "thing"})
            await socket.say("ping", payload={"a": ["\ud800"]})
            assert await socket.hear() == {"type": "pong", "payload": {"a": ["\ud800"]}}
            await socket.say("complete", id="of nobody")
            if _ == 0:
                await socket.begin()


WORDS = st.sampled_from(
    ["type", "id", "payload", "subscribe", "complete", "ping", "connection_init", "query", QUERY]
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)
MESSAGES = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.text(max_size=40),
        JSON_VALUES.map(json.dumps),
        st.builds(
            lambda *values: json.dumps(dict(zip(("type", "id", "payload"), values, strict=True))),
            st.sampled_from(["subscribe", "complete", "ping", "pong", "connection_init", "start"]),
            st.sampled_from(["1", "2", "", 1, None]),
            JSON_VALUES | st.just({"query": QUERY}) | st.just({"query": SUBSCRIPTION}),
        ),
    ),
    max_size=6,
)


@given(is_begun=st.booleans(), messages=MESSAGES)
async def test_whatever_is_said_is_answered_or_closed_for_and_is_no_fault(
    server: Server, team: str, is_begun: bool, messages: list[str | bytes]
) -> None:
    with capture_logs() as lines:
        async with server.begun(team) if is_begun else server.socket(team) as socket:
            for message in messages:
                try:
                    await socket.connection.send(message)
                except ConnectionClosed:
                    break
            # What comes last is answered, or not read any more.
            with suppress(ConnectionClosed):
                await socket.say("complete")
            code, _ = await socket.is_closed()
    assert code in {4400, 4401, 4409, 4429}
    assert [line for line in lines if line["log_level"] == "error"] == []
