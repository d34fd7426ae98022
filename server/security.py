"""What browsers need to be told and asked: who may write from where, and headers that close the
rest.

Forged requests are told apart by what browsers say of them and no page can change:
`Sec-Fetch-Site` (Fetch Metadata, W3C) and `Origin` (RFC 6454 §7), as OWASP's cheat sheet on CSRF
has it. Every method but the safe ones (RFC 9110 §9.2.1) is checked, with a session or without. Who
sends neither header is no browser, and acts in nobody's name.
"""

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from data.errors import BadInput, Forbidden
from server.answers import is_start, json_response, problem
from server.bodies import CloseUnread
from server.correlation import CORRELATION_HEADER, Correlate
from server.origins import origin_of
from server.refusals import MaskFaults, refuse
from server.settings import Settings
from server.telemetry import Telemetry

__all__ = ["middleware"]

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_HTTP_OF: Final = {"ws": "http", "wss": "https"}
"""The scheme of a page's origin that may open a WebSocket of this scheme."""
_FROM_HERE: Final = frozenset({"same-origin", "none"})
# Chromium keeps the answer to a preflight for two hours at most, Firefox for a day.
_PREFLIGHT_SECONDS: Final = 7_200
_YEAR_SECONDS: Final = 31_536_000

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def middleware(settings: Settings) -> list[Middleware]:
    """All of it, the outermost first: headers and CORS go on refusals and faults as well."""
    headers = dict(_HEADERS)
    if settings.secure_cookies:
        headers["Strict-Transport-Security"] = f"max-age={_YEAR_SECONDS}"
    stack = [Middleware(DefaultHeaders, headers=headers), Middleware(Correlate)]
    if settings.allowed_origins:
        stack.append(
            Middleware(
                Cors,
                allow_origins=settings.allowed_origins,
                allow_methods=("GET", "POST"),
                allow_headers=("Authorization", "Content-Type"),
                expose_headers=(CORRELATION_HEADER,),
                allow_credentials=True,
                max_age=_PREFLIGHT_SECONDS,
            )
        )
    return [
        *stack,
        Middleware(CloseUnread),
        Middleware(MaskFaults),
        Middleware(RefuseForgery, settings=settings),
    ]


class DefaultHeaders:
    """Puts these headers on every answer that does not have its own."""

    def __init__(self, app: ASGIApp, *, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = [(name.lower().encode(), text.encode()) for name, text in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if is_start(message):
                present = message.setdefault("headers", [])
                names = {name.lower() for name, _ in present}
                message["headers"] = [
                    *present,
                    *(header for header in self._headers if header[0] not in names),
                ]
            await send(message)

        await self._app(scope, receive, with_headers)


class Cors(CORSMiddleware):
    """Starlette's, whose refusals are JSON here."""

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        kept = {
            name: value
            for name, value in response.headers.items()
            if name not in ("content-length", "content-type")
        }
        body = problem("This origin may not send such a request.", Forbidden.code)
        return json_response(body, 403, headers=kept)


class RefuseForgery:
    """Refuses what a page of another origin has sent. A handshake of WebSocket is a GET, and yet
    what follows may write, with the cookie of whoever looks at the page: it is held to the rule for
    writes (cross-site WebSocket hijacking, OWASP's WebSocket cheat sheet)."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self._app = app
        self._is_live = settings.live
        self._own = settings.public_origin
        self._allowed = frozenset(settings.allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and (refusal := self._refusal(scope)):
            await refuse(refusal, scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) != 1 and scope["http_version"] != "1.0":
            # RFC 9112 §3.2: which of two counts is a guess.
            _telemetry(scope).refused(scope, 400, BadInput.code)
            body = problem("Send one `Host` header.", BadInput.code)
            return json_response(body, 400, headers={"Connection": "close"})
        is_handshake = scope["type"] == "websocket"
        is_safe = not is_handshake and scope["method"] in _SAFE_METHODS
        upgrade = "" if is_handshake else headers.get("upgrade", "").lower()
        # An offer of HTTP/2 may be ignored (RFC 9110 §7.8), but the parser skips the body after it.
        if "websocket" in upgrade or (upgrade and not is_safe):
            message = "No WebSocket and no HTTP/2 begins here: send the request without `Upgrade`."
            if not self._is_live:
                message += " This server has no live updates: PLANNER_LIVE is off."
            body = problem(message, BadInput.code)
            _telemetry(scope).refused(scope, 400, BadInput.code)
            return json_response(body, 400, headers={"Connection": "close"})
        if is_safe or self._may_write(scope["scheme"], headers):
            return None
        message = (
            "A page of this origin may not write here. PLANNER_PUBLIC_URL says where pages are, "
            "PLANNER_ALLOWED_ORIGINS which others may."
        )
        _telemetry(scope).refused(
            scope,
            403,
            Forbidden.code,
            origin=headers.get("origin"),
            site=headers.get("sec-fetch-site"),
        )
        return json_response(problem(message, Forbidden.code), 403)

    def _may_write(self, scheme: str, headers: Headers) -> bool:
        origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
        if len(origins) > 1 or len(sites) > 1:
            return False
        if origins and origins[0] in self._allowed:
            return True
        if sites and sites[0] not in _FROM_HERE:
            return False
        own = self._own or _origin_of_host(_HTTP_OF.get(scheme, scheme), headers)
        return not origins or origins[0] == own


def _telemetry(scope: Scope) -> Telemetry:
    telemetry: Telemetry = scope["app"].state.telemetry
    return telemetry


def _origin_of_host(scheme: str, headers: Headers) -> str | None:
    try:
        return origin_of(f"{scheme}://{headers.get('host', '')}")
    except ValueError:
        return None
