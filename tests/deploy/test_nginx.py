"""infra/nginx.conf, run by nginx itself in front of the server."""

import json
import os
import shutil
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from data.store import Store
from server.settings import Settings
from server.ws_messages import PROTOCOL
from tests.api.http import GRAPHQL, JSON, MUTATION, QUERY, is_refused, named
from tests.api_client import everything
from tests.deploy.events import session
from tests.docs.documents import ROOT
from tests.engines import require
from tests.live import live
from tests.programs import PATIENCE, free_port, program, until_it_listens
from tests.store.certificates import certificate
from tests.subscriptions.events import EVENTS, Stream
from tests.subscriptions.sockets import Socket

pytestmark = pytest.mark.engines("embedded")

CONF: Final = ROOT / "infra" / "nginx.conf"
BODY_BYTES: Final = 1_000_000
"""The default of PLANNER_MAX_BODY_BYTES."""
PUBLIC: Final = "https://planner.example"
MAIN: Final = """
{user} daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    include {folder}/planner.conf;
}}
"""
"""What Debian's own file has around `conf.d/`, in a folder of the test's."""


@contextmanager
def running(folder: Path, address: str) -> Iterator[tuple[str, Path]]:
    """Where nginx listens, and its certificate; `address` is what it stands in front of."""
    require(shutil.which("nginx"), "nginx is not installed")
    pem = folder / "planner.pem"
    pem.write_bytes(certificate())
    port = free_port()
    conf = replaced(
        CONF.read_text(),
        {
            "127.0.0.1:8000": address,
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            "/etc/ssl/planner/fullchain.pem": str(pem),
            "/etc/ssl/planner/privkey.pem": str(pem),
        },
    )
    (folder / "planner.conf").write_text(conf)
    # Its workers would be somebody else, who can't write here.
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "main.conf").write_text(MAIN.format(folder=folder, user=user))
    command = ["nginx", "-p", str(folder), "-c", str(folder / "main.conf")]
    with program(command, {}, folder=folder) as process:
        until_it_listens(process, port)
        yield f"https://127.0.0.1:{port}", pem
        process.terminate()
        said = process.communicate(timeout=PATIENCE)[1]
    assert (process.returncode, said) == (0, "")


@asynccontextmanager
async def client(url: str, pem: Path) -> AsyncIterator[httpx.AsyncClient]:
    tls = ssl.create_default_context(cafile=str(pem))
    headers = {"Host": "planner.example"}
    async with httpx.AsyncClient(base_url=url, headers=headers, verify=tls) as opened:
        yield opened


