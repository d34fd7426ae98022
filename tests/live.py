"""The application behind its real server, on a socket."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette

from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.serving import listen, server_of
from server.settings import Settings

__all__ = ["Answer", "Connection", "live"]

PATIENCE = 20.0


@contextmanager
def live(
    settings: Settings, application: Starlette | None = None, *, log_level: str = "critical"
) -> Iterator[str]:
    """The address of a server with these settings, in a thread of its own."""
    app = application or create_app(settings, credentials=DUMMY_CREDENTIALS)
    with listen("127.0.0.1", 0) as listening:
        host, port = listening.getsockname()
        stopping_soon = settings.model_copy(update={"shutdown_seconds": 5})
        server = server_of(app, stopping_soon, log_level=log_level)
        # Connections wait in the backlog until it has started.
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://{host}:{port}"
        finally:
            server.should_exit = True
            thread.join()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it came over the wire."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of the header, which must not be there twice."""
        values = [value for each, value in self.headers if each == name]
        assert len(values) < 2, values
        return values[0] if values else None

    def json(self) -> Any:
        return json.loads(self.body)


class Connection:
    """One connection to a server, to send any bytes on."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, url: str) -> "Connection":
        host, _, port = url.removeprefix("http://").partition(":")
        return cls(*await asyncio.open_connection(host, int(port), limit=2**20))

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def write(self, data: bytes) -> None:
        """Sends without waiting for the other side to take it."""
        self._writer.write(data)

    async def receive(self, *, head: bool = False) -> Answer:
        """The next answer; `head`: to a HEAD, whose Content-Length no body follows."""
        async with asyncio.timeout(PATIENCE):
            start = await self._reader.readuntil(b"\r\n\r\n")
            first, *lines = start.decode("latin-1").strip().split("\r\n")
            pairs = [line.partition(": ") for line in lines]
            headers = [(name.lower(), value) for name, _, value in pairs]
            size = 0 if head else int(dict(headers).get("content-length", 0))
            body = await self._reader.readexactly(size)
        return Answer(int(first.split(" ")[1]), headers, body)

    async def is_closed(self) -> bool:
        """Whether the other side ends the connection, without another byte."""
        return await self.rest() == b""

    async def rest(self) -> bytes:
        """All that comes until the other side ends the connection."""
        received = b""
        try:
            async with asyncio.timeout(PATIENCE):
                while some := await self._reader.read(65_536):
                    received += some
        except ConnectionError:
            pass  # Bytes of ours were still unread when it was ended.
        return received

    async def is_open(self) -> bool:
        """Whether the next request on it is answered."""
        await self.send(b"GET /healthz HTTP/1.1\r\nHost: planner.test\r\n\r\n")
        answer = await self.receive()
        return (answer.status, answer.body) == (200, b"ok")

    def end(self) -> None:
        """Says that nothing more will be sent."""
        self._writer.write_eof()

    def close(self) -> None:
        self._writer.close()
