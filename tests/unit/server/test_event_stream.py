"""The response of server-sent events by itself, where a server is too quick to show it."""

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


async def never() -> str:
    raise AssertionError("the session is not looked at")


async def receive() -> Message:
    return {"type": "http.disconnect"}


async def gone(message: Message) -> None:
    raise OSError("the client is gone")


async def test_a_client_that_is_gone_before_the_head_of_the_answer_leaves_no_subscription() -> None:
    answers, left = Answers(), ExitStack()
    closed: list[str] = []
    left.callback(closed.append, "left")
    seen = Observation(cast("Metrics", None), no_span, "an id")
    response = EventStream(
        cast("ResponseStream", answers),
        seen=seen,
        session_ends=never,
        send_seconds=1,
        until_sent=left,
        headers={},
    )
    await response({"type": "http"}, receive, gone)
    assert answers.is_closed
    assert closed == ["left"]
    assert seen.ended is End.CLIENT
