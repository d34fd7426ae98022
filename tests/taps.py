"""Listening to what a store sends, whichever way it goes: items by its transport, and the table's
administration by boto's client."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from data.metering import Operation
from data.store import Store
from data.transport import Sender

__all__ = ["listening"]

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
