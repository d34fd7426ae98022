"""Listening: the socket first, so that a taken port is one line and not a started engine."""

import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from server.memory import prepare_memory
from server.protocol import BoundedHttp
from server.settings import Settings
from server.websocket_protocol import BoundedWebSocket

__all__ = ["ListenError", "listen", "serve", "serve_in_workers", "server_of", "url_of"]


class ListenError(Exception):
    """The address can't be listened on. The message is for people."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 lets the system choose. Raises ListenError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ListenError(
            f"{host}, port {port}: {error.strerror or error}. PORT or --port names another port, "
            "HOST or --host another address."
        ) from None


def url_of(listening: socket.socket, path: str) -> str:
    """Where the socket is reached from this machine."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"


def server_of(app: Starlette, settings: Settings, *, log_level: str) -> uvicorn.Server:
    """The server of the application. Told to stop, it finishes what is under way, for at most
    the `shutdown_seconds` of the settings, and closes what has no end."""
    return uvicorn.Server(_config(app, settings, log_level))


def serve(app: Starlette, listening: socket.socket, settings: Settings, *, log_level: str) -> None:
    """Serves until it is told to stop."""
    prepare_memory()
    server_of(app, settings, log_level=log_level).run(sockets=[listening])


def serve_in_workers(
    make_app: Callable[[], Starlette],
    listening: socket.socket,
    settings: Settings,
    *,
    log_level: str,
) -> None:
    """Serves from as many processes as the settings have `workers`, all of which accept from one
    socket, until it is told to stop; one that dies is replaced. Each calls `make_app`, which must
    be picklable, once it runs, and so has a store, caches and metrics of its own. Raises
    ListenError when they can't start."""
    config = _config(make_app, settings, log_level, workers=settings.workers, factory=True)
    supervisor = Multiprocess(config, sockets=[listening])
    supervisor.run()
    if any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes):
        raise ListenError("the workers did not start; what each of them said is above")


def _config(
    app: Starlette | Callable[[], Starlette],
    settings: Settings,
    log_level: str,
    *,
    workers: int = 1,
    factory: bool = False,
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        workers=workers,
        http=BoundedHttp,
        # With none, an upgrade stays a request of HTTP, which the application refuses.
        ws=BoundedWebSocket if settings.live else "none",
        ws_max_size=settings.max_body_bytes,
        # It would take memory for each connection, and tell by its size whether what a page can
        # make a client send is like a secret beside it (CRIME).
        ws_per_message_deflate=False,
        # Proxies end a connection on which nothing is sent for a minute.
        ws_ping_interval=20,
        ws_ping_timeout=20,
        # Anybody may send X-Forwarded-*; where browsers reach us, PLANNER_PUBLIC_URL says.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_seconds,
        # Longer than a proxy keeps a connection that it means to use again (nginx and AWS: 60 s):
        # else it may send a request just as we close.
        timeout_keep_alive=75,
        # Logs go the way that `server.logs` has set up.
        log_config=None,
        log_level=log_level,
        access_log=False,
    )
