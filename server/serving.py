"""Listening: the socket first, so that a taken port is one line and not a started engine."""

import socket

import uvicorn
from starlette.applications import Starlette

from server.protocol import BoundedHttp

__all__ = ["ListenError", "listen", "serve", "server_of", "url_of"]


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


def server_of(app: Starlette, *, log_level: str, shutdown_seconds: int) -> uvicorn.Server:
    """The server of the application. Told to stop, it finishes what is under way, for at most
    `shutdown_seconds`."""
    config = uvicorn.Config(
        app,
        http=BoundedHttp,
        # An upgrade stays a request of HTTP, which the application refuses.
        ws="none",
        # Anybody may send X-Forwarded-*; where browsers reach us, PLANNER_PUBLIC_URL says.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=shutdown_seconds,
        # Longer than a proxy keeps a connection that it means to use again (nginx and AWS: 60 s):
        # else it may send a request just as we close.
        timeout_keep_alive=75,
        # Logs go the way that `server.logs` has set up.
        log_config=None,
        log_level=log_level,
        access_log=False,
    )
    return uvicorn.Server(config)


def serve(
    app: Starlette, listening: socket.socket, *, log_level: str, shutdown_seconds: int
) -> None:
    """Serves until it is told to stop."""
    server = server_of(app, log_level=log_level, shutdown_seconds=shutdown_seconds)
    server.run(sockets=[listening])
