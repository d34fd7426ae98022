"""Opens the store of a process: the one client of DynamoDB, and the connections it sends by.

Time limits, the number of connections and boto's own retries are settled here and nowhere else. See
docs/adr/0004-one-client-module.md and 0016-own-requests.md.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aioboto3
from aiobotocore.config import AioConfig

from data.posting import open_poster
from data.sending import RetryPolicy
from data.store import Store
from data.transport import OpenRequestSpan, Transport

__all__ = ["open_store"]


@asynccontextmanager
async def open_store(
    table: str,
    *,
    endpoint_url: str | None = None,
    credentials: Mapping[str, Any] | None = None,
    max_connections: int = 50,
    consistent_reads: bool = True,
    max_items: int = 100_000,
    max_large_reads: int = 2,
    page_size: int | None = None,
    retries: RetryPolicy | None = None,
    open_span: OpenRequestSpan | None = None,
) -> AsyncIterator[Store]:
    """The process's store, with one client that lives as long as the context. `credentials` are
    arguments of a boto session (key, secret, region); without them boto finds its own.
    `open_span` opens a span around each request on items, where they are traced."""
    config = AioConfig(
        # More requests than connections wait for one; they do not fail.
        max_pool_connections=max_connections,
        connect_timeout=2,
        read_timeout=5,
        # Retries are ours: they need the token and the reasons of a transaction.
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    session = aioboto3.Session(**(credentials or {}))
    async with (
        session.client("dynamodb", endpoint_url=endpoint_url, config=config) as client,
        open_poster(client) as poster,
    ):
        yield Store(
            client,
            Transport(client, poster, open_span),
            table,
            consistent_reads=consistent_reads,
            max_items=max_items,
            max_large_reads=max_large_reads,
            page_size=page_size,
            retries=retries,
        )
