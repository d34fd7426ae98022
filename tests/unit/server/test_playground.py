import re
from pathlib import Path

import pytest
import structlog
from httpx import ASGITransport, AsyncClient
from httpx import Response as Answer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.playground import STATIC, playground_response, playground_routes
from tests.engines import HOME, require_graphiql

PATH = "/graphql"
FOREIGN = re.compile(r"(?:https?:)?//[a-z0-9.-]+", re.IGNORECASE)


def client_of(home: Path) -> AsyncClient:
    async def page(_request: Request) -> Response:
        return playground_response(home, PATH)

    app = Starlette(routes=[Route(PATH, page), *playground_routes(home, PATH)])
    transport = ASGITransport(app)
    return AsyncClient(transport=transport, base_url="http://127.0.0.1")


@pytest.fixture(scope="module")
def client() -> AsyncClient:
    """A server that has the real GraphiQL."""
    require_graphiql()
    return client_of(HOME)


def links_in(html: str) -> list[str]:
    return re.findall(r'(?:src|href)="([^"]+)"', html)


def policy_of(response: Answer) -> dict[str, list[str]]:
    header = response.headers["content-security-policy"]
    directives = (part.split() for part in header.split(";"))
    return {name: sources for name, *sources in directives}


async def test_every_file_of_the_page_comes_from_here_and_may_be_kept(
    client: AsyncClient,
) -> None:
    links = links_in((await client.get(PATH)).text)
    assert len(links) == 7
    for link in links:
        assert link.startswith(f"{PATH}/assets/")
        answer = await client.get(link)
        assert answer.status_code == 200
        assert answer.content
        assert "immutable" in answer.headers["cache-control"]
        kinds = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
        assert answer.headers["content-type"].startswith(kinds[link.rpartition(".")[2]])


async def test_the_page_has_no_foreign_origin_and_no_inline_code(client: AsyncClient) -> None:
    html = (await client.get(PATH)).text
    assert not FOREIGN.search(html)
    assert re.findall(r"<script[^>]*>(.*?)</script>", html) == [""] * 4
    assert "<style" not in html
    assert not re.search(r"\son\w+=|\sstyle=|javascript:", html)
    for own in ("playground.js", "playground.css"):
        text = re.sub(r"^\s*//.*$", "", (STATIC / own).read_text(), flags=re.MULTILINE)
        assert not FOREIGN.search(text)


async def test_the_policy_allows_this_origin_only(client: AsyncClient) -> None:
    policy = policy_of(await client.get(PATH))
    nonce = policy["style-src"].pop()
    assert policy == {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "connect-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'", "data:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
    assert re.fullmatch(r"'nonce-[\w-]{20,}'", nonce)


async def test_each_page_has_its_own_nonce_which_its_script_is_told(
    client: AsyncClient,
) -> None:
    pages = [await client.get(PATH), await client.get(PATH)]
    nonces = [policy_of(page)["style-src"][1] for page in pages]
    assert nonces[0] != nonces[1]
    told = [re.findall(r'nonce="([^"]+)"', page.text) for page in pages]
    assert told == [[nonce.removeprefix("'nonce-").rstrip("'")] for nonce in nonces]


async def test_the_page_depends_on_accept_and_tells_only_us_where_it_was(
    client: AsyncClient,
) -> None:
    headers = (await client.get(PATH)).headers
    assert headers["vary"] == "Accept"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/../settings.py", "/%2e%2e/%2e%2e/settings.py", "/x", "/"])
async def test_no_other_file_is_served(client: AsyncClient, path: str) -> None:
    assert (await client.get(f"{PATH}/assets{path}")).status_code == 404


async def test_there_is_a_favicon(client: AsyncClient) -> None:
    answer = await client.get("/favicon.ico")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/svg+xml"


async def test_without_the_files_the_stock_page_stands_in_and_says_so(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logs:
        client = client_of(tmp_path)
    assert [entry["event"] for entry in logs] == ["playground.from_cdn"]
    answer = await client.get(PATH)
    assert "GraphiQL comes from a CDN here" in answer.text
    assert "python -m server.assets graphiql" in answer.text
    policy = policy_of(answer)
    hosts = {"/".join(link.split("/")[:3]) for link in links_in(answer.text) if "://" in link}
    hosts = {host for host in hosts if host.startswith("https://")}
    assert {source for source in policy["script-src"] if "://" in source} == hosts
    assert "'unsafe-inline'" not in policy["script-src"]
    assert policy["connect-src"] == ["'self'"]


async def test_files_that_are_not_there_are_not_found(tmp_path: Path) -> None:
    client = client_of(tmp_path)
    route = playground_routes(tmp_path, PATH)[0]
    assert (await client.get(route.path)).status_code == 404
