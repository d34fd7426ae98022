"""The table's stream as it is asked for: its shards, iterators, and pages of records.

Requests are signed and sent as those on items are (`data.transport`), to the endpoint and with the
credentials of a client of boto's own for DynamoDB Streams. Nothing is sent again here. See
docs/adr/0022-live-updates.md, and "Change data capture for DynamoDB Streams" in the Developer
Guide.
"""

import asyncio
import enum
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Final, Literal, Protocol

import aioboto3
import msgspec
from aiobotocore.config import AioConfig
from msgspec import Struct, field

from data.administration import describe_table
from data.errors import Unavailable
from data.failures import REQUEST_ERRORS, STORE_ERRORS, Outage, code_of, failure_of, outage_of
from data.posting import open_poster
from data.rows import Row, json_of
from data.store import Store
from data.transport import Transport

__all__ = [
    "STREAM_OFF",
    "IteratorExpired",
    "Place",
    "Record",
    "RecordPage",
    "Shard",
    "StreamLost",
    "StreamOperation",
    "Streams",
    "Trimmed",
    "open_streams",
]

StreamOperation = Literal["DescribeStream", "GetRecords", "GetShardIterator"]

_DIGITS: Final = 21
"""AWS limit: a sequence number has 21 digits or more. DynamoDB Local pads its own with zeros."""


STREAM_OFF: Final = "stream_off"
"""Why there is nothing to read: the table has no stream, or it is no longer written."""


class Place(enum.StrEnum):
    """Where in a shard to begin, if not after a record: with the oldest, or after the newest."""

    OLDEST = "TRIM_HORIZON"
    NEWEST = "LATEST"


