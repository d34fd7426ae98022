"""The ASGI application: routes, and what lives as long as the process."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from data.cascade import Cascades
from data.live import LiveFeed
from data.opening import open_store
from data.store import Store
from data.streams import open_streams
from resolvers.calendar import CALENDAR_PATH
from server.calendar import CalendarEndpoint
from server.claims import TokenReader
from server.graphql_http import GraphQLEndpoint
from server.graphql_ws import GraphQLSocket
from server.health import Readiness, healthz, readyz
from server.live_connections import LiveConnections
from server.live_metrics import FeedCollector
from server.metrics import Metrics, metrics_page
from server.observation import no_span
from server.operations import Operations
from server.playground import playground_response, playground_routes
from server.refusals import NoWebSocket, http_exception
from server.security import middleware
from server.session import Authenticator
from server.settings import SessionStrategy, Settings
from server.telemetry import Telemetry
from server.timeline import timeline_response, timeline_routes
from server.trusted_documents import load_trusted_documents

if TYPE_CHECKING:
    from server.tracing import Tracing

__all__ = ["GRAPHQL_PATH", "create_app"]

GRAPHQL_PATH = "/graphql"

SignIn = Callable[[Request, Response, Store], Awaitable[None]]


def create_app(
    settings: Settings,
    *,
    credentials: Mapping[str, Any] | None = None,
    sign_in: SignIn | None = None,
) -> Starlette:
    """The application. One store is opened at start and closed at the end. `credentials` are for
    a store that is no AWS; `sign_in` gives whoever opens one of our pages without a session one,
    and is for development alone. Raises ValueError where sessions need a secret and there is
    none, and TrustedDocumentsError when the file of them can't be used."""
    is_jwt = settings.session_strategy is SessionStrategy.JWT
    tokens = TokenReader(settings) if is_jwt else None
    trusted = (
        load_trusted_documents(settings.trusted_documents, settings.limits)
        if settings.trusted_documents
        else None
    )
    tracing = _tracing() if settings.tracing else None

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with (
            tracing.running() if tracing else nullcontext(),
            open_store(
                settings.table,
                endpoint_url=settings.endpoint_url,
                credentials=credentials,
                max_connections=settings.max_connections,
                consistent_reads=settings.consistent_reads,
                max_items=settings.max_items,
                max_large_reads=settings.max_large_reads,
                open_span=tracing.of_dynamodb(settings.table) if tracing else None,
            ) as store,
            _live_feed(settings, store, credentials) as live,
        ):
            cascades = Cascades(store)
            app.state.store = store
            app.state.cascades = cascades
            authenticator = Authenticator(settings, store, tokens)
            app.state.authenticator = authenticator
            app.state.metrics = Metrics(store.meter, store.seats, cascades)
            if live:
                app.state.metrics.registry.register(FeedCollector(live.counts))
            app.state.readiness = Readiness(store, quiet=tracing.quiet if tracing else nullcontext)
            app.state.telemetry = Telemetry(
                app.state.metrics, tracing.operation if tracing else no_span
            )
            connections = LiveConnections(
                app.state.metrics, max_of_team=settings.max_team_subscriptions
            )
            app.state.operations = Operations(
                settings, store, cascades, trusted, connections, live=live
            )
            parts = (
                settings,
                authenticator,
                app.state.operations,
                connections,
                app.state.telemetry,
            )
            app.state.graphql = GraphQLEndpoint(*parts)
            app.state.graphql_socket = GraphQLSocket(*parts)
            app.state.calendar = CalendarEndpoint(
                settings, authenticator, store, cascades, app.state.telemetry
            )
            try:
                yield
            finally:
                await cascades.aclose()
                await app.state.readiness.aclose()

    async def signed_in(request: Request, page: Response) -> Response:
        state = request.app.state
        if sign_in and not await state.authenticator.knows(request.headers):
            await sign_in(request, page, state.store)
        return page

    async def timeline(request: Request) -> Response:
        playground = GRAPHQL_PATH if settings.playground else None
        return await signed_in(request, await timeline_response(request, settings.home, playground))

    class GraphQL:
        """The endpoint as an ASGI application: Starlette wraps a function in several others."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            response = await self._respond(Request(scope, receive, send))
            await response(scope, receive, send)

        async def _respond(self, request: Request) -> Response:
            state = request.app.state
            if settings.playground and _is_page(request):
                return await signed_in(request, playground_response(settings.home, GRAPHQL_PATH))
            endpoint: GraphQLEndpoint = state.graphql
            return await endpoint(request)

    def spans(path: str) -> list[Middleware]:
        return [Middleware(tracing.of_requests, path=path)] if tracing else []

    # The first is looked at first.
    routes: list[BaseRoute] = [
        Route(GRAPHQL_PATH, GraphQL(), methods=["GET", "POST"], middleware=spans(GRAPHQL_PATH))
    ]
    if settings.live:
        routes.append(WebSocketRoute(GRAPHQL_PATH, _Socket()))
    routes.append(WebSocketRoute("/{path:path}", NoWebSocket()))
    if settings.calendar:
        routes.append(Route(CALENDAR_PATH, _calendar, middleware=spans(CALENDAR_PATH)))
    routes += [Route("/healthz", healthz), Route("/readyz", readyz)]
    if settings.metrics:
        routes.append(Route("/metrics", metrics_page(settings.metrics_token)))
    if settings.timeline:
        routes += [Route("/", timeline), *timeline_routes(settings.home)]
    if settings.playground:
        routes.append(Route("/", _to_playground))
        routes += playground_routes(settings.home, GRAPHQL_PATH)
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=middleware(settings),
        exception_handlers={HTTPException: http_exception},
    )
    # A redirect would name the scheme and host that a proxy sees, not those of the browser.
    app.router.redirect_slashes = False
    return app


@asynccontextmanager
async def _live_feed(
    settings: Settings, store: Store, credentials: Mapping[str, Any] | None
) -> AsyncIterator[LiveFeed | None]:
    """What subscriptions come from, where there are any."""
    if not settings.live:
        yield None
        return
    async with open_streams(
        store, endpoint_url=settings.endpoint_url, credentials=credentials
    ) as streams:
        live = LiveFeed(streams)
        try:
            yield live
        finally:
            await live.aclose()


def _is_page(request: Request) -> bool:
    """Whether a browser asks for a page to look at, and not a client for an answer."""
    return (
        request.method in ("GET", "HEAD")
        and "query" not in request.query_params
        and "text/html" in request.headers.get("accept", "")
    )


class _Socket:
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint: GraphQLSocket = scope["app"].state.graphql_socket
        await endpoint(scope, receive, send)


async def _calendar(request: Request) -> Response:
    endpoint: CalendarEndpoint = request.app.state.calendar
    return await endpoint(request)


async def _to_playground(request: Request) -> Response:
    return RedirectResponse(GRAPHQL_PATH)


def _tracing() -> "Tracing":
    # Its packages are an extra.
    from server.tracing import Tracing

    return Tracing()
