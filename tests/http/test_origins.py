"""Who may write from a browser, and which pages of other origins may read (S-02)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from data.store import Store
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api.http import JSON, MUTATION, QUERY, is_refused
from tests.api.samples import nothing_written
from tests.api_client import COOKIE, token

pytestmark = pytest.mark.engines("local")

HOST = "http://planner.test"
FRIEND = "https://friend.example"
EVIL = "https://evil.example"

# What a form, an image or a beacon of any page sends without being asked (a "simple" request).
SIMPLE: dict[str, tuple[str | None, bytes]] = {
    "text": ("text/plain", json.dumps({"query": MUTATION}).encode()),
    "text with JSON in it": (
        "text/plain; x=application/json",
        json.dumps({"query": MUTATION}).encode(),
    ),
    "a form": ("application/x-www-form-urlencoded", b"query=mutation%7BdeleteResource%7D"),
    "multipart": (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n'
        + json.dumps({"query": MUTATION}).encode()
        + b'\r\n--x\r\nContent-Disposition: form-data; name="map"\r\n\r\n{}\r\n--x--\r\n',
    ),
    "no type": (None, json.dumps({"query": MUTATION}).encode()),
}


@asynccontextmanager
async def browser(settings: Settings, host: str = HOST) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(settings, credentials=DUMMY_CREDENTIALS)
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=host) as client,
    ):
        yield client


@pytest.fixture(scope="module")
async def open_to_friends(settings: Settings, store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """A server whose table is that of `store`, which lets pages of FRIEND in."""
    async with browser(settings.model_copy(update={"allowed_origins": (FRIEND,)})) as client:
        yield client


def cookie(team: str) -> dict[str, str]:
    return {"Cookie": f"{COOKIE}={token(team)}"}


async def write(client: httpx.AsyncClient, team: str, headers: dict[str, str]) -> httpx.Response:
    return await client.post("/graphql", json={"query": MUTATION}, headers=cookie(team) | headers)


def wrote(response: httpx.Response) -> bool:
    return bool(response.json().get("data") == {"createResource": {"errors": []}})


@pytest.mark.parametrize("kind", SIMPLE)
@pytest.mark.parametrize("origin", [EVIL, HOST, None])
async def test_what_a_form_can_send_is_refused_wherever_it_comes_from(
    http: httpx.AsyncClient, store: Store, team: str, kind: str, origin: str | None
) -> None:
    """S-02: with a valid cookie; 403 from elsewhere, 415 from here."""
    content_type, body = SIMPLE[kind]
    headers = cookie(team)
    if content_type:
        headers["Content-Type"] = content_type
    if origin:
        headers["Origin"] = origin
    async with nothing_written(store, team):
        response = await http.post("/graphql", content=body, headers=headers)
    elsewhere = origin == EVIL
    assert is_refused(
        response, 403 if elsewhere else 415, "FORBIDDEN" if elsewhere else "BAD_USER_INPUT"
    )


ELSEWHERE: dict[str, dict[str, str]] = {
    "another origin": {"Origin": EVIL},
    "another origin that calls itself ours": {"Origin": EVIL, "Sec-Fetch-Site": "same-origin"},
    "no origin to speak of": {"Origin": "null"},
    "nothing as an origin": {"Origin": ""},
    "our name on https": {"Origin": "https://planner.test"},
    "our name at another port": {"Origin": "http://planner.test:81"},
    "a name that begins as ours": {"Origin": "http://planner.test.evil.example"},
    "a name that ends as ours": {"Origin": "http://evil-planner.test"},
    "our origin with a path": {"Origin": "http://planner.test/"},
    "a subdomain of ours": {"Origin": "http://sub.planner.test", "Sec-Fetch-Site": "same-site"},
    "another site that hides its origin": {"Sec-Fetch-Site": "cross-site"},
    "a sibling that hides its origin": {"Sec-Fetch-Site": "same-site"},
    "another site with our origin": {"Origin": HOST, "Sec-Fetch-Site": "cross-site"},
    "a site that no browser knows": {"Origin": HOST, "Sec-Fetch-Site": "x"},
    "a host that was made up to fit": {"Origin": EVIL, "X-Forwarded-Host": "evil.example"},
}


@pytest.mark.parametrize("headers", ELSEWHERE.values(), ids=ELSEWHERE.keys())
@pytest.mark.parametrize("signed_in", ["by cookie", "by token", "not at all"])
async def test_a_page_of_another_origin_writes_nothing(
    http: httpx.AsyncClient,
    store: Store,
    team: str,
    headers: dict[str, str],
    signed_in: str,
) -> None:
    """S-02: even with application/json, and whether or not there is a session."""
    session = {
        "by cookie": cookie(team),
        "by token": {"Authorization": f"Bearer {token(team)}"},
        "not at all": {},
    }[signed_in]
    async with nothing_written(store, team):
        response = await http.post(
            "/graphql", json={"query": MUTATION}, headers={**session, **headers}
        )
    assert is_refused(response, 403, "FORBIDDEN")


@pytest.mark.parametrize("name", ["Origin", "Sec-Fetch-Site"])
async def test_two_of_a_header_that_decides_are_refused(
    http: httpx.AsyncClient, store: Store, team: str, name: str
) -> None:
    ours = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}
    pairs = [*cookie(team).items(), *ours.items(), (name, ours[name]), ("Content-Type", JSON)]
    async with nothing_written(store, team):
        response = await http.post(
            "/graphql", content=json.dumps({"query": MUTATION}), headers=pairs
        )
    assert is_refused(response, 403, "FORBIDDEN")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": HOST},
        {"Origin": HOST, "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://planner.test:8000", "Host": "planner.test:8000"},
        {"Origin": "http://[::1]:8000", "Host": "[::1]:8000"},
        {"Origin": HOST, "Host": "PLANNER.test:80"},
    ],
)
async def test_our_own_pages_and_what_is_no_browser_may_write(
    http: httpx.AsyncClient, team: str, headers: dict[str, str]
) -> None:
    assert wrote(await write(http, team, headers))


@pytest.mark.parametrize("headers", ELSEWHERE.values(), ids=ELSEWHERE.keys())
async def test_links_from_elsewhere_may_read_for_nothing_is_changed_by_it(
    http: httpx.AsyncClient, store: Store, team: str, headers: dict[str, str]
) -> None:
    """S-01: what the answer says stays in the browser, since no CORS header lets a page see it."""
    async with nothing_written(store, team):
        for query, status in ((QUERY, 200), (MUTATION, 405)):
            response = await http.get(
                "/graphql", params={"query": query}, headers={**cookie(team), **headers}
            )
            assert response.status_code == status
            assert not has_cors(response)


@pytest.mark.parametrize("path", ["/graphql", "/healthz", "/nowhere", "/"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
async def test_every_path_and_every_unsafe_method_is_checked(
    http: httpx.AsyncClient, method: str, path: str
) -> None:
    response = await http.request(method, path, headers={"Origin": EVIL})
    assert is_refused(response, 403, "FORBIDDEN")


# Where browsers reach us


async def test_the_public_url_is_the_origin_that_counts_and_the_host_is_not(
    settings: Settings, store: Store, team: str
) -> None:
    public = settings.model_copy(update={"public_url": "https://Planner.example:443/app"})
    async with browser(public, "http://10.0.0.1:8000") as client:
        refusals = [HOST, "http://10.0.0.1:8000", "http://planner.example", EVIL]
        for origin in refusals:
            response = await write(client, team, {"Origin": origin})
            assert is_refused(response, 403, "FORBIDDEN"), origin
        # It gets to the next check, which is the session's.
        response = await write(client, team, {"Origin": "https://planner.example"})
        assert is_refused(response, 401, "UNAUTHENTICATED")


async def test_what_a_proxy_is_said_to_have_forwarded_changes_nothing(
    url: str, store: Store, team: str
) -> None:
    """Behind TLS and without PLANNER_PUBLIC_URL writes are refused, not guessed about."""
    forwarded = {"X-Forwarded-Proto": "https", "Forwarded": "proto=https"}
    async with httpx.AsyncClient(base_url=url) as client, nothing_written(store, team):
        response = await write(
            client, team, {"Host": "a.example", "Origin": "https://a.example", **forwarded}
        )
        assert is_refused(response, 403, "FORBIDDEN")
        assert "PLANNER_PUBLIC_URL" in response.text


# Pages of other origins that may read and write


def has_cors(response: httpx.Response) -> bool:
    return any(name.startswith("access-control-allow-origin") for name in response.headers)


PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type",
}


@pytest.mark.parametrize("path", ["/graphql", "/healthz"])
async def test_without_listed_origins_a_preflight_is_an_unknown_method(
    http: httpx.AsyncClient, path: str
) -> None:
    response = await http.options(path, headers={"Origin": FRIEND, **PREFLIGHT})
    assert is_refused(response, 405)
    assert "GET" in response.headers["allow"]
    assert not any(name.startswith("access-control") for name in response.headers)


async def test_a_listed_origin_is_told_what_it_may_send(
    open_to_friends: httpx.AsyncClient,
) -> None:
    response = await open_to_friends.options("/graphql", headers={"Origin": FRIEND, **PREFLIGHT})
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == FRIEND
    assert response.headers["access-control-allow-credentials"] == "true"
    assert response.headers["access-control-allow-methods"] == "GET, POST"
    allowed = {each.strip() for each in response.headers["access-control-allow-headers"].split(",")}
    assert {"Authorization", "Content-Type"} <= allowed
    assert response.headers["access-control-max-age"] == "7200"
    assert "Origin" in response.headers["vary"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"Origin": EVIL}, False),
        ({"Origin": "null"}, False),
        ({"Origin": HOST}, False),
        ({"Access-Control-Request-Method": "DELETE"}, True),
        ({"Access-Control-Request-Headers": "x-anything"}, True),
    ],
)
async def test_any_other_preflight_is_refused_in_json(
    open_to_friends: httpx.AsyncClient, change: dict[str, str], told: bool
) -> None:
    headers = {"Origin": FRIEND, **PREFLIGHT, **change}
    response = await open_to_friends.options("/graphql", headers=headers)
    assert is_refused(response, 403, "FORBIDDEN")
    assert has_cors(response) == told
    assert "Origin" in response.headers["vary"]


@pytest.mark.parametrize("site", ["cross-site", "same-site", None])
async def test_a_page_of_a_listed_origin_writes_and_reads_the_answer(
    open_to_friends: httpx.AsyncClient, team: str, site: str | None
) -> None:
    headers = {"Origin": FRIEND} | ({"Sec-Fetch-Site": site} if site else {})
    response = await write(open_to_friends, team, headers)
    assert wrote(response)
    assert response.headers["access-control-allow-origin"] == FRIEND
    assert response.headers["access-control-allow-credentials"] == "true"
    vary = {each.strip() for each in response.headers["vary"].split(",")}
    assert vary == {"Accept", "Cookie", "Authorization", "Origin"}


@pytest.mark.parametrize("headers", ELSEWHERE.values(), ids=ELSEWHERE.keys())
async def test_listing_one_origin_lets_in_no_other(
    open_to_friends: httpx.AsyncClient, store: Store, team: str, headers: dict[str, str]
) -> None:
    async with nothing_written(store, team):
        response = await write(open_to_friends, team, headers)
    assert is_refused(response, 403, "FORBIDDEN")
    assert not has_cors(response)


async def test_a_listed_origin_can_read_what_went_wrong(
    open_to_friends: httpx.AsyncClient, team: str
) -> None:
    origin = {"Origin": FRIEND}
    signed_in = {**cookie(team), **origin}
    post = open_to_friends.post
    answers = {
        400: await post("/graphql", content=b"{", headers={**signed_in, "Content-Type": JSON}),
        401: await post("/graphql", json={"query": QUERY}, headers=origin),
        404: await open_to_friends.get("/nowhere", headers=origin),
        405: await open_to_friends.put("/graphql", headers=origin),
        406: await post("/graphql", headers={**signed_in, "Accept": "text/html"}),
        413: await post(
            "/graphql", content=b"x" * 1_000_001, headers=signed_in | {"Content-Type": JSON}
        ),
        415: await post("/graphql", content=b"x", headers=signed_in),
    }
    for status, response in answers.items():
        assert response.status_code == status
        assert response.headers["access-control-allow-origin"] == FRIEND
        assert response.headers["access-control-allow-credentials"] == "true"
        assert "Origin" in response.headers["vary"]