class StreamLost(Exception):
    """The stream can't be read, and no other attempt will change that. `reason` is for operators:
    an Outage, of which TABLE_MISSING is also that of a stream that is no longer there, or
    STREAM_OFF."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class IteratorExpired(Exception):
    """The iterator is older than 15 minutes; another one of the same place goes on."""


class Trimmed(Exception):
    """What was asked for is older than the stream remembers: 24 hours."""


class Shard(Struct, frozen=True, gc=False):
    """A part of the stream. It is closed when it is split or has been open for some hours; its
    `parent` holds what came before it, and may be forgotten already."""

    id: str
    parent: str | None = None
    closed: bool = False


class Images(Struct, frozen=True, gc=False):
    """What a record says of one item. `created` is in seconds since 1970; DynamoDB Local rounds it
    down to a minute."""

    sequence: str = field(name="SequenceNumber")
    new: Row | None = field(name="NewImage", default=None)
    old: Row | None = field(name="OldImage", default=None)
    created: float = field(name="ApproximateCreationDateTime", default=0.0)
    size: int = field(name="SizeBytes", default=0)


class Record(Struct, frozen=True, gc=False):
    """One write of one item. `event` is INSERT, MODIFY or REMOVE."""

    event: str = field(name="eventName")
    images: Images = field(name="dynamodb")


class RecordPage(Struct, gc=False):
    """An answer to GetRecords: at most 1,000 records, or 1 MB. Without a next iterator the shard
    is closed and read to its end. A page may be empty though more follows."""

    records: list[Record] = field(name="Records", default_factory=list)
    next: str | None = field(name="NextShardIterator", default=None)


class Source(Protocol):
    """What requests to the stream are sent with: `data.transport.Transport`, or a listener."""

    async def send(self, operation: StreamOperation, request: Mapping[str, Any]) -> bytes: ...


class Streams:
    """The stream of a store's table. All methods raise Unavailable for what may pass (throttling,
    no connection), and StreamLost for what will not."""

    def __init__(self, store: Store, transport: Source) -> None:
        self.store = store
        self.transport = transport

    async def arn(self) -> str:
        """The ARN of the table's stream. It is another one after the stream was off, or the table
        was made anew."""
        try:
            table = await describe_table(self.store)
        except (*STORE_ERRORS, OSError) as error:
            raise _meaning(error) from error
        if not table:
            raise StreamLost(Outage.TABLE_MISSING)
        if not table.get("StreamSpecification", {}).get("StreamEnabled"):
            raise StreamLost(STREAM_OFF)
        return str(table["LatestStreamArn"])

    async def shards(self, arn: str) -> tuple[bool, dict[str, Shard]]:
        """Whether the stream is still written, and all its shards by their ids."""
        request = {"StreamArn": arn}
        shards: dict[str, Shard] = {}
        while True:
            answer = json_of(await self._send("DescribeStream", request))["StreamDescription"]
            for each in answer["Shards"]:
                closed = "EndingSequenceNumber" in each.get("SequenceNumberRange", {})
                shard = Shard(each["ShardId"], each.get("ParentShardId"), closed)
                shards[shard.id] = shard
            last = answer.get("LastEvaluatedShardId")
            if last is None:
                return answer["StreamStatus"] in ("ENABLED", "ENABLING"), shards
            request["ExclusiveStartShardId"] = last

    async def iterator(self, arn: str, shard: str, place: Place | int) -> str:
        """An iterator that begins at a place, or after the record of this number. Raises
        Trimmed."""
        request = {"StreamArn": arn, "ShardId": shard}
        if isinstance(place, Place):
            request["ShardIteratorType"] = place
        else:
            request["ShardIteratorType"] = "AFTER_SEQUENCE_NUMBER"
            request["SequenceNumber"] = str(place).zfill(_DIGITS)
        return str(json_of(await self._send("GetShardIterator", request))["ShardIterator"])

    async def records(self, iterator: str) -> tuple[RecordPage, int]:
        """The next page, and the bytes that it came in. Raises IteratorExpired, Trimmed."""
        body = await self._send("GetRecords", {"ShardIterator": iterator})
        return _page(body), len(body)

    async def _send(self, operation: StreamOperation, request: Mapping[str, Any]) -> bytes:
        try:
            return await self.transport.send(operation, request)
        except (*STORE_ERRORS, OSError) as error:
            raise _meaning(error) from error


_decode: Final = msgspec.json.Decoder(RecordPage).decode


def _page(body: bytes) -> RecordPage:
    try:
        return _decode(body)
    except msgspec.DecodeError:
        # One row with a lone surrogate, as in `data.rows`.
        return msgspec.convert(json.loads(body), RecordPage)


def _meaning(error: Exception) -> Exception:
    match code_of(error):
        case "ExpiredIteratorException":
            return IteratorExpired()
        case "TrimmedDataAccessException":
            return Trimmed()
    failure = failure_of(error) if isinstance(error, REQUEST_ERRORS) else None
    return failure if isinstance(failure, Unavailable) else StreamLost(outage_of(error))


@asynccontextmanager
async def open_streams(
    store: Store,
    *,
    endpoint_url: str | None = None,
    credentials: Mapping[str, Any] | None = None,
) -> AsyncIterator[Streams]:
    """The stream of the store's table, asked for at the endpoint that DynamoDB has, if one is set,
    as emulators want it; boto's own AWS_ENDPOINT_URL_DYNAMODB_STREAMS comes before it. The client
    is made when the first request is sent: a server to which nobody subscribes has none."""
    if "AWS_ENDPOINT_URL_DYNAMODB_STREAMS" in os.environ:
        endpoint_url = None
    config = AioConfig(connect_timeout=2, read_timeout=5)
    session = aioboto3.Session(**(credentials or {}))

    @asynccontextmanager
    async def opened() -> AsyncIterator[Transport]:
        async with (
            session.client("dynamodbstreams", endpoint_url=endpoint_url, config=config) as client,
            open_poster(client) as poster,
        ):
            yield Transport(client, poster)

    async with AsyncExitStack() as stack:
        yield Streams(store, _WhenAsked(opened, stack))


class _WhenAsked:
    """Sends by a transport that it opens with the first request."""

    def __init__(
        self,
        opened: Callable[[], AbstractAsyncContextManager[Transport]],
        stack: AsyncExitStack,
    ) -> None:
        self._opened = opened
        self._stack = stack
        self._opening = asyncio.Lock()
        self._transport: Transport | None = None

    async def send(self, operation: StreamOperation, request: Mapping[str, Any]) -> bytes:
        async with self._opening:
            if self._transport is None:
                self._transport = await self._stack.enter_async_context(self._opened())
        return await self._transport.send(operation, request)
