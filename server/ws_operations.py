"""The operations of one WebSocket, by the ids that the client gave them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Final, TypeVarTuple, Unpack

import structlog

from data.errors import BadInput, LimitExceeded, PlannerError
from resolvers.session import Session
from schema.execution import Answer, Document
from schema.json_bytes import json_bytes
from schema.streaming import ResponseStream
from server.answers import internal_error, problem
from server.correlation import correlated
from server.envelope import RequestRefused
from server.live_ends import CloseCode, End, Ended
from server.observation import CANCELED, NOBODY_LISTENS, Observation
from server.operations import Operations, is_subscription
from server.settings import Settings
from server.streaming import PatientSend, answers_of
from server.telemetry import Telemetry
from server.ws_messages import Subscribe, complete, error, next_answer

__all__ = ["SocketOperations"]

log = structlog.get_logger(__name__)

Args = TypeVarTuple("Args")

SWITCHED: Final = 101
"""The status of what is answered over WebSocket: that of the handshake."""


class SocketOperations:
    """Begins and stops them. `ended` is what ended the connection, once something has."""

    def __init__(
        self,
        settings: Settings,
        operations: Operations,
        telemetry: Telemetry,
        send: PatientSend,
        correlation_id: str,
    ) -> None:
        """`correlation_id` is that of the connection; each operation has its own."""
        self.ended: Ended | None = None
        self._correlation_id = correlation_id
        self._limit = settings.max_subscriptions
        self._operations = operations
        self._telemetry = telemetry
        self._send = send
        self._by_id: dict[str, asyncio.Task[None]] = {}
        self._streams: set[asyncio.Task[None]] = set()
        self._single: set[asyncio.Task[tuple[bytes, ...]]] = set()

    async def noting(self, part: Callable[[Unpack[Args]], Awaitable[None]], *args: *Args) -> None:
        """Runs a part of the connection. What ends it is noted before the other parts are stopped,
        so that they know."""
        try:
            await part(*args)
        except Ended as ended:
            self.ended = self.ended or ended
            raise
        except Exception as fault:
            log.error("request failed", correlation_id=self._correlation_id, exc_info=fault)
            self.ended = self.ended or Ended(End.FAULT, CloseCode.INTERNAL_ERROR, "Internal error")
            raise

    async def begin(self, message: Subscribe, session: Session, tasks: asyncio.TaskGroup) -> None:
        """Begins an operation. Raises Ended where its id is that of another."""
        if message.id in self._by_id:
            reason = "Subscriber for {} already exists"
            exists = CloseCode.SUBSCRIBER_ALREADY_EXISTS
            raise Ended(End.PROTOCOL, exists, reason, words=message.id)
        try:
            if len(self._streams) + len(self._single) >= self._limit:
                text = f"A connection may have {self._limit} operations at once."
                raise LimitExceeded(text)
            document = self._operations.document(message.envelope)
        except (LimitExceeded, RequestRefused) as refused:
            code = BadInput.code if isinstance(refused, RequestRefused) else refused.code
            with correlated({}) as scope:
                self._telemetry.refused(scope, SWITCHED, code)
            await self._say(error(message.id, problem(refused.message, code)["errors"]))
            return
        if is_subscription(document.operation(message.envelope.operation_name)):
            task = tasks.create_task(self.noting(self._stream, message, document, session))
            self._streams.add(task)
            task.add_done_callback(self._streams.discard)
        else:
            # Outside of the group: as over POST, a write goes on when its client is gone.
            carried_out = asyncio.create_task(self._carried_out(message, document, session))
            self._single.add(carried_out)
            carried_out.add_done_callback(self._single.discard)
            task = tasks.create_task(self.noting(self._answer, carried_out))
        self._by_id[message.id] = task
        task.add_done_callback(lambda done: self._forget(message.id, done))

    def stop(self, id: str) -> None:
        """Sends no more answers to the operation. One that is not there may have just ended."""
        if task := self._by_id.pop(id, None):
            task.cancel()

    async def finish(self) -> None:
        """Waits for what was begun and has one answer. Cancelled, it gives that up."""
        await asyncio.gather(*self._single)

    def give_up(self) -> None:
        """Stops what was begun and has one answer."""
        for each in self._single:
            each.cancel()

    def _forget(self, id: str, task: asyncio.Task[None]) -> None:
        if self._by_id.get(id) is task:
            del self._by_id[id]

    async def _answer(self, carried_out: asyncio.Task[tuple[bytes, ...]]) -> None:
        for message in await asyncio.shield(carried_out):
            await self._say(message)

    async def _carried_out(
        self, message: Subscribe, document: Document, session: Session
    ) -> tuple[bytes, ...]:
        """What there is to say to an operation with one answer."""
        id, envelope = message.id, message.envelope
        with correlated({}) as scope, self._telemetry.observing(scope) as seen:
            budget = self._operations.budget()
            try:
                answer = await self._operations.carry_out(document, envelope, session, budget, seen)
            except Exception as fault:
                return (self._masked(id, fault, seen),)
            seen.status = SWITCHED
            if not answer.executed:
                return (error(id, answer.body["errors"]),)
            return (next_answer(id, json_bytes(answer.body)), complete(id))

    async def _stream(self, message: Subscribe, document: Document, session: Session) -> None:
        with ExitStack() as until_it_ends:
            scope = until_it_ends.enter_context(correlated({}))
            seen = until_it_ends.enter_context(self._telemetry.observing(scope))
            stream = await self._subscribed(message, document, session, seen, until_it_ends)
            if stream is None:
                return
            seen.stands(SWITCHED)
            try:
                await self._say_all(message.id, stream, seen)
            except asyncio.CancelledError:
                seen.ends(self.ended.end if self.ended else End.CLIENT)
                raise
            except Ended as ended:
                seen.ends(ended.end)
                raise
            except Exception as fault:
                seen.ends(End.FAULT)
                await self._say(self._masked(message.id, fault, seen))

    async def _subscribed(
        self,
        message: Subscribe,
        document: Document,
        session: Session,
        seen: Observation,
        until_it_ends: ExitStack,
    ) -> ResponseStream | None:
        """The stream; None where it was refused, and that was said."""
        seen.status, seen.code = NOBODY_LISTENS, CANCELED
        try:
            stream = await self._operations.subscribe(
                document, message.envelope, session, seen, until_it_ends
            )
        except Exception as fault:
            await self._say(self._masked(message.id, fault, seen))
            return None
        if isinstance(stream, Answer):
            seen.status = SWITCHED
            await self._say(error(message.id, stream.body["errors"]))
            return None
        return stream

    async def _say_all(self, id: str, stream: ResponseStream, seen: Observation) -> None:
        async with answers_of(stream) as answers:
            async for answer in answers:
                await self._say(next_answer(id, answer))
                seen.answers += 1
        seen.ends(End.COMPLETE)
        await self._say(complete(id))

    def _masked(self, id: str, fault: Exception, seen: Observation) -> bytes:
        seen.status, seen.code = 500, PlannerError.code
        log.error("request failed", correlation_id=seen.correlation_id, exc_info=fault)
        return error(id, internal_error(seen.correlation_id)["errors"])

    async def _say(self, message: bytes) -> None:
        await self._send({"type": "websocket.send", "text": message.decode()})
