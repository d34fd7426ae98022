"""A stand-in for DynamoDB that costs next to no time: it answers what it was asked before.

The first time, a request goes to DynamoDB Local and its answer is kept, byte for byte, with its
`x-amz-crc32`; from then on it comes from memory. A TransactWriteItems is told by its shape alone,
so that the answer to the first one stands for all: nothing is stored. What is unknown after
`/seal` is an error, and counted.

Run as a process of its own: `python -m bench.replay PORT`, with the port of DynamoDB Local.
"""

import asyncio
import json
import sys
import zlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import uvloop

from bench.wire import connected, dynamodb_request
from data.metering import consumption

__all__ = ["Recorder", "Replay", "replaying"]

_UNKNOWN: Final = b'{"__type":"com.amazon.coral.validate#ValidationException","message":"unknown"}'


@dataclass(slots=True)
class Recorded:
    """An answer as it goes over the wire, what DynamoDB says of it, and how often it was given."""

    wire: bytes
    operation: str = ""
    read_units: float = 0.0
    write_units: float = 0.0
    count: int = 0


class Recorder:
    """The answers so far, by request, and the way to DynamoDB Local for those to come."""

    def __init__(self, upstream: int) -> None:
        self._upstream = upstream
        self._by_shape: dict[tuple[bytes, str], Recorded] = {}
        self.by_bytes: dict[tuple[bytes, bytes], Recorded] = {}
        self.sealed = False
        self.unknown = 0

    async def answer(self, target: bytes, body: bytes) -> bytes:
        """The answer to a request that was never sent in these very bytes."""
        shape = target, _shape(target, body)
        if recorded := self._by_shape.get(shape):
            recorded.count += 1
        elif self.sealed:
            self.unknown += 1
            return _http(400, _UNKNOWN)
        else:
            status, content = await self._ask(target, body)
            if status != 200:
                return _http(status, content)
            recorded = _recorded(target, content)
            self._by_shape[shape] = recorded
        if not target.endswith(b"TransactWriteItems"):
            self.by_bytes[target, body] = recorded
        return recorded.wire

    def control(self, path: bytes) -> bytes:
        """`/seal` and `/unseal`; every other path just asks for the counts so far."""
        if path in (b"/seal", b"/unseal"):
            self.sealed = path == b"/seal"
        return _http(200, json.dumps(self.counts()).encode())

    def counts(self) -> dict[str, Any]:
        """Requests by operation, capacity units, and unknown requests since the start."""
        requests: Counter[str] = Counter()
        for each in self._by_shape.values():
            requests[each.operation] += each.count
        return {
            "requests": requests,
            "read_units": sum(each.read_units * each.count for each in self._by_shape.values()),
            "write_units": sum(each.write_units * each.count for each in self._by_shape.values()),
            "unknown": self.unknown,
        }

    async def _ask(self, target: bytes, body: bytes) -> tuple[int, bytes]:
        async with connected(self._upstream, 1) as [connection]:
            return await connection.ask(dynamodb_request(target.decode(), body))


class Replay(asyncio.Protocol):
    """One keep-alive connection of a client of DynamoDB (RFC 9112), one request at a time."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._buffer = b""
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer = buffer = self._buffer + data if self._buffer else data
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = buffer[: end + 2]
        total = end + 4 + int(_header(head, b"content-length") or 0)
        if len(buffer) < total:
            return
        self._buffer = b""
        body = buffer[end + 4 : total]
        target = _header(head, b"x-amz-target")
        if recorded := self._recorder.by_bytes.get((target, body)):
            recorded.count += 1
            self._transport.write(recorded.wire)
        elif target:
            task = asyncio.ensure_future(self._answer(target, body))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._transport.write(self._recorder.control(head.split(b" ", 2)[1]))

    async def _answer(self, target: bytes, body: bytes) -> None:
        self._transport.write(await self._recorder.answer(target, body))


def _header(head: bytes, name: bytes) -> bytes:
    lower = head.lower()
    at = lower.find(b"\r\n" + name + b":")
    if at < 0:
        return b""
    start = at + len(name) + 3
    return head[start : head.index(b"\r\n", start)].strip()


def _shape(target: bytes, body: bytes) -> str:
    """The same for requests that have the same answer: whatever the order of their members is;
    and, of a transaction, whatever is written."""
    request = json.loads(body)
    if target.endswith(b"TransactWriteItems"):
        actions = [sorted(action) for action in request["TransactItems"]]
        return json.dumps([actions, request.get("ReturnConsumedCapacity")])
    return json.dumps(request, sort_keys=True)


def _recorded(target: bytes, content: bytes) -> Recorded:
    operation: Any = target.rpartition(b".")[2].decode()
    consumed = consumption(operation, json.loads(content))
    return Recorded(_http(200, content), operation, consumed.read_units, consumed.write_units, 1)


def _http(status: int, content: bytes) -> bytes:
    return (
        b"HTTP/1.1 %d OK\r\nContent-Type: application/x-amz-json-1.0\r\n"
        b"x-amzn-RequestId: 00000000-0000-0000-0000-000000000000\r\n"
        b"x-amz-crc32: %d\r\nContent-Length: %d\r\n\r\n%b"
        % (status, zlib.crc32(content), len(content), content)
    )


@asynccontextmanager
async def replaying(upstream: int) -> AsyncIterator[int]:
    """The stand-in, over the DynamoDB Local on that port of 127.0.0.1: yields its own port."""
    recorder = Recorder(upstream)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Replay(recorder), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _serve(upstream: int) -> None:
    async with replaying(upstream) as port:
        print(f"listening on 127.0.0.1:{port}", flush=True)
        # Until the benchmark is gone, however that ends.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
