"""The handshake of WebSocket: from where it may come, and how it is refused (S-03)."""

import base64
import json
import logging
from collections.abc import AsyncIterator

import pytest
from starlette.types import Message, Scope
from structlog.testing import capture_logs
from websockets.exceptions import InvalidStatus

from data.store import Store
from server.settings import Settings
from server.ws_messages import PROTOCOL
from tests.api.http import QUERY
from tests.api.samples import nothing_written
from tests.api_client import COOKIE, token
from tests.live import Answer, Connection
from tests.subscriptions.sockets import Server, serving

KEY = base64.b64encode(b"0123456789abcdef").decode()
FRIEND = "https://friend.example"


@pytest.fixture
async def public(settings: Settings, store: Store) -> AsyncIterator[Server]:
    """A server that browsers reach by https, and one other origin besides."""
    chosen = {"public_url": "https://planner.example", "allowed_origins": (FRIEND,)}
    async with serving(settings.model_copy(update=chosen)) as server:
        yield server


def handshake(team: str, **changes: str | None) -> bytes:
    """RFC 6455 §4.1; `changes` of its headers, None to leave one out."""
    lines = {
        "Host": "planner.test",
        "Connection": "keep-alive, Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": KEY,
        "Sec_WebSocket_Protocol": PROTOCOL,
        "Cookie": f"{COOKIE}={token(team)}",
        **changes,
    }
    target = lines.pop("target", "/graphql")
    start = lines.pop("start", f"GET {target} HTTP/1.1")
    given = [f"{name.replace('_', '-')}: {text}" for name, text in lines.items() if text]
    return "\r\n".join([str(start), *given, "", ""]).encode()


async def answer(server: Server, request: bytes) -> Answer:
    """The answer to a request, after which the connection ends unless it switches protocols."""
    connection = await Connection.to(server.url)
    await connection.send(request)
    answer = await connection.receive()
    if answer.status != 101:
        assert await connection.is_closed()
    connection.close()
    return answer


def is_refused(answer: Answer, status: int, code: str) -> bool:
    """Whether it is a refusal as any, in JSON."""
    assert answer.status == status, answer
    assert str(answer.header("content-type")).startswith("application/json")
    assert answer.header("cache-control") == "no-store"
    assert answer.header("sec-websocket-accept") is None
    return [error["extensions"]["code"] for error in answer.json()["errors"]] == [code]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "https://planner.test"},
        {"Origin": "http://planner.test:8000"},
        {"Origin": "http://planner.test.evil.example"},
        {"Origin": "null"},
        {"Origin": FRIEND},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
async def test_a_page_of_another_origin_opens_no_websocket(
    server: Server, store: Store, team: str, headers: dict[str, str]
) -> None:
    """Cross-site WebSocket hijacking: the victim's cookie comes with the handshake."""
    before = server.counts("planner_requests_refused_total", status="403", code="FORBIDDEN")
    async with nothing_written(store, team):
        refused = await answer(server, handshake(team, **headers))
    assert is_refused(refused, 403, "FORBIDDEN")
    assert refused.header("x-correlation-id")
    assert refused.header("x-frame-options") == "DENY"
    after = server.counts("planner_requests_refused_total", status="403", code="FORBIDDEN")
    assert after == before + 1


async def test_our_own_page_and_who_is_no_browser_open_one(server: Server, team: str) -> None:
    for origin in (None, "http://planner.test"):
        for site in (None, "same-origin"):
            opened = await answer(server, handshake(team, Origin=origin, Sec_Fetch_Site=site))
            assert opened.status == 101
            assert opened.header("sec-websocket-protocol") == PROTOCOL
            assert opened.header("sec-websocket-extensions") is None


