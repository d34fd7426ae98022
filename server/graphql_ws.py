"""GraphQL over WebSocket, by the sub-protocol graphql-transport-ws and no other.

https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md . From where a page may open one is
looked at before, in `server.security`.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NoReturn

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from data.errors import Forbidden, LimitExceeded, Unauthenticated, Unavailable
from resolvers.session import Session
from server.connection import CLOSED_HERE
from server.correlation import CORRELATION_ID
from server.live_connections import LiveConnections
from server.live_ends import CloseCode, End, Ended
from server.operations import Operations
from server.session import Authenticator
from server.settings import Settings
from server.streaming import PatientSend
from server.telemetry import Telemetry
from server.ws_messages import (
    ACK,
    PROTOCOL,
    Complete,
    ConnectionInit,
    Ping,
    Received,
    Subscribe,
    pong,
    read_message,
)
from server.ws_operations import SocketOperations

__all__ = ["INIT_SECONDS", "GraphQLSocket"]

INIT_SECONDS: Final = 10.0
"""How long a client may take to say who it is."""

# RFC 6455 §5.5: a control frame has 125 bytes at most, two of which are the code.
_LONGEST_REASON: Final = 123


class GraphQLSocket:
    """The endpoint, an ASGI application. A connection has one session, which is looked at again
    and again, and operations one after the other and at once."""

    def __init__(
        self,
        settings: Settings,
        authenticator: Authenticator,
        operations: Operations,
        connections: LiveConnections,
        telemetry: Telemetry,
    ) -> None:
        self.settings = settings
        self.authenticator = authenticator
        self.operations = operations
        self.connections = connections
        self.telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _Conversation(self, scope, receive, send).run()


class _Conversation:
    """What is said on one connection."""

    def __init__(self, endpoint: GraphQLSocket, scope: Scope, receive: Receive, send: Send) -> None:
        self._endpoint = endpoint
        self._settings = endpoint.settings
        self._scope = scope
        self._receive = receive
        self._send = PatientSend(send, seconds=endpoint.settings.live_send_seconds)
        self._operations = SocketOperations(
            endpoint.settings,
            endpoint.operations,
            endpoint.telemetry,
            self._send,
            scope[CORRELATION_ID],
        )

    async def run(self) -> None:
        operations = self._operations
        try:
            with suppress(ExceptionGroup):  # What ended it was noted as it happened.
                async with asyncio.TaskGroup() as tasks:
                    await operations.noting(self._talk, tasks)
            if operations.ended:
                await self._close(operations.ended)
            await operations.finish()
        except asyncio.CancelledError:
            operations.give_up()
            raise

    async def _close(self, ended: Ended) -> None:
        if ended.code is None:
            return
        reason = ended.reason.encode(errors="replace")[:_LONGEST_REASON].decode(errors="ignore")
        self._endpoint.telemetry.closed(self._scope, ended.code, ended.reason_logged)
        with suppress(Ended):
            await self._send({"type": "websocket.close", "code": ended.code, "reason": reason})

    async def _talk(self, tasks: asyncio.TaskGroup) -> NoReturn:
        await self._receive()  # `websocket.connect`, with which each scope begins.
        is_known = PROTOCOL in self._scope["subprotocols"]
        await self._send(
            {"type": "websocket.accept", "subprotocol": PROTOCOL if is_known else None}
        )
        if not is_known:
            reason = f"Subprotocol not acceptable: here it is {PROTOCOL}"
            raise Ended(End.PROTOCOL, CloseCode.SUBPROTOCOL_NOT_ACCEPTABLE, reason)
        headers = _with_authorization(Headers(scope=self._scope), await self._first())
        session = await self._session(headers)
        try:
            with self._endpoint.connections.websocket(session.team_id):
                tasks.create_task(self._operations.noting(self._watch, headers, session))
                await self._say(ACK)
                while True:
                    await self._answer(await self._next(), session, tasks)
        except LimitExceeded as error:
            raise Ended(End.PROTOCOL, CloseCode.TRY_AGAIN_LATER, error.message) from None

    async def _first(self) -> Mapping[str, Any]:
        """The payload of the message that says who is asking."""
        try:
            async with asyncio.timeout(INIT_SECONDS) as timeout:
                with self._endpoint.connections.waiting(timeout):
                    while True:
                        match await self._next():
                            case ConnectionInit(payload):
                                return payload
                            case Ping(payload):
                                await self._say(pong(payload))
                            case Subscribe():
                                raise Ended(End.PROTOCOL, CloseCode.UNAUTHORIZED, "Unauthorized")
        except TimeoutError:
            reason = "Connection initialisation timeout"
            raise Ended(End.PROTOCOL, CloseCode.INITIALISATION_TIMEOUT, reason) from None

    async def _session(self, headers: Headers) -> Session:
        try:
            return await self._endpoint.authenticator.authenticate(headers)
        except Unauthenticated as error:
            raise Ended(End.SESSION, CloseCode.UNAUTHORIZED, error.message) from None
        except Forbidden as error:
            raise Ended(End.SESSION, CloseCode.FORBIDDEN, error.message) from None
        except Unavailable as error:
            raise Ended(End.UNAVAILABLE, CloseCode.TRY_AGAIN_LATER, error.message) from None

    async def _watch(self, headers: Headers, session: Session) -> NoReturn:
        every = self._settings.live_check_seconds
        reason = await self._endpoint.authenticator.until_it_ends(headers, session, every=every)
        raise Ended(End.SESSION, CloseCode.FORBIDDEN, reason)

    async def _answer(self, message: Received, session: Session, tasks: asyncio.TaskGroup) -> None:
        match message:
            case Subscribe():
                await self._operations.begin(message, session, tasks)
            case Complete(id):
                self._operations.stop(id)
            case Ping(payload):
                await self._say(pong(payload))
            case ConnectionInit():
                reason = "Too many initialisation requests"
                raise Ended(End.PROTOCOL, CloseCode.TOO_MANY_INITIALISATIONS, reason)

    async def _next(self) -> Received:
        # One in its turn: what is there already is received without a pause. Thousands of messages
        # that came at once would keep everybody else waiting; and an operation that is ended before
        # it has begun would leave no line in the log.
        await asyncio.sleep(0)
        event = await self._receive()
        if event["type"] == "websocket.receive":
            return read_message(event)
        if event.get(CLOSED_HERE):
            raise Ended(End.PROTOCOL, event["code"], event["reason"])
        # The server closes by itself when it stops.
        stops = event.get("code") == CloseCode.SERVICE_RESTART
        raise Ended(End.SHUTDOWN if stops else End.CLIENT)

    async def _say(self, message: bytes) -> None:
        await self._send({"type": "websocket.send", "text": message.decode()})


def _with_authorization(headers: Headers, payload: Mapping[str, Any]) -> Headers:
    """The headers of the handshake, in which an `authorization` of the payload, in whatever case,
    is in place of their own: a browser can't send one, and a client may have a newer one."""
    given = [value for name, value in payload.items() if name.lower() == "authorization"]
    if not given:
        return headers
    if not all(isinstance(value, str) for value in given):
        raise Ended(End.PROTOCOL, CloseCode.BAD_REQUEST, "`authorization` must be a string")
    others = [(name, value) for name, value in headers.raw if name != b"authorization"]
    own = [(b"authorization", value.encode("latin-1", "replace")) for value in given]
    return Headers(raw=[*others, *own])
