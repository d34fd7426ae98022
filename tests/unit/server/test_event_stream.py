"""The response of server-sent events by itself, where a server is too quick to show it."""

import asyncio
from contextlib import ExitStack
from typing import cast

from starlette.types import Message

from schema.streaming import ResponseStream
from server.event_stream import EventStream
from server.live_ends import End
from server.metrics import Metrics
from server.observation import Observation, no_span


class Answers:
    """A subscription of which nobody asks an answer."""

    def __init__(self) -> None:
        self.is_closed = False

    def __aiter__(self) -> "Answers":
        return self

    async def __anext__(self) -> bytes:
        raise AssertionError("nobody is there to get it")

    async def aclose(self) -> None:
        self.is_closed = True


class OneAnswer(Answers):
    """A subscription that has one, and then waits."""

    _has_one = True

    async def __anext__(self) -> bytes:
        if self._has_one:
            self._has_one = False
            return b"{}"
        await never()
        raise AssertionError


async def never() -> str:
    await asyncio.Event().wait()
    raise AssertionError


async def receive() -> Message:
    return {"type": "http.disconnect"}


async def gone(message: Message) -> None:
    raise OSError("the client is gone")


def response_of(
    answers: Answers, *, until_sent: ExitStack, send_seconds: float = 10
) -> tuple[EventStream, Observation]:
    seen = Observation(cast("Metrics", None), no_span, "an id")
    response = EventStream(
        cast("ResponseStream", answers),
        seen=seen,
        session_ends=never,
        send_seconds=send_seconds,
        until_sent=until_sent,
        headers={},
    )
    return response, seen


async def test_a_client_that_is_gone_before_the_head_of_the_answer_leaves_no_subscription() -> None:
    answers, left = Answers(), ExitStack()
    closed: list[str] = []
    left.callback(closed.append, "left")
    response, seen = response_of(answers, until_sent=left)
    await response({"type": "http"}, receive, gone)
    assert answers.is_closed
    assert closed == ["left"]
    assert seen.ended is End.CLIENT


async def test_a_reader_that_has_stopped_does_not_keep_it_where_connections_cant_be_cut() -> None:
    """As under a server other than ours: that ends them when the application is through."""
    answers = OneAnswer()

    async def silent() -> Message:
        await never()
        raise AssertionError

    async def stuck(message: Message) -> None:
        if message["type"] == "http.response.body":
            await never()

    response, seen = response_of(answers, until_sent=ExitStack(), send_seconds=0.01)
    async with asyncio.timeout(20):
        await response({"type": "http"}, silent, stuck)
    assert answers.is_closed
    assert seen.ended is End.SLOW
