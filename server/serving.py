"""Listening: the socket first, so that a taken port is one line and not a started engine."""

import socket

import uvicorn
from starlette.applications import Starlette

__all__ = ["ListenError", "listen", "serve", "url_of"]


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


def serve(app: Starlette, listening: socket.socket, *, log_level: str) -> None:
    """Serves until it is told to stop, then finishes what is under way."""
    # Logs go the way that `server.logs` has set up.
    config = uvicorn.Config(app, log_config=None, log_level=log_level, access_log=False)
    uvicorn.Server(config).run(sockets=[listening])
