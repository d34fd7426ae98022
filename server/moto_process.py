"""moto's DynamoDB with its streams as a process of its own: `python -m server.moto_process`.

Serves 127.0.0.1 at a port the system picks, prints that port, and ends when stdin does: the
parent holds the other end of that pipe, so the kernel closes it even when the parent is killed.
In-process mocking is no choice, since it breaks aiobotocore.
"""

import copy
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

# Before moto is imported, since it reads this then: a web page must not reach the store.
os.environ["MOTO_DISABLE_GLOBAL_CORS"] = "true"

from flask import Flask
from moto.dynamodb import models
from moto.dynamodb.models.table import Table
from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.test import create_environ, run_wsgi_app

from server.moto_streams import install

__all__ = ["main"]


class CopyOnce:
    """What moto's transactions take for the module `copy`. They copy the whole table for each of
    their actions, before the first is carried out: once is enough."""

    def __init__(self) -> None:
        self._copies: dict[int, Table] = {}

    def deepcopy(self, value: Any) -> Any:
        if not isinstance(value, Table):
            return copy.deepcopy(value)
        if id(value) not in self._copies:
            self._copies[id(value)] = copy.deepcopy(value)
        return self._copies[id(value)]

    def __getattr__(self, name: str) -> Any:
        return getattr(copy, name)


class Server(ThreadingTCPServer):
    """A thread for each connection, and room for a whole pool that connects at once."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, items: Flask, streams: Flask) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.items = items
        self.streams = streams
        # moto checks a condition, then writes, and nothing makes that atomic. One request at a
        # time costs no speed: the interpreter's own lock allows no more anyway.
        self.turn = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 with connections that stay open, which Werkzeug's own server can't do."""

    server: Server
    protocol_version = "HTTP/1.1"
    # One packet for an answer's headers and body, and no 40 ms of waiting before the last one.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """The one method that DynamoDB has."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        environ = create_environ(
            self.path, method="POST", headers=list(self.headers.items()), data=body
        )
        is_of_stream = self.headers.get("X-Amz-Target", "").startswith("DynamoDBStreams_")
        app = self.server.streams if is_of_stream else self.server.items
        with self.server.turn:
            models.copy = CopyOnce()  # type: ignore[attr-defined, assignment]
            chunks, status, headers = run_wsgi_app(app, environ, buffered=True)
        content = b"".join(chunks)
        code, _, reason = status.partition(" ")
        # Status alone: moto says Server itself, and strict clients refuse an answer with two.
        self.send_response_only(int(code), reason)
        headers.setdefault("Date", self.date_time_string())
        headers.set("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing: the log is for errors."""


def _end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Serve until stdin ends."""
    install()
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    with Server(create_backend_app("dynamodb"), create_backend_app("dynamodbstreams")) as server:
        print(f"listening on 127.0.0.1:{server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
