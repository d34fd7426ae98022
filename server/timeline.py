"""The timeline page at `/`: the app in `examples/timeline/`, built by `make web`.

Its files are static: `index.html`, which is asked for anew each time, and `assets/`, whose names
change with their content. The page talks to the API as any frontend does.
"""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Final

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from server.pages import CLOSED, IMMUTABLE, page, page_headers

__all__ = ["timeline_response", "timeline_routes"]

BUILD_COMMAND: Final = "make web"
_INDEX: Final = "index.html"
# All of it is files of our own origin, but for the small images of form controls.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    f"img-src 'self' data:; font-src 'self'; {CLOSED}"
)
_MISSING: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Resource planner</title>
<h1>The timeline page has not been built</h1>
<p>Run <code>{command}</code> where the server runs (it needs npm), then load this page again.</p>
{elsewhere}
</html>
"""

_log = structlog.get_logger(__name__)


async def timeline_response(request: Request, home: Path, playground: str | None) -> Response:
    """The page, for a GET of `/`; while it has not been built, one that says how to.

    `playground`: where GraphiQL is, if it is anywhere.
    """
    if not _built(home):
        link = f'<p><a href="{escape(playground)}">GraphiQL</a> is there.</p>' if playground else ""
        html = _MISSING.format(command=BUILD_COMMAND, elsewhere=link)
        return page(html, f"default-src 'none'; {CLOSED}", 404)
    headers = {**page_headers(_POLICY), "Cache-Control": "no-cache"}
    return await _send(_folder(home), _INDEX, request, headers)


def timeline_routes(home: Path) -> list[Route]:
    """The routes of the page's files. Call it once, at start.

    Logs a warning when the page has not been built. It may be built later, without a restart.
    """
    if not _built(home):
        _log.warning("timeline.not_built", folder=str(_folder(home)), build_it=BUILD_COMMAND)

    async def asset(request: Request) -> Response:
        folder = _folder(home) / "assets"
        path = request.path_params["path"]
        return await _send(folder, path, request, {"Cache-Control": IMMUTABLE})

    return [Route("/assets/{path:path}", asset, methods=["GET"])]


def _folder(home: Path) -> Path:
    return home / "timeline"


def _built(home: Path) -> bool:
    return (_folder(home) / _INDEX).is_file()


class _Files(StaticFiles):
    """Starlette's, to which a folder that is not there yet is no fault: it has no files."""

    async def check_config(self) -> None:
        pass


async def _send(folder: Path, path: str, request: Request, headers: Mapping[str, str]) -> Response:
    """One file of the folder, or 304; 404 for what is not in it, however it is written."""
    response = await _Files(directory=folder, check_dir=False).get_response(path, request.scope)
    response.headers.update(headers)
    return response
