"""The client's side of HTTP/1.1, as thin as can be (RFC 9112): bytes in, status and content out."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast

__all__ = ["Connection", "WrongAnswer", "connected", "dynamodb_request", "post"]


class WrongAnswer(Exception):
    """An answer that is not like the first one, so that its time says nothing."""


class Connection(asyncio.Protocol):
    """One request at a time over one connection."""

    def __init__(self) -> None:
        self._received: list[bytes] = []
        self._missing = 0
        self._chunked = False
        self._in_head = True
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer and not self._answer.done():
            self._answer.set_exception(WrongAnswer("the server closed the connection"))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and content of the answer."""
        self._received, self._in_head = [], True
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._begin(data)
        else:
            self._received.append(data)
            self._missing -= len(data)
        if self._in_head or self._answer is None or self._answer.done():
            return
        # No text in JSON has a bare line break, so this can only be the last chunk.
        if self._received[-1].endswith(b"0\r\n\r\n") if self._chunked else self._missing <= 0:
            content = b"".join(self._received)
            content = _unchunked(content) if self._chunked else content
            self._answer.set_result((self._status, content))

    def _begin(self, data: bytes) -> None:
        self._received.append(data)
        head, found, rest = b"".join(self._received).partition(b"\r\n\r\n")
        if not found:
            return
        fields = head.lower().split(b"\r\n")
        self._status = int(fields[0].split(b" ")[1])
        self._chunked = b"transfer-encoding: chunked" in fields
        lengths = [int(each[15:]) for each in fields if each.startswith(b"content-length:")]
        self._missing = (lengths[0] if lengths else 0) - len(rest)
        self._received, self._in_head = [rest], False


def _unchunked(content: bytes) -> bytes:
    parts: list[bytes] = []
    while True:
        size, _, content = content.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            return b"".join(parts)
        parts.append(content[:length])
        content = content[length + 2 :]


@asynccontextmanager
async def connected(port: int, number: int) -> AsyncIterator[list[Connection]]:
    """So many connections to 127.0.0.1."""
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(Connection, "127.0.0.1", port) for _ in range(number)]
    try:
        yield [protocol for _, protocol in made]
    finally:
        for transport, _ in made:
            transport.close()


def post(path: str, headers: Mapping[str, str], content: bytes) -> bytes:
    """A POST request of these headers, a Host and the content's length besides."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    start = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}"
    return f"{start}Content-Length: {len(content)}\r\n\r\n".encode() + content


def dynamodb_request(target: str, content: bytes) -> bytes:
    """A request to DynamoDB Local, for which any signature will do, but there must be one."""
    credential = "planner/20240101/us-east-1/dynamodb/aws4_request"
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Date": "20240101T000000Z",
        "X-Amz-Target": target,
        "Authorization": f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, "
        "Signature=0",
    }
    return post("/", headers, content)
