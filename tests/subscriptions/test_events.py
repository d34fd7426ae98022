"""Subscriptions as server-sent events, by the protocol of graphql-sse."""

import asyncio
import json
import threading
from typing import Any

import pytest
from structlog.testing import capture_logs

from data.store import Store
from server.protocol import BoundedHttp
from tests.api.http import GRAPHQL, JSON, MUTATION, QUERY, is_refused, named
from tests.api_client import everything, token
from tests.live import Connection
from tests.subscriptions.events import EVENTS, Stream, reading
from tests.subscriptions.feed import Line
from tests.subscriptions.sockets import SUBSCRIPTION, Server, changed, until


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_each_batch_is_an_event_until_the_client_goes(
    server: Server, team: str, method: str
) -> None:
    variables: Any = {"since": "here"}
    if method == "GET":
        variables = json.dumps(variables)
    async with reading(server, team, method=method, variables=variables) as stream:
        assert stream.response.status_code == 200
        assert stream.response.headers["content-type"] == f"{EVENTS}; charset=utf-8"
        assert stream.response.headers["cache-control"] == "no-store"
        assert stream.response.headers["x-accel-buffering"] == "no"
        for cursor in ("cursor-0", "1", "2"):
            name, data = await stream.hear()
            assert (name, json.loads(data)) == ("next", changed(cursor))
            server.feed.publish(str(int(cursor[-1]) + 1))
        [line] = server.feed.lines
        assert (line.team_id, line.since) == (team, "here")
    await until(lambda: not server.feed.lines)


