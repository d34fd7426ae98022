"""GraphiQL from our own origin, which works offline and under a CSP without foreign origins.

Its files come by `server.assets`. Without them Strawberry's stock page stands in, and says so: it
loads GraphiQL from a CDN.
"""

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from strawberry.http.ides import get_graphql_ide_html

from server.assets import GRAPHIQL, REACT, REACT_DOM, Package, is_fetched
from server.pages import CLOSED, IMMUTABLE, page

__all__ = ["playground_response", "playground_routes"]

STATIC = Path(__file__).with_name("static")
FETCH_COMMAND = "python -m server.assets graphiql"
NOTICE = (
    '<p role="status" style="margin:0;padding:.5rem 1rem;font:14px system-ui,sans-serif;'
    'background:#fff3cd;color:#664d03">GraphiQL comes from a CDN here, since this server has no '
    f"copy of its own. To get one: <code>{FETCH_COMMAND}</code></p>"
)

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Asset:
    """One file of the page: its place below `/assets/` and on disk."""

    place: str
    file: Path
    media_type: str


def playground_response(home: Path, path: str) -> Response:
    """The page, for a GET of `path` by a browser; `path` as the browser sees it.

    GraphiQL of our own if it has been fetched into `home`, else the stock page with its notice.
    """
    if not _fetched(home):
        return _stock_page()
    urls = {name: escape(_url(path, asset)) for name, asset in _assets(home).items()}
    # A menu of GraphiQL's adds one style element to the page, with the nonce it is told.
    nonce = secrets.token_urlsafe(16)
    template = Template((STATIC / "playground.html").read_text(encoding="utf-8"))
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; "
        f"connect-src 'self'; img-src 'self' data:; font-src 'self' data:; {CLOSED}"
    )
    return _page(template.substitute(urls, nonce=nonce), policy)


def playground_routes(home: Path, path: str) -> list[Route]:
    """A route for each file of the page at `path`, and the favicon. Call it once, at start.

    Logs a warning when GraphiQL isn't in `home`. It may be fetched later, without a restart.
    """
    if not _fetched(home):
        _log.warning("playground.from_cdn", reason="no copy of GraphiQL here", get_it=FETCH_COMMAND)
    assets = _assets(home)
    # Whole paths only: no part of a URL ever becomes part of a file's path.
    routes = [_route(_url(path, asset), asset, IMMUTABLE) for asset in assets.values()]
    return [*routes, _route("/favicon.ico", assets["favicon"], "public, max-age=86400")]


def _fetched(home: Path) -> bool:
    return all(is_fetched(package, home) for package in (GRAPHIQL, REACT, REACT_DOM))


def _assets(home: Path) -> Mapping[str, Asset]:
    """The files, under the names that `playground.html` has for them."""
    javascript, css = "text/javascript", "text/css"
    return {
        "graphiql_js": _npm(GRAPHIQL, "graphiql.min.js", home, javascript),
        "graphiql_css": _npm(GRAPHIQL, "graphiql.min.css", home, css),
        "react": _npm(REACT, "umd/react.production.min.js", home, javascript),
        "react_dom": _npm(REACT_DOM, "umd/react-dom.production.min.js", home, javascript),
        "playground_js": _own("playground.js", javascript),
        "playground_css": _own("playground.css", css),
        "favicon": _own("favicon.svg", "image/svg+xml"),
    }


def _npm(package: Package, file: str, home: Path, media_type: str) -> Asset:
    folder = package.folder(home)
    return Asset(f"{folder.name}/{file}", folder / file, media_type)


def _own(file: str, media_type: str) -> Asset:
    digest = hashlib.sha256((STATIC / file).read_bytes()).hexdigest()[:16]
    return Asset(f"{digest}/{file}", STATIC / file, media_type)


def _url(path: str, asset: Asset) -> str:
    return f"{path.rstrip('/')}/assets/{asset.place}"


def _route(url: str, asset: Asset, cache_control: str) -> Route:
    async def send(_request: Request) -> Response:
        if not asset.file.is_file():
            raise HTTPException(404)
        headers = {"Cache-Control": cache_control}
        return FileResponse(asset.file, media_type=asset.media_type, headers=headers)

    return Route(url, send, methods=["GET"])


def _stock_page() -> Response:
    """Strawberry's page under a CSP that allows what is in it and nothing else."""
    html = get_graphql_ide_html("graphiql")
    hosts = " ".join(sorted(set(re.findall(r'(?:src|href)="(https://[^/"]+)', html))))
    inline = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digests = [hashlib.sha256(script.encode()).digest() for script in inline]
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    policy = (
        f"default-src 'none'; script-src {hosts} {hashes}; style-src {hosts} 'unsafe-inline'; "
        f"connect-src 'self'; img-src 'self' data:; font-src {hosts} data:; {CLOSED}"
    )
    return _page(html.replace("<body>", f"<body>{NOTICE}", 1), policy)


def _page(html: str, policy: str) -> Response:
    response = page(html, policy)
    response.headers["Vary"] = "Accept"  # A client gets another answer at this address.
    return response
