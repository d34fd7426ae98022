"""A calendar over a socket: HEAD, 304, the connection that stays, and what the web server logs."""

import logging

import pytest
from structlog.testing import capture_logs

from data.feeds import new_token
from data.store import Store
from server.settings import Settings
from tests.api.samples import feed, resource
from tests.api_client import put
from tests.live import Connection, live


def request(method: str, path: str, **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: planner.test"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.fixture
async def token(store: Store, team: str) -> str:
    """The token of a feed."""
    token = new_token()
    await put(store, team, [resource("r"), feed(team, "f", resource="r", token=token)])
    return token


async def test_head_is_get_without_the_body_and_304_has_none(
    connection: Connection, token: str
) -> None:
    path = f"/calendar/{token}.ics"
    await connection.send(request("GET", path))
    got = await connection.receive()
    assert got.status == 200
    assert got.body.startswith(b"BEGIN:VCALENDAR\r\n")
    await connection.send(request("HEAD", path))
    head = await connection.receive(head=True)
    unstable = {"date", "x-correlation-id"}
    assert [each for each in head.headers if each[0] not in unstable] == [
        each for each in got.headers if each[0] not in unstable
    ]
    for method in ("GET", "HEAD"):
        await connection.send(request(method, path, If_None_Match=str(got.header("etag"))))
        unchanged = await connection.receive()
        assert (unchanged.status, unchanged.body) == (304, b"")
        assert unchanged.header("etag") == got.header("etag")
    assert await connection.is_open()


async def test_the_web_server_logs_no_address(
    settings: Settings, caplog: pytest.LogCaptureFixture, token: str
) -> None:
    """Whatever its level is, short of `trace`."""
    path = f"/calendar/{token}.ics"
    with (
        capture_logs() as lines,
        caplog.at_level(logging.DEBUG),
        live(settings, log_level="debug") as url,
    ):
        connection = await Connection.to(url)
        for method, asked in (("GET", path), ("GET", f"{path}x"), ("PUT", path)):
            await connection.send(request(method, asked, Referer=f"http://planner.test{path}"))
            await connection.receive()
        connection.close()
    assert {each["event"] for each in lines} >= {"calendar", "request refused"}
    assert caplog.text
    assert token not in caplog.text + repr(lines)
