"""What commands send to DynamoDB, whichever store they open."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from data.metering import Operation
from data.store import Store
from data.transport import Transport

__all__ = ["recorded"]


@contextmanager
def recorded(*, page_size: int) -> Iterator[list[tuple[str, Mapping[str, Any]]]]:
    """Every request on items that leaves meanwhile: operation and parameters. Pages have no more
    than so many items."""
    sent: list[tuple[str, Mapping[str, Any]]] = []
    send, init = Transport.send, Store.__init__

    async def hear(self: Transport, operation: Operation, request: Mapping[str, Any]) -> bytes:
        sent.append((operation, request))
        return await send(self, operation, request)

    def small(self: Store, *arguments: Any, **options: Any) -> None:
        init(self, *arguments, **{**options, "page_size": page_size})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transport, "send", hear)
        patch.setattr(Store, "__init__", small)
        yield sent
