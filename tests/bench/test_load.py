"""Under load, what is not answered as it was without load is counted."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from bench.load import under_load
from bench.processes import Process
from bench.wire import WrongAnswer, post

TINY, TIMELINE = post("/tiny", {}, b""), post("/timeline", {}, b"")
Answer = Callable[[str, int], bytes]


def good(path: str, number: int) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[Process]:
    """A server that gives, for a path and how often it was asked for, the answer."""
    asked: dict[str, int] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.read(1_000):
            path = head.split()[1].decode()
            asked[path] = asked.get(path, 0) + 1
            writer.write(answer(path, asked[path]))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield Process("a server", os.getpid(), server.sockets[0].getsockname()[1])


async def test_the_small_request_is_asked_for_at_least_once() -> None:
    async with serving(good) as process:
        found = await under_load(process, TINY, [TIMELINE], others=2, seconds=0)
    assert (len(found.tiny), found.failures) == (1, 0)
    assert found.peak_rss > 1


@pytest.mark.parametrize(
    "bad",
    [
        b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{ }",
    ],
    ids=["status", "length"],
)
async def test_an_answer_unlike_the_first_is_a_failure(bad: bytes) -> None:
    def answer(path: str, number: int) -> bytes:
        return bad if (path, number) == ("/tiny", 3) else good(path, number)

    async with serving(answer) as process:
        found = await under_load(process, TINY, [TIMELINE], others=0, seconds=0)
    assert (len(found.tiny), found.failures, found.timelines_per_second) == (1, 1, 0)


async def test_errors_without_load_end_the_run() -> None:
    def answer(path: str, number: int) -> bytes:
        return b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"

    async with serving(answer) as process:
        with pytest.raises(WrongAnswer, match="even without load"):
            await under_load(process, TINY, [TIMELINE], others=2, seconds=0)
