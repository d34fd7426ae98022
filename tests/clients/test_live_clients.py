"""Live updates as clients of others take them: each change once, over a server that stops."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import httpx
import pytest
from gql import Client, gql
from gql.transport.websockets import WebsocketsTransport

from data.errors import BadInput, Unavailable
from data.store import Store
from server.settings import Settings
from tests.api_client import COOKIE, Api, token
from tests.clients.examples import documents
from tests.docs.documents import code_block
from tests.live import live
from tests.programs import program
from tests.subscriptions.sockets import serving, until

NAMES = """subscription($since: String) {
  teamChanged(since: $since) { cursor changes { entity { ... on Resource { name } } } } }"""


class Told:
    """What a program says, line by line, while it runs."""

    def __init__(self, lines: IO[str]) -> None:
        self._lines = lines

    def next(self) -> dict[str, Any]:
        line = self._lines.readline()
        assert line, "it has ended"
        told: dict[str, Any] = json.loads(line)
        return told


@contextmanager
def listening(npm: Path, **request: Any) -> Iterator[Told]:
    process = subprocess.Popen(
        ["node", "live.mjs"], cwd=npm, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(request))
        process.stdin.close()
        yield Told(process.stdout)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


@pytest.fixture
async def api(url: str, team: str) -> AsyncIterator[Api]:
    async with httpx.AsyncClient(base_url=url.removesuffix("/graphql")) as http:
        yield Api(http, team)


@pytest.mark.parametrize("client", ["graphql-ws", "graphql-sse"])
async def test_a_client_goes_on_at_another_server_when_its_own_stops(
    npm: Path, url: str, settings: Settings, store: Store, api: Api, client: str
) -> None:
    with ExitStack() as until_it_stops:
        urls = [f"{until_it_stops.enter_context(live(settings))}/graphql", url]
        request = {"client": client, "urls": urls, "query": NAMES, "last": "Bob"}
        with listening(npm, token=token(api.team), **request) as told:
            assert told.next() == {"began": True}
            await api.resource("Ada")
            assert told.next() == {"name": "Ada"}
            until_it_stops.close()
            await api.resource("Grace")
            assert told.next() == {"name": "Grace"}
            await api.resource("Bob")
            assert told.next() == {"name": "Bob"}
            assert told.next() == {"complete": True, "connections": 2}


PAGE = Path(__file__).parents[2] / "docs" / "live.md"

BROWSER = """
import WebSocket from "ws";
globalThis.location = new URL({url});
globalThis.WebSocket = class extends WebSocket {{
  constructor(address, protocols) {{
    super(address, protocols, {{ headers: {{ cookie: {cookie} }} }});
  }}
}};
const query = {query};
{code}
await listen((change) => console.log(change.entityId));
"""
"""What the code of a page finds in a browser: where it is, and a cookie that goes along."""


async def test_the_javascript_of_the_page_comes_back_with_its_cursor_until_it_is_refused(
    npm: Path, settings: Settings, team: str
) -> None:
    async with serving(settings) as server:
        code = BROWSER.format(
            url=json.dumps(server.url),
            cookie=json.dumps(f"{COOKIE}={token(team)}"),
            query=json.dumps(code_block(PAGE, "What happens in the team")),
            code=code_block(PAGE, "Live updates over WebSocket"),
        )
        command = ["node", "--input-type=module", "--eval", code]
        with program(command, {}, folder=npm) as page:
            await until(lambda: server.feed.lines)
            server.feed.publish("the last cursor")
            server.feed.refuses = Unavailable("not now")
            server.feed.breaks(Unavailable("not any more"))
            errors = "planner_operation_errors_total"
            await until(lambda: server.counts(errors, code="UNAVAILABLE") >= 3)
            server.feed.refuses = None
            await until(lambda: server.feed.lines)
            assert [line.since for line in server.feed.lines] == ["the last cursor"]
            server.feed.refuses = BadInput("too old", field=("since",))
            server.feed.falls_behind()
            _, complaint = await asyncio.to_thread(page.communicate)
            assert page.returncode == 1
            assert "BAD_USER_INPUT" in complaint


async def test_gql_goes_on_with_since(url: str, api: Api) -> None:
    document = gql(documents()["TeamChanged"])
    headers = {"authorization": f"Bearer {token(api.team)}"}
    names: list[str] = []
    since: str | None = None
    for name in ("Ada", "Grace"):
        transport = WebsocketsTransport(url.replace("http", "ws"), init_payload=headers)
        if since:
            await api.resource(name)  # While nobody listens.
        async with Client(transport=transport) as session:
            document.variable_values = {"since": since}
            async for answer in session.subscribe(document):
                told = answer["teamChanged"]
                names += [change["entity"]["name"] for change in told["changes"]]
                if since is None:
                    await api.resource(name)
                since = told["cursor"]
                if name in names:
                    break
    assert names == ["Ada", "Grace"]