def request(team: str, query: str = SUBSCRIPTION) -> bytes:
    """A POST that takes events, as bytes."""
    body = json.dumps({"query": query}).encode()
    head = (
        f"POST /graphql HTTP/1.1\r\nHost: planner.test\r\nContent-Type: {JSON}\r\n"
        f"Authorization: Bearer {token(team)}\r\nAccept: {EVENTS}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def test_a_client_that_goes_before_its_stream_begins_leaves_nothing(
    server: Server, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = threading.Event()

    def noting(protocol: BoundedHttp, exc: Exception | None) -> None:
        connection_lost(protocol, exc)
        lost.set()

    async def subscribe(*args: Any) -> Line:
        line = await begin(*args)
        await asyncio.to_thread(lost.wait)
        return line

    connection_lost, begin = BoundedHttp.connection_lost, server.feed.subscribe
    monkeypatch.setattr(BoundedHttp, "connection_lost", noting)
    monkeypatch.setattr(server.feed, "subscribe", subscribe)
    ended = server.counts("planner_subscriptions_ended_total", reason="client")
    connection = await Connection.to(server.url)
    await connection.send(request(team))
    await until(lambda: server.feed.lines)
    connection.close()
    await server.is_left()
    assert server.counts("planner_subscriptions_ended_total", reason="client") == ended + 1


async def test_a_client_that_goes_is_noticed_though_another_request_waits(
    server: Server, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its second request, behind a stream without an end."""
    monkeypatch.setattr("server.event_stream.KEEP_ALIVE_SECONDS", 0.01)
    ended = server.counts("planner_subscriptions_ended_total", reason="client")
    connection = await Connection.to(server.url)
    await connection.send(request(team) + request(team, QUERY))
    assert (await connection.receive()).status == 200
    connection.close()
    await server.is_left()
    assert server.counts("planner_subscriptions_ended_total", reason="client") == ended + 1


async def test_a_stream_that_ends_by_itself_is_complete(server: Server, team: str) -> None:
    async with reading(server, team) as stream:
        await stream.hear()
        server.feed.breaks(StopAsyncIteration())
        assert await stream.rest() == [("complete", "")]


async def test_a_stream_that_is_quiet_is_kept_alive_by_comments(
    server: Server, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.event_stream.KEEP_ALIVE_SECONDS", 0.01)
    async with reading(server, team) as stream:
        lines = stream.response.aiter_lines()
        for _ in range(3):
            while (await anext(lines)) != ":":
                pass


@pytest.mark.parametrize("query", [QUERY, MUTATION])
async def test_queries_and_mutations_have_one_event(
    server: Server, store: Store, team: str, query: str
) -> None:
    async with reading(server, team, query=query) as stream:
        assert stream.response.headers["content-type"] == f"{EVENTS}; charset=utf-8"
        (name, data), end = await stream.rest()
    expected = named(team) if query == QUERY else {"data": {"createResource": {"errors": []}}}
    assert (name, json.loads(data), end) == ("next", expected, ("complete", ""))
    assert len(await everything(store, team)) == (query == MUTATION)


@pytest.mark.parametrize(
    ("envelope", "code"),
    [
        ({"query": "subscription { nothing }"}, "BAD_USER_INPUT"),
        ({"query": "{"}, "BAD_USER_INPUT"),
        ({"variables": {"since": 1}}, "BAD_USER_INPUT"),
        ({"variables": {"since": "tampered"}}, "BAD_USER_INPUT"),
        ({"variables": {"x": [1] * 200}}, "LIMIT_EXCEEDED"),
    ],
)
async def test_an_operation_that_is_refused_says_so_in_an_event(
    server: Server, team: str, envelope: dict[str, Any], code: str
) -> None:
    async with reading(server, team, **envelope) as stream:
        assert stream.response.status_code == 200
        (name, data), end = await stream.rest()
    assert (name, end) == ("next", ("complete", ""))
    [error] = json.loads(data)["errors"]
    assert error["extensions"]["code"] == code


@pytest.mark.parametrize(
    ("team_or_none", "request_", "status", "code"),
    [
        (None, {"json": {"query": SUBSCRIPTION}}, 401, "UNAUTHENTICATED"),
        ("t", {"content": b"{", "headers": {"Content-Type": JSON}}, 400, "BAD_USER_INPUT"),
        ("t", {"content": b"{}", "headers": {"Content-Type": "text/plain"}}, 415, "BAD_USER_INPUT"),
        ("t", {"json": {"query": 1}}, 400, "BAD_USER_INPUT"),
        ("t", {"json": {"query": SUBSCRIPTION, "x": "x" * 1_000_000}}, 413, "BAD_USER_INPUT"),
    ],
    ids=["nobody", "no JSON", "no JSON by its type", "no query", "too large"],
)
async def test_what_is_no_operation_is_refused_in_json(
    server: Server, team_or_none: str | None, request_: dict[str, Any], status: int, code: str
) -> None:
    async with server.http(team_or_none) as client:
        headers = {"Accept": EVENTS, **request_.pop("headers", {})}
        response = await client.post("/graphql", headers=headers, **request_)
    assert is_refused(response, status, code)


@pytest.mark.parametrize("accept", [None, "*/*", JSON, GRAPHQL, f"{EVENTS};q=0, */*"])
async def test_a_subscription_is_not_taken_by_who_takes_no_events(
    server: Server, team: str, accept: str | None
) -> None:
    async with server.http(team) as client:
        headers = {"Accept": accept} if accept else {}
        response = await client.post("/graphql", json={"query": SUBSCRIPTION}, headers=headers)
    assert is_refused(response, 406)
    message = response.json()["errors"][0]["message"]
    assert EVENTS in message
    assert "WebSocket" in message
    assert not server.feed.lines


async def test_what_clients_accept_for_all_their_operations_means_events_for_subscriptions_alone(
    server: Server, team: str
) -> None:
    """urql and others send this with each."""
    accept = {"Accept": f"{GRAPHQL}, {JSON}, {EVENTS}, multipart/mixed"}
    async with server.http(team) as client:
        answer = await client.post("/graphql", json={"query": QUERY}, headers=accept)
        assert answer.headers["content-type"].startswith(GRAPHQL)
        body = {"query": SUBSCRIPTION}
        async with client.stream("POST", "/graphql", json=body, headers=accept) as response:
            assert response.headers["content-type"].startswith(EVENTS)
            assert (await Stream(response).hear())[0] == "next"


async def test_a_subscription_has_no_head(server: Server, team: str) -> None:
    async with server.http(team) as client:
        response = await client.head(
            "/graphql", params={"query": SUBSCRIPTION}, headers={"Accept": EVENTS}
        )
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, POST"


async def test_a_mutation_by_get_is_refused_in_events_too(
    server: Server, store: Store, team: str
) -> None:
    async with reading(server, team, method="GET", query=MUTATION) as stream:
        assert stream.response.status_code == 405
    assert await everything(store, team) == []


async def test_a_page_of_another_origin_begins_no_stream_by_post(server: Server, team: str) -> None:
    async with server.http(team) as client:
        headers = {"Accept": EVENTS, "Origin": "https://evil.example"}
        response = await client.post("/graphql", json={"query": SUBSCRIPTION}, headers=headers)
    assert is_refused(response, 403, "FORBIDDEN")


async def test_a_fault_ends_the_answer_and_is_logged_once(server: Server, team: str) -> None:
    with capture_logs() as lines:
        async with reading(server, team) as stream:
            await stream.hear()
            server.feed.breaks(RuntimeError("arn:aws:dynamodb:secret"))
            assert await stream.rest() == []
        await server.is_left()
    [failed] = [line for line in lines if line["log_level"] == "error"]
    [operation] = [line for line in lines if line["event"] == "operation"]
    assert failed["correlation_id"] == operation["correlation_id"]
    assert operation["correlation_id"] == stream.response.headers["x-correlation-id"]
    assert (operation["ended"], operation["codes"]) == ("fault", ["INTERNAL"])


async def test_a_subscription_is_one_line_at_its_end(server: Server, team: str) -> None:
    with capture_logs() as lines:
        async with reading(server, team) as stream, server.begun(team) as socket:
            await stream.hear()
            await socket.stands()
            assert [line for line in lines if line["event"] == "operation"] == []
            assert server.counts("planner_operations_in_progress") == 0
            assert server.counts("planner_live_connections", transport="websocket") == 1
            assert server.counts("planner_live_connections", transport="sse") == 1
        await server.is_left()
    said = [line for line in lines if line["event"] == "operation"]
    assert {line["status"] for line in said} == {200, 101}
    for line in said:
        assert (line["operation"], line["type"], line["outcome"]) == ("Live", "subscription", "ok")
        assert (line["answers"], line["ended"], line["codes"]) == (1, "client", [])
