"""A proxy between a browser and the server whose connections can be cut."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

__all__ = ["Line", "line_to"]

_CHUNK = 65_536


class Line:
    """Passes on what either side says, until it is cut; then it is not there until it is mended."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._server: asyncio.Server | None = None
        self._port = 0
        self._open: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def mend(self) -> None:
        """Lets connections through, at the address that it had before."""
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Ends all connections in the middle of what is said, and refuses new ones."""
        if self._server:
            self._server.close()
            self._server = None
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._open.add(task)
        writers = [writer]
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._target)
            writers.append(far_writer)
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_pass(reader, far_writer))
                ways.create_task(_pass(far_reader, writer))
        except asyncio.CancelledError:
            pass  # Cut; what asyncio.Server calls is not to end so.
        finally:
            self._open.discard(task)
            for each in writers:
                each.transport.abort()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while content := await reader.read(_CHUNK):
            writer.write(content)
            await writer.drain()
        writer.write_eof()


@asynccontextmanager
async def line_to(url: str) -> AsyncIterator[Line]:
    """A proxy to the server at this address."""
    target = urlsplit(url)
    assert target.hostname
    assert target.port
    line = Line(target.hostname, target.port)
    await line.mend()
    try:
        yield line
    finally:
        await line.cut()
