"""GraphiQL needs nobody but us where it is on, and is not there where it is off (S-15)."""

import re
import socket
from collections.abc import Iterator
from typing import Any, NoReturn

import httpx
import pytest

from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api.http import QUERY, is_refused, named
from tests.api_client import Api
from tests.engines import require_graphiql

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
ON = {"playground": True, "introspection": True}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing can be looked up or connected to, not even on this machine."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("something left for the network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield
    # Checked here, or nothing above would show that the block holds.
    with pytest.raises(AssertionError), socket.socket() as attempt:
        attempt.connect(("127.0.0.1", 9))


def application(settings: Settings) -> httpx.AsyncClient:
    app = create_app(settings, credentials=DUMMY_CREDENTIALS)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://planner.test")


async def test_page_and_all_it_loads_come_from_here_without_a_network(
    settings: Settings, no_network: None
) -> None:
    require_graphiql()
    async with application(settings.model_copy(update=ON)) as client:
        page = await client.get("/graphql", headers={"Accept": BROWSER})
        assert page.status_code == 200
        links = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert len(links) == 7
        for link in links:
            assert link.startswith("/graphql/assets/")
            response = await client.get(link)
            assert response.status_code == 200
            assert response.content
    sources = {
        source
        for directive in page.headers["content-security-policy"].split(";")
        for source in directive.split()[1:]
    }
    foreign = {each for each in sources if not re.fullmatch(r"'(self|none|nonce-[\w-]+)'", each)}
    assert foreign == {"data:"}


async def test_a_browser_that_opens_our_address_is_led_to_the_page(settings: Settings) -> None:
    async with application(settings.model_copy(update=ON)) as client:
        response = await client.get("/", headers={"Accept": BROWSER})
        assert (response.status_code, response.headers["location"]) == (307, "/graphql")
        response = await client.head("/graphql", headers={"Accept": BROWSER})
        assert response.headers["content-type"].startswith("text/html")


async def test_in_production_it_is_off_unless_a_setting_says_otherwise() -> None:
    assert not Settings.model_fields["playground"].default
    assert not Settings.model_fields["introspection"].default


async def test_where_it_is_off_a_browser_gets_a_refusal_in_json_and_no_file(
    http: httpx.AsyncClient, settings: Settings
) -> None:
    async with application(settings.model_copy(update=ON)) as client:
        page = await client.get("/graphql", headers={"Accept": BROWSER})
    for link in (*re.findall(r'(?:src|href)="(/[^"]+)"', page.text), "/favicon.ico", "/"):
        assert is_refused(await http.get(link, headers={"Accept": BROWSER}), 404)
    response = await http.get("/graphql", headers={"Accept": BROWSER})
    assert is_refused(response, 401, "UNAUTHENTICATED")
    assert is_refused(await http.get("/graphql", headers={"Accept": "text/html"}), 406)


async def test_where_it_is_off_a_query_by_get_has_its_own_rule(
    http: httpx.AsyncClient, api: Api
) -> None:
    response = await http.get(
        "/graphql", params={"query": QUERY}, headers={**api.headers, "Accept": BROWSER}
    )
    assert (response.status_code, response.json()) == (200, named(api.team))
