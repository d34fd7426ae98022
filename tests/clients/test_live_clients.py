"""Live updates as clients of others take them: each change once, over a server that stops."""

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

from data.store import Store
from server.settings import Settings
from tests.api_client import Api, token
from tests.clients.examples import documents
from tests.live import live

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
