"""Answers as server-sent events (HTML Standard §9.2), by the protocol of graphql-sse in its mode of
distinct connections: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import ExitStack
from typing import Any, Final

import structlog
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from data.parallel import first_of
from schema.json_bytes import json_bytes
from schema.streaming import ResponseStream
from server.connection import Connection, connection_of
from server.envelope import EVENT_STREAM
from server.live_ends import End, Ended
from server.observation import Observation
from server.streaming import PatientSend, answers_of

__all__ = ["EventStream", "single_event"]

log = structlog.get_logger(__name__)

KEEP_ALIVE_SECONDS: Final = 15.0
"""Proxies end a connection on which nothing was sent for a minute, some after half of that."""

_COMPLETE: Final = b"event: complete\ndata:\n\n"
_COMMENT: Final = b":\n\n"
# nginx buffers answers unless it is told; this is how an answer tells it.
_HEADERS: Final = {"X-Accel-Buffering": "no"}


def single_event(body: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """The response to what has one answer."""
    content = _next(json_bytes(body)) + _COMPLETE
    return Response(content, 200, {**_HEADERS, **headers}, media_type=EVENT_STREAM)


def _next(body: bytes) -> bytes:
    # JSON on one line: a line break would end the field.
    return b"event: next\ndata: %b\n\n" % body


class EventStream(Response):
    """The response to a subscription. Without an event `complete` at its end the client is to come
    back: the session is to be looked at, the server stops, or changes can't be read."""

    def __init__(
        self,
        stream: ResponseStream,
        *,
        seen: Observation,
        session_ends: Callable[[], Awaitable[str]],
        send_seconds: float,
        until_sent: ExitStack,
        headers: Mapping[str, str],
    ) -> None:
        """`session_ends` returns when the session does; `until_sent` is closed at the end."""
        self.status_code = 200
        self.media_type = EVENT_STREAM
        self.background = None
        self.init_headers({**_HEADERS, **headers})
        self._stream = stream
        self._seen = seen
        self._session_ends = session_ends
        self._send_seconds = send_seconds
        self._until_sent = until_sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = connection_of(scope)
        sending = PatientSend(send, seconds=self._send_seconds)
        with self._until_sent:
            async with answers_of(self._stream) as answers:
                connection.bound_buffers()
                end = await self._send_until_it_ends(answers, connection, receive, sending)
            if end is End.CLIENT or (end is not End.SLOW and await _is_ended(sending)):
                return
            if connection.cut():
                while (await receive())["type"] != "http.disconnect":
                    pass

    async def _send_until_it_ends(
        self,
        answers: AsyncGenerator[bytes, None],
        connection: Connection,
        receive: Receive,
        sending: PatientSend,
    ) -> End:
        async def events() -> None:
            async for answer in answers:
                await sending(_part(_next(answer)))
                self._seen.answers += 1
            await sending(_part(_COMPLETE))
            raise Ended(End.COMPLETE)

        async def keep_alive() -> None:
            while True:
                await asyncio.sleep(KEEP_ALIVE_SECONDS)
                await sending(_part(_COMMENT))

        async def client() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            raise Ended(End.CLIENT)

        async def server() -> None:
            await connection.stopping.wait()
            raise Ended(End.SHUTDOWN)

        async def session() -> None:
            await self._session_ends()
            raise Ended(End.SESSION)

        start = {
            "type": "http.response.start",
            "status": self.status_code,
            "headers": self.raw_headers,
        }
        end = End.FAULT
        self._seen.stands(self.status_code)
        try:
            async with asyncio.TaskGroup() as tasks:
                await sending(start)
                for each in (events, keep_alive, client, server, session):
                    tasks.create_task(each())
        except* Ended as group:
            end = first_of(group).end
        except* Exception as group:
            log.error("request failed", correlation_id=self._seen.correlation_id, exc_info=group)
        self._seen.ends(end)
        return end


async def _is_ended(sending: PatientSend) -> bool:
    """Ends the answer; whether that could be sent."""
    try:
        await sending(_part(b"", more=False))
    except Ended:
        return False
    return True


def _part(content: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": more}
