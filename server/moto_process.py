"""moto's DynamoDB as a process of its own: `python -m server.moto_process`.

Serves 127.0.0.1 at a port the system picks, prints that port, and ends when stdin does: the
parent holds the other end of that pipe, so the kernel closes it even when the parent is killed.
In-process mocking is no choice, since it breaks aiobotocore.
"""

import io
import logging
import os
import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

# Before moto is imported, since it reads this then: a web page must not reach the store.
os.environ["MOTO_DISABLE_GLOBAL_CORS"] = "true"

from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["main"]


class KeepAlive(WSGIRequestHandler):
    """HTTP/1.1, since a connection per request costs more than moto itself; no request lines."""

    protocol_version = "HTTP/1.1"
    # Headers and body leave in two writes: Nagle's algorithm would hold the second back 40 ms.
    disable_nagle_algorithm = True

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing: the log is for errors."""


def one_at_a_time(app: "WSGIApplication") -> "WSGIApplication":
    """`app` behind a lock: moto checks conditions and then writes, with nothing to make that atomic.

    The interpreter lock allows no more than one request at a time anyway.
    """
    lock = threading.Lock()

    def locked(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        # The body is read outside of the lock, so that a slow client holds up nobody else.
        length = int(environ.get("CONTENT_LENGTH") or 0)
        environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(length))
        with lock:
            return app(environ, start_response)

    return locked


def _end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Serve until stdin ends."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    app = create_backend_app("dynamodb")
    server = make_server(
        "127.0.0.1", 0, one_at_a_time(app), threaded=True, request_handler=KeepAlive
    )
    print(f"listening on 127.0.0.1:{server.port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
