"""Listening to what a store sends, whichever way it goes: items by its transport, and the table's
administration by boto's client."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from data.metering import Operation
from data.store import Store
from data.streams import StreamOperation, Streams
from data.transport import Sender

__all__ = ["listening", "listening_to_stream"]

Listener = Callable[[str, Mapping[str, Any]], None]
"""Hears the operation and its parameters, as they leave."""


class _Tap:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self.listeners: list[Listener] = []

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        for listener in self.listeners:
            listener(operation, request)
        return await self._sender.send(operation, request)


@contextmanager
def listening(store: Store, listener: Listener) -> Iterator[None]:
    """Has the listener hear every request of the store. What is put between the store and its
    transport meanwhile may stay there for longer."""
    tap = store.transport if isinstance(store.transport, _Tap) else _Tap(store.transport)
    store.transport = tap
    tap.listeners.append(listener)

    def hear(params: Mapping[str, Any], model: Any, **_: Any) -> None:
        listener(model.name, params)

    events, event = store.client.meta.events, "provide-client-params.dynamodb.*"
    events.register(event, hear, unique_id=str(id(hear)))
    try:
        yield
    finally:
        events.unregister(event, unique_id=str(id(hear)))
        tap.listeners.remove(listener)


class _StreamTap:
    def __init__(self, streams: Streams, listener: Listener) -> None:
        self._sender = streams.transport
        self._listener = listener

    async def send(self, operation: StreamOperation, request: Mapping[str, Any]) -> bytes:
        self._listener(operation, request)
        return await self._sender.send(operation, request)


@contextmanager
def listening_to_stream(streams: Streams, listener: Listener) -> Iterator[None]:
    """Has the listener hear every request for the table's stream."""
    transport = streams.transport
    streams.transport = _StreamTap(streams, listener)
    try:
        yield
    finally:
        streams.transport = transport
