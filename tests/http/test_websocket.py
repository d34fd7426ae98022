"""Where there are no subscriptions there is no way in by WebSocket (S-03)."""

import base64
import json
import secrets
from collections.abc import Iterator

import httpx
import pytest

from data.store import Store
from server.settings import Settings
from tests.api.http import GRAPHQL, JSON, MUTATION, QUERY, is_refused
from tests.api.samples import nothing_written
from tests.api_client import COOKIE, token
from tests.live import Connection, live


@pytest.fixture(scope="module")
def url(settings: Settings, store: Store) -> Iterator[str]:
    """The address of a server without subscriptions."""
    with live(settings.model_copy(update={"live": False})) as address:
        yield address


PROTOCOLS = ("graphql-ws", "graphql-transport-ws", "graphql-transport-ws, graphql-ws")
ORIGINS = ("https://evil.example", "http://planner.test", None)


def handshake(team: str, protocol: str, origin: str | None, target: str) -> bytes:
    """RFC 6455 §4.1, as a browser sends it, with the victim's cookie."""
    lines = [
        f"GET {target} HTTP/1.1",
        "Host: planner.test",
        "Connection: keep-alive, Upgrade",
        "Upgrade: WebSocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(secrets.token_bytes(16)).decode()}",
        f"Sec-WebSocket-Protocol: {protocol}",
        f"Cookie: {COOKIE}={token(team)}",
    ]
    if origin:
        lines.append(f"Origin: {origin}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


# `start` of the older protocol, which ran without `connection_init` in CVE-2026-35523.
START = json.dumps({"type": "start", "id": "1", "payload": {"query": MUTATION}}).encode()
FRAME = bytes([0x81, 0x80 | len(START)]) + b"\0\0\0\0" + START


@pytest.mark.parametrize("target", ["/graphql", f"/graphql?query={QUERY.replace(' ', '%20')}"])
@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_upgrade_is_refused_in_json_and_what_follows_is_not_read(
    connection: Connection,
    store: Store,
    team: str,
    protocol: str,
    origin: str | None,
    target: str,
) -> None:
    async with nothing_written(store, team):
        connection.write(handshake(team, protocol, origin, target) + FRAME)
        answer = await connection.receive()
        assert answer.status == 400
        assert answer.header("upgrade") is None
        assert answer.header("sec-websocket-accept") is None
        [error] = answer.json()["errors"]
        assert "WebSocket" in error["message"]
        assert "PLANNER_LIVE" in error["message"]
        assert error["extensions"] == {"code": "BAD_USER_INPUT"}
        assert answer.header("connection") == "close"
        assert await connection.is_closed()


def offering_http2(method: str, target: str, body: bytes) -> bytes:
    """What `curl --http2` and Java's client send where there is no TLS."""
    return (
        f"{method} {target} HTTP/1.1\r\nHost: planner.test\r\n"
        f"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        f"HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nContent-Type: {JSON}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


async def test_an_offer_of_http2_is_ignored_where_nothing_is_lost_by_it(
    connection: Connection,
) -> None:
    await connection.send(offering_http2("GET", "/healthz", b""))
    answer = await connection.receive()
    assert (answer.status, answer.body) == (200, b"ok")
    assert await connection.is_open()


async def test_an_offer_of_http2_with_a_body_is_refused_and_says_why(
    connection: Connection,
) -> None:
    body = json.dumps({"query": QUERY}).encode()
    await connection.send(offering_http2("POST", "/graphql", body))
    answer = await connection.receive()
    assert answer.status == 400
    assert "without `Upgrade`" in answer.json()["errors"][0]["message"]
    assert await connection.is_closed()


async def test_there_is_no_subscription_over_http_either_and_who_takes_events_is_told_in_one(
    url: str, team: str
) -> None:
    headers = {"Authorization": f"Bearer {token(team)}"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as client:
        response = await client.post(
            "/graphql",
            json={"query": "subscription { teamChanged { cursor } }"},
            headers={"Accept": GRAPHQL},
        )
        assert is_refused(response, 400)
        assert "PLANNER_LIVE" in response.json()["errors"][0]["message"]
        response = await client.post(
            "/graphql",
            json={"query": "subscription { teamChanged { cursor } }"},
            headers={"Accept": "text/event-stream"},
        )
        assert response.status_code == 200
        told, _, end = response.text.partition("\n\n")
        [error] = json.loads(told.removeprefix("event: next\ndata: "))["errors"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
        assert "PLANNER_LIVE" in error["message"]
        assert end == "event: complete\ndata:\n\n"
