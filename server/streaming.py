"""Sending the answers of a subscription, by whatever protocol: one after the other, never faster
than they are read, and for as long as somebody reads."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from starlette.types import Message, Send

from data.errors import Unavailable
from data.live import FellBehind
from schema.streaming import ResponseStream
from server.live_ends import CloseCode, End, Ended

__all__ = ["PatientSend", "answers_of"]


class PatientSend:
    """Sends one message at a time. Raises Ended when one is not taken within so many seconds, or
    nobody is there any more."""

    def __init__(self, send: Send, *, seconds: float) -> None:
        self._send = send
        self._seconds = seconds
        self._turn = asyncio.Lock()

    async def __call__(self, message: Message) -> None:
        async with self._turn:
            try:
                async with asyncio.timeout(self._seconds):
                    await self._send(message)
            except TimeoutError:
                reason = "What was sent is not being read"
                raise Ended(End.SLOW, CloseCode.TRY_AGAIN_LATER, reason) from None
            except OSError:
                raise Ended(End.CLIENT) from None


@asynccontextmanager
async def answers_of(stream: ResponseStream) -> AsyncIterator[AsyncGenerator[bytes, None]]:
    """The answers of the stream, which is closed with the context, also when none was asked for:
    a generator that was never begun runs no `finally`. They raise Ended when the stream breaks."""
    async with aclosing(stream), aclosing(_until_it_breaks(stream)) as answers:
        yield answers


async def _until_it_breaks(stream: ResponseStream) -> AsyncGenerator[bytes, None]:
    try:
        async for answer in stream:
            yield answer
    except FellBehind:
        reason = "What was not read yet is no longer kept"
        raise Ended(End.SLOW, CloseCode.TRY_AGAIN_LATER, reason) from None
    except Unavailable:
        reason = "Changes can't be read at the moment"
        raise Ended(End.UNAVAILABLE, CloseCode.TRY_AGAIN_LATER, reason) from None
