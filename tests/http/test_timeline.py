"""The timeline page as it is served: its files and no others, its policy, and what there is while
it has not been built."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from data.store import Store
from server.app import create_app
from server.dev import dev_settings
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api.http import is_refused

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
INDEX = "<!doctype html><title>Resource planner</title>"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a page in it, and a secret beside it."""
    assets = tmp_path / "timeline" / "assets"
    assets.mkdir(parents=True)
    (assets / "index-abc123.js").write_text("1")
    (assets / "index-abc123.css").write_text("p {}")
    (tmp_path / "timeline" / "index.html").write_text(INDEX)
    (tmp_path / "auth-secret").write_text("secret")
    (assets / "link").symlink_to(tmp_path / "auth-secret")
    return tmp_path


@pytest.fixture
async def page(settings: Settings, home: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server that has the page."""
    with_page = settings.model_copy(update={"timeline": True, "home": home})
    app = create_app(with_page, credentials=DUMMY_CREDENTIALS)
    async with app.router.lifespan_context(app), client(app) as opened:
        yield opened


def client(app: object) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app)  # type: ignore[arg-type]
    return httpx.AsyncClient(
        transport=transport, base_url="http://planner.test", headers={"Accept": BROWSER}
    )


async def test_the_page_is_asked_for_anew_each_time_and_sent_when_it_has_changed(
    page: httpx.AsyncClient, home: Path
) -> None:
    first = await page.get("/")
    assert (first.status_code, first.text) == (200, INDEX)
    assert first.headers["cache-control"] == "no-cache"
    unchanged = {"If-None-Match": first.headers["etag"]}
    again = await page.get("/", headers=unchanged)
    assert (again.status_code, again.content) == (304, b"")
    (home / "timeline" / "index.html").write_text(INDEX + "<p>new")
    assert (await page.get("/", headers=unchanged)).text == INDEX + "<p>new"
    head = await page.head("/")
    assert (head.status_code, head.content) == (200, b"")


async def test_its_policy_allows_files_of_our_own_and_nothing_inline(
    page: httpx.AsyncClient,
) -> None:
    headers = (await page.get("/")).headers
    policy = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(("suffix", "kind"), [("js", "text/javascript"), ("css", "text/css")])
async def test_files_whose_names_change_with_their_content_may_be_kept_for_ever(
    page: httpx.AsyncClient, suffix: str, kind: str
) -> None:
    response = await page.get(f"/assets/index-abc123.{suffix}")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith(kind)
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    unchanged = {"If-None-Match": response.headers["etag"]}
    assert (await page.get(response.request.url, headers=unchanged)).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/assets/none.js",
        "/assets/",
        "/assets/../index.html",
        "/assets/..%2Findex.html",
        "/assets/..%2F..%2Fauth-secret",
        "/assets/%2e%2e/%2e%2e/auth-secret",
        "/assets/%2Fetc%2Fpasswd",
        "/assets/link",
        "/assets/index-abc123.js%00",
        "/index.html",
        "/auth-secret",
    ],
)
async def test_nothing_else_of_the_disk_can_be_had(page: httpx.AsyncClient, path: str) -> None:
    response = await page.get(httpx.URL(f"http://planner.test{path}"))
    assert is_refused(response, 404)


async def test_the_page_is_read_and_not_written(page: httpx.AsyncClient) -> None:
    assert is_refused(await page.post("/"), 405)
    response = await page.delete("/assets/index-abc123.js")
    assert is_refused(response, 405)
    assert response.headers["allow"] == "GET, HEAD"


async def test_until_it_is_built_a_page_says_how_and_then_it_is_there_without_a_restart(
    settings: Settings, home: Path, tmp_path: Path
) -> None:
    built, aside = home / "timeline", tmp_path / "aside"
    built.rename(aside)
    both = settings.model_copy(update={"timeline": True, "playground": True, "home": home})
    app = create_app(both, credentials=DUMMY_CREDENTIALS)
    async with app.router.lifespan_context(app), client(app) as browser:
        response = await browser.get("/")
        assert response.status_code == 404
        assert "<code>make web</code>" in response.text
        assert 'href="/graphql"' in response.text
        assert "script-src" not in response.headers["content-security-policy"]
        assert is_refused(await browser.get("/assets/index-abc123.js"), 404)
        aside.rename(built)
        assert (await browser.get("/")).text == INDEX
        assert (await browser.get("/assets/index-abc123.js")).status_code == 200


async def test_it_is_off_unless_a_setting_says_otherwise_and_on_in_development(
    http: httpx.AsyncClient, home: Path
) -> None:
    assert not Settings.model_fields["timeline"].default
    assert is_refused(await http.get("/", headers={"Accept": BROWSER}), 404)
    assert is_refused(await http.get("/assets/index-abc123.js"), 404)
    assert dev_settings(Settings(home=home)).timeline
    assert not dev_settings(Settings(timeline=False, home=home)).timeline


async def test_in_development_whoever_opens_it_without_a_session_is_signed_in(
    settings: Settings, home: Path
) -> None:
    async def sign_in(_request: Request, response: Response, _store: Store) -> None:
        response.set_cookie("signed", "in")

    with_page = settings.model_copy(update={"timeline": True, "home": home})
    app = create_app(with_page, credentials=DUMMY_CREDENTIALS, sign_in=sign_in)
    async with app.router.lifespan_context(app), client(app) as browser:
        assert (await browser.get("/")).cookies["signed"] == "in"
