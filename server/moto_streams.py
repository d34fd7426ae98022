"""The stream of a table in moto: what moto keeps for good, kept for the last 10,000 writes.

moto's own shard holds every record there ever was, its iterators are never forgotten, and each
transaction copies them all. Here records are bytes, which copies share; iterators are their places
and nothing else; and a write that is rolled back leaves the stream with the table's copy.
"""

import copy
import json
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from moto.dynamodb.exceptions import ERROR_TYPE_PREFIX, DynamodbException
from moto.dynamodb.models import dynamo_type, table
from moto.dynamodb.models.utilities import dynamo_json_dump
from moto.dynamodbstreams.models import DynamoDBStreamsBackend

__all__ = ["KEPT", "install"]

KEPT: Final = 10_000
"""Records of a table that its stream remembers."""


class Shard(table.StreamShard):
    """The one shard of a table. It begins with the oldest record that is kept."""

    def __init__(self, account_id: str, owner: table.Table) -> None:
        super().__init__(account_id, owner)
        self.next = self.starting_sequence_number
        self.records: deque[bytes] = deque(maxlen=KEPT)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Shard":
        """moto copies a table for each transaction, and puts the copy in its place when the
        transaction fails."""
        shard = copy.copy(self)
        memo[id(self)] = shard
        shard.table = copy.deepcopy(self.table, memo)
        shard.records = self.records.copy()
        return shard

    @property
    def oldest(self) -> int:
        """The number of the oldest record that is kept, or of the next one where none is."""
        return self.next - len(self.records)

    @property
    def is_closed(self) -> bool:
        """Whether the table's stream is off."""
        return not (self.table.stream_specification or {}).get("StreamEnabled")

    def to_json(self) -> dict[str, Any]:
        """The shard as DescribeStream has it."""
        description: dict[str, Any] = super().to_json()
        if self.is_closed:
            description["SequenceNumberRange"]["EndingSequenceNumber"] = str(self.next - 1)
        return description

    def add(self, old: dynamo_type.Item | None, new: dynamo_type.Item | None) -> None:
        """Records one write."""
        if self.is_closed:
            return
        event = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
        view = (self.table.stream_specification or {})["StreamViewType"]
        record = table.StreamRecord(self.table, view, event, old, new, self.next).to_json()
        created = record["dynamodb"].pop("ApproximateCreationDateTime")
        record["dynamodb"]["ApproximateCreationDateTime"] = created.timestamp()
        # Some values are objects of moto's own.
        self.records.append(dynamo_json_dump(record).encode())
        self.next += 1

    def get(self, start: int, quantity: int) -> list[dict[str, Any]]:
        """At most so many records from the one of this number on."""
        if start < self.oldest:
            raise _error("TrimmedDataAccessException", "The record is not kept any more")
        skipped = start - self.oldest
        return [json.loads(each) for each in islice(self.records, skipped, skipped + quantity)]


@dataclass(frozen=True)
class Iterator:
    """A place in a stream: all that an iterator is, so that none has to be kept."""

    stream: str
    next: int

    @property
    def arn(self) -> str:
        return f"{self.stream}|1|{self.next}"


class Backend(DynamoDBStreamsBackend):
    """moto's operations on streams, for a stream that forgets and may be off."""

    def describe_stream(self, arn: str) -> dict[str, Any]:
        shard = self._shard(arn)
        specification = shard.table.stream_specification or {}
        return {
            "StreamArn": arn,
            "StreamLabel": shard.table.latest_stream_label,
            "StreamStatus": "DISABLED" if shard.is_closed else "ENABLED",
            "StreamViewType": specification.get("StreamViewType"),
            "CreationRequestDateTime": shard.created_on,
            "TableName": shard.table.name,
            "KeySchema": shard.table.schema,
            "Shards": [shard.to_json()],
        }

    def get_shard_iterator(  # type: ignore[override]
        self, arn: str, shard_id: str, shard_iterator_type: str, sequence_number: int | None = None
    ) -> Iterator:
        shard = self._shard(arn)
        if shard_id != shard.id:
            raise _error("ResourceNotFoundException", "There is no such shard")
        places = {"TRIM_HORIZON": shard.oldest, "LATEST": shard.next}
        after = shard_iterator_type == "AFTER_SEQUENCE_NUMBER"
        place = places.get(shard_iterator_type, (sequence_number or 0) + after)
        if place < shard.oldest:
            raise _error("TrimmedDataAccessException", "The record is not kept any more")
        return Iterator(arn, place)

    def get_records(self, iterator_arn: str, limit: int) -> dict[str, Any]:
        arn, _, place = iterator_arn.split("|")
        shard = self._shard(arn)
        records = shard.get(int(place), limit)
        following = int(place) + len(records)
        answer: dict[str, Any] = {"Records": records}
        if not shard.is_closed or following < shard.next:
            answer["NextShardIterator"] = Iterator(arn, following).arn
        return answer

    def _shard(self, arn: str) -> Shard:
        owner = self._get_table_from_arn(arn)
        if not isinstance(owner.stream_shard, Shard) or not arn.endswith(
            f"/stream/{owner.latest_stream_label}"
        ):
            raise _error("ResourceNotFoundException", "There is no such stream")
        return owner.stream_shard


def install() -> None:
    """Has moto use these from now on."""
    table.StreamShard = Shard  # type: ignore[assignment, misc]
    for name in ("describe_stream", "get_shard_iterator", "get_records", "_shard"):
        setattr(DynamoDBStreamsBackend, name, getattr(Backend, name))


def _error(code: str, message: str) -> DynamodbException:
    return DynamodbException(ERROR_TYPE_PREFIX + code, message)