@pytest.fixture(scope="module")
def proxy(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """nginx in front of a server whose address is PUBLIC."""
    folder = tmp_path_factory.mktemp("nginx")
    public = settings.model_copy(update={"public_url": PUBLIC, "max_body_bytes": BODY_BYTES})
    with live(public) as address, running(folder, address.removeprefix("http://")) as started:
        yield started
    assert (folder / "error.log").read_text() == ""


@pytest.fixture
async def http(proxy: tuple[str, Path]) -> AsyncIterator[httpx.AsyncClient]:
    async with client(*proxy) as opened:
        yield opened


def signed_in(team: str, **more: str) -> dict[str, str]:
    return {"Cookie": "; ".join(session(team, secure=True)), **more}


async def test_a_page_writes_by_its_cookie_and_another_pages_does_not(
    http: httpx.AsyncClient, store: Store, team: str
) -> None:
    body = {"query": MUTATION}
    others = signed_in(team, Origin="https://evil.example")
    assert is_refused(await http.post("/graphql", json=body, headers=others), 403, "FORBIDDEN")
    plain = signed_in(team, Origin="http://planner.example")
    assert is_refused(await http.post("/graphql", json=body, headers=plain), 403, "FORBIDDEN")
    assert await everything(store, team) == []
    own = signed_in(team, Origin=PUBLIC)
    answer = await http.post("/graphql", json=body, headers=own)
    assert answer.json() == {"data": {"createResource": {"errors": []}}}
    assert answer.headers["strict-transport-security"]
    assert len(await everything(store, team)) == 1


async def test_the_largest_cookies_of_a_session_get_through(
    http: httpx.AsyncClient, team: str
) -> None:
    cookies = f"{signed_in(team)['Cookie']}; other={'x' * 16_000}"
    answer = await http.post("/graphql", json={"query": QUERY}, headers={"Cookie": cookies})
    assert answer.json() == named(team)


async def test_a_body_that_is_too_large_is_refused_by_the_server_in_json(
    http: httpx.AsyncClient, team: str
) -> None:
    body = {"query": QUERY + " " * (BODY_BYTES + 500_000)}
    answer = await http.post("/graphql", json=body, headers=signed_in(team))
    assert is_refused(answer, 413)


@pytest.mark.parametrize("media_type", [JSON, GRAPHQL])
async def test_answers_are_compressed(http: httpx.AsyncClient, team: str, media_type: str) -> None:
    headers = signed_in(team, Accept=media_type)
    answer = await http.post("/graphql", json={"query": QUERY}, headers=headers)
    assert answer.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in ",".join(answer.headers.get_list("vary"))
    assert answer.json() == named(team)


LIVE: Final = "subscription { teamChanged { cursor changes { kind } } }"
CREATED: Final = [{"kind": "CREATED"}]


async def test_a_websocket_gets_through_as_it_goes(proxy: tuple[str, Path], team: str) -> None:
    url, pem = proxy
    headers = {"Cookie": "; ".join(session(team, secure=True))}
    async with (
        client(url, pem) as http,
        connect(
            f"{url.replace('https', 'wss')}/graphql",
            ssl=ssl.create_default_context(cafile=str(pem)),
            subprotocols=[Subprotocol(PROTOCOL)],
            origin=Origin(PUBLIC),
            additional_headers=headers,
            proxy=None,
        ) as connection,
    ):
        socket = Socket(connection)
        await socket.begin()
        await socket.subscribe(query=LIVE)
        assert (await socket.hear())["payload"]["data"]["teamChanged"]["changes"] == []
        await http.post("/graphql", json={"query": MUTATION}, headers=headers)
        assert (await socket.hear())["payload"]["data"]["teamChanged"]["changes"] == CREATED


async def test_events_get_through_one_by_one(proxy: tuple[str, Path], team: str) -> None:
    headers = signed_in(team, Accept=EVENTS)
    async with (
        client(*proxy) as http,
        http.stream("POST", "/graphql", json={"query": LIVE}, headers=headers) as response,
    ):
        stream = Stream(response)
        for expected in ([], CREATED):
            name, data = await stream.hear()
            changes = json.loads(data)["data"]["teamChanged"]["changes"]
            assert (name, changes) == ("next", expected)
            await http.post("/graphql", json={"query": MUTATION}, headers=signed_in(team))


async def test_no_other_upgrade_gets_through(http: httpx.AsyncClient, team: str) -> None:
    """A POST that offers HTTP/2 is refused by the server itself."""
    headers = signed_in(team, Connection="Upgrade, HTTP2-Settings", Upgrade="h2c")
    answer = await http.post("/graphql", json={"query": QUERY}, headers=headers)
    assert answer.json() == named(team)


async def test_the_address_of_a_calendar_is_in_no_log_even_when_the_server_is_gone(
    tmp_path: Path,
) -> None:
    with running(tmp_path, f"127.0.0.1:{free_port()}") as (url, pem):
        async with client(url, pem) as http:
            for path in ("/healthz", "/calendar/secret.ics", "/%63alendar//secret.ics?a=b"):
                assert (await http.get(path)).status_code == 502
    for log in ("access.log", "error.log"):
        written = (tmp_path / log).read_text()
        assert written.count("/healthz") >= 1
        assert "secret" not in written


def replaced(text: str, changes: dict[str, str]) -> str:
    for before, after in changes.items():
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text
