"""What every answer carries, on every path, and what none does."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest
import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from data.store import Store
from server.app import create_app
from server.dev import dev_sign_in
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api.http import JSON, MUTATION, QUERY, is_refused
from tests.api_client import COOKIE, token
from tests.live import Connection, live

pytestmark = pytest.mark.engines("local")

PAGE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
async def playground(settings: Settings, store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """A server with everything on, on https."""
    chosen = {"playground": True, "public_url": "https://planner.test"}
    with live(settings.model_copy(update=chosen)) as url:
        async with httpx.AsyncClient(base_url=url) as client:
            yield client


async def every_kind_of_answer(
    client: httpx.AsyncClient, cookie: dict[str, str]
) -> AsyncIterator[tuple[str, httpx.Response]]:
    """One answer of each kind, by what was asked."""
    by_post = {"Content-Type": JSON, **cookie}
    for what, method, path, headers, content in (
        ("health", "GET", "/healthz", {}, None),
        ("an operation", "POST", "/graphql", by_post, f'{{"query": "{QUERY}"}}'),
        ("a page", "GET", "/graphql", PAGE, None),
        ("a redirect", "GET", "/", {}, None),
        ("the favicon", "GET", "/favicon.ico", {}, None),
        ("unauthenticated", "POST", "/graphql", {"Content-Type": JSON}, "{}"),
        ("malformed", "POST", "/graphql", by_post, "{"),
        ("another origin", "POST", "/graphql", {"Origin": "https://evil.example"}, "{}"),
        ("unknown", "GET", "/nowhere", {}, None),
        ("an unknown asset", "GET", "/graphql/assets/x", {}, None),
        ("an unknown method", "DELETE", "/graphql", cookie, None),
        ("OPTIONS", "OPTIONS", "/graphql", {}, None),
        ("unacceptable", "POST", "/graphql", {**by_post, "Accept": "text/html"}, "{}"),
        ("too large", "POST", "/graphql", by_post, "x" * 1_000_001),
        ("no JSON", "POST", "/graphql", {**cookie, "Content-Type": "text/plain"}, "{}"),
    ):
        yield what, await client.request(method, path, headers=headers, content=content)
    html = (await client.get("/graphql", headers=PAGE)).text
    for link in re.findall(r'(?:src|href)="(/[^"]+)"', html):
        yield link, await client.get(link)


async def test_every_answer_has_the_security_headers(playground: httpx.AsyncClient) -> None:
    cookie = {"Cookie": f"__Secure-{COOKIE}=x"}
    async for what, response in every_kind_of_answer(playground, cookie):
        headers = response.headers
        assert headers["x-content-type-options"] == "nosniff", what
        assert headers["x-frame-options"] == "DENY", what
        assert headers["cross-origin-resource-policy"] == "same-origin", what
        assert headers["strict-transport-security"] == "max-age=31536000", what
        assert "frame-ancestors 'none'" in headers["content-security-policy"], what
        assert "default-src 'none'" in headers["content-security-policy"], what
        is_page = headers.get("content-type", "").startswith("text/html")
        assert headers["referrer-policy"] == ("same-origin" if is_page else "no-referrer"), what
        assert ("script-src" in headers["content-security-policy"]) == is_page, what
        is_file = what.startswith("/graphql/assets/") or what == "the favicon"
        assert headers["cache-control"].startswith("public" if is_file else "no-store"), what
        for name in set(headers) - {"vary"}:
            assert len(headers.get_list(name)) == 1, (what, name)
        assert "server" not in headers, what


async def test_the_server_as_it_is_served_never_sets_a_cookie(
    http: httpx.AsyncClient, playground: httpx.AsyncClient, team: str
) -> None:
    """S-02: a cookie of ours would be one more that pages elsewhere can use."""
    for client, name in ((http, COOKIE), (playground, f"__Secure-{COOKIE}")):
        for cookie in ({}, {"Cookie": f"{name}={token(team)}"}):
            async for what, response in every_kind_of_answer(client, cookie):
                assert "set-cookie" not in response.headers, what


@pytest.mark.parametrize("public_url", ["", "https://planner.test"])
async def test_the_cookie_of_development_is_as_narrow_as_it_can_be(
    settings: Settings, public_url: str
) -> None:
    chosen = settings.model_copy(update={"playground": True, "public_url": public_url})
    app = create_app(chosen, credentials=DUMMY_CREDENTIALS, sign_in=dev_sign_in(chosen))
    transport = httpx.ASGITransport(app=app)
    origin = public_url or "http://127.0.0.1:8000"
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=origin) as client,
    ):
        response = await client.get("/graphql", headers=PAGE)
        # A foreign page's name that leads to this machine (DNS rebinding).
        foreign = await client.get("/graphql", headers={**PAGE, "Host": "evil.test"})
    assert "set-cookie" not in foreign.headers
    [cookie] = response.headers.get_list("set-cookie")
    value, *attributes = cookie.split("; ")
    assert value.startswith(f"__Secure-{COOKIE}=" if public_url else f"{COOKIE}=")
    named = {each.split("=")[0].lower(): each.partition("=")[2] for each in attributes}
    assert named.keys() - {"expires", "max-age"} == {"httponly", "path", "samesite"} | (
        {"secure"} if public_url else set()
    )
    assert named["samesite"] == "lax"
    assert named["path"] == "/"


async def test_without_https_browsers_are_not_told_to_insist_on_it(http: httpx.AsyncClient) -> None:
    assert "strict-transport-security" not in (await http.get("/healthz")).headers


# An exception that nobody expected


async def fails(request: Request) -> Response:
    raise RuntimeError("arn:aws:dynamodb:eu-central-1:1:table/secret")


async def fails_halfway(request: Request) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        yield b"half"
        raise RuntimeError("the other half")

    return StreamingResponse(parts(), headers={"Content-Length": "8"})


@pytest.fixture
def failing(settings: Settings) -> Starlette:
    friendly = settings.model_copy(update={"allowed_origins": ("https://friend.example",)})
    app = create_app(friendly, credentials=DUMMY_CREDENTIALS)
    app.router.routes += [Route("/fails", fails), Route("/fails-halfway", fails_halfway)]
    return app


async def test_a_fault_on_any_path_is_masked_logged_once_and_readable(failing: Starlette) -> None:
    """S-10: with the id that the log has, and with every header that any answer has."""
    transport = httpx.ASGITransport(app=failing)
    async with httpx.AsyncClient(transport=transport, base_url="http://planner.test") as client:
        with structlog.testing.capture_logs() as logs:
            response = await client.get("/fails", headers={"Origin": "https://friend.example"})
    assert is_refused(response, 500, "INTERNAL")
    [error] = response.json()["errors"]
    assert error["message"] == "Internal error"
    assert "secret" not in response.text + str(response.headers)
    assert [entry["correlation_id"] for entry in logs] == [error["extensions"]["correlationId"]]
    assert response.headers["access-control-allow-origin"] == "https://friend.example"
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_a_fault_in_the_middle_of_an_answer_cuts_the_connection(
    failing: Starlette, settings: Settings
) -> None:
    with live(settings, failing) as url:
        connection = await Connection.to(url)
        await connection.send(b"GET /fails-halfway HTTP/1.1\r\nHost: x\r\n\r\n")
        with pytest.raises(EOFError):
            await connection.receive()
        connection.close()


async def test_what_a_browser_may_keep_is_never_what_a_session_shows(
    http: httpx.AsyncClient, team: str
) -> None:
    """S-01: neither a proxy nor the back button shows one user what another has asked."""
    cookie = {"Cookie": f"{COOKIE}={token(team)}"}
    for query in (QUERY, MUTATION):
        response = await http.get("/graphql", params={"query": query}, headers=cookie)
        assert response.headers["cache-control"] == "no-store"
        vary = {each.strip() for each in response.headers["vary"].split(",")}
        assert vary == {"Accept", "Cookie", "Authorization"}