async def test_origins_are_those_of_the_settings(public: Server, team: str) -> None:
    for origin, status in (
        ("https://planner.example", 101),
        (FRIEND, 101),
        ("http://planner.test", 403),
        ("http://planner.example", 403),
        (f"{FRIEND}.evil.example", 403),
    ):
        assert (await answer(public, handshake(team, Origin=origin))).status == status, origin


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"target": "/"}, 404),
        ({"target": "/calendar/secret.ics"}, 404),
        ({"target": "/graphql/"}, 404),
        ({"Host": "planner.test\r\nHost: evil.test"}, 400),
        ({"Host": None}, 400),
        ({"Origin": "http://planner.test\r\nOrigin: http://planner.test"}, 400),
        ({"Sec_WebSocket_Key": None}, 400),
        ({"Sec_WebSocket_Key": "x"}, 400),
        ({"Sec_WebSocket_Version": "12"}, 400),
        ({"Sec_WebSocket_Version": None}, 400),
        ({"Connection": "close"}, 400),
        ({"Content_Length": "5"}, 400),
        ({"Transfer_Encoding": "chunked"}, 400),
        ({"Upgrade": "websocket, h2c"}, 400),
        ({"start": "POST /graphql HTTP/1.1"}, 400),
        ({"start": "GET /graphql HTTP/1.0"}, 400),
    ],
    ids=str,
)
async def test_what_is_no_handshake_here_is_refused_in_json(
    server: Server, team: str, changes: dict[str, str | None], status: int
) -> None:
    assert is_refused(await answer(server, handshake(team, **changes)), status, "BAD_USER_INPUT")


async def test_the_cookies_of_a_long_session_fit(server: Server, team: str) -> None:
    cookie = f"{COOKIE}={token(team)}; other={'x' * 40_000}"
    many = "\r\n".join(f"X-{number}: x" for number in range(300))
    assert (await answer(server, handshake(team, Cookie=f"{cookie}\r\n{many}"))).status == 101
    too_long = handshake(team, Cookie=f"{cookie}{'x' * 40_000}")
    assert (await answer(server, too_long)).status == 431


async def test_a_handshake_behind_another_request_waits_for_no_answer_of_that(
    server: Server, team: str
) -> None:
    body = json.dumps({"query": QUERY}).encode()
    post = (
        f"POST /graphql HTTP/1.1\r\nHost: planner.test\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token(team)}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    connection = await Connection.to(server.url)
    connection.write(post + body + handshake(team))
    assert (await connection.receive()).status == 200
    assert is_refused(await connection.receive(), 400, "BAD_USER_INPUT")
    connection.close()


async def test_a_handshake_after_another_request_is_one(server: Server, team: str) -> None:
    connection = await Connection.to(server.url)
    assert await connection.is_open()
    await connection.send(handshake(team))
    assert (await connection.receive()).status == 101
    connection.close()


@pytest.mark.parametrize("path", ["/graphql", "/", "/calendar/x.ics"])
async def test_a_server_that_can_not_refuse_in_http_closes_before_it_opens(
    server: Server, store: Store, team: str, path: str
) -> None:
    scope: Scope = {
        "type": "websocket",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": path,
        "query_string": b"",
        "subprotocols": [PROTOCOL],
        "headers": [
            (b"host", b"planner.test"),
            (b"origin", b"https://evil.example"),
            (b"cookie", f"{COOKIE}={token(team)}".encode()),
        ],
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    async with nothing_written(store, team):
        assert server.app
        await server.app(scope, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]


async def test_no_log_has_a_word_of_what_is_said(
    settings: Settings, store: Store, team: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever its level is: not the address with its query, no header, no message."""
    secret = "not for the log"
    headers = {"X-Secret": secret, "Authorization": f"Bearer {token(team)}"}
    with capture_logs() as lines, caplog.at_level(logging.DEBUG):
        async with serving(settings, log_level="debug") as server:
            path = "/graphql?token=not%20for%20the%20log"
            async with server.socket(None, headers=headers, path=path) as socket:
                await socket.begin({"secret": secret})
                await socket.subscribe(query=f"query A {{ viewer {{ id }} }} # {secret}")
                await socket.hear()
                await socket.say("ping", payload={"secret": secret})
                await socket.connection.send(secret)
                await socket.is_closed()
            with pytest.raises(InvalidStatus):
                async with server.socket(team, path="/calendar/not%20for%20the%20log.ics"):
                    pass
    assert {line["event"] for line in lines} >= {"operation", "websocket closed", "request refused"}
    said = "".join(
        record.getMessage()
        for record in caplog.records
        if record.name.startswith(("uvicorn", "server"))
    )
    for word in (secret, "not%20for", token(team)[:40], COOKIE):
        assert word not in said + repr(lines), word
