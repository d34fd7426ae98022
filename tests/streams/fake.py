"""A stream as AWS has them, which no engine here does: shards that split and end, iterators that
expire, records that are trimmed, throttling, pages that are empty though more follows."""

import json
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from botocore.exceptions import ClientError

from data.clock import epoch_of, now
from data.entities import EntityType, Resource
from data.expressions import Item
from data.items import encode
from data.store import Store
from data.streams import Streams
from data.tombstones import tombstone

__all__ = ["ARN", "FakeStream", "item"]

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/planner/stream/"
RANGE = 256


@dataclass
class FakeShard:
    """A shard of the keys in [low, high)."""

    id: str
    parent: str | None
    low: int
    high: int
    records: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    closed: bool = False


def item(
    team: str, id: str, version: int, *, at: str | None = None, made: str | None = None
) -> Item:
    """A resource as it is stored, `made` at that moment."""
    moment = at or now()
    resource = Resource(
        id=id,
        name=f"{id} {version}",
        version=version,
        created_at=moment if version == 1 else made or "2026-01-01T00:00:00.000Z",
        updated_at=moment,
    )
    return encode(team, resource)


class FakeStream:
    """Answers what `Streams` asks. `errors` are raised by the next requests of their operation;
    `page` is how many records an answer has at most, `empty` says whether an empty page comes
    before each that has any."""

    def __init__(self, *, page: int = 1_000, empty: int = 0) -> None:
        self.label = "2026"
        self.shards: dict[str, FakeShard] = {}
        self.page = page
        self.empty = empty
        self.errors: dict[str, deque[str]] = {}
        self.requests: Counter[str] = Counter()
        self.places: list[tuple[str, str]] = []
        self.is_on = True
        self._age = 0
        self._sequence = 1000
        self._items: dict[tuple[str, str], Item] = {}
        self.add(None, 0, RANGE)

    @property
    def streams(self) -> Streams:
        client = SimpleNamespace(describe_table=self._describe_table)
        store = cast("Store", SimpleNamespace(table="planner", client=client))
        return Streams(store, self)

    @property
    def open(self) -> list[FakeShard]:
        return [shard for shard in self.shards.values() if not shard.closed]

    def add(self, parent: str | None, low: int, high: int) -> FakeShard:
        shard = FakeShard(f"shardId-{len(self.shards):020}-{self.label}", parent, low, high)
        self.shards[shard.id] = shard
        return shard

    def split(self, shard: FakeShard) -> None:
        """Ends a shard; its keys are halved between two children, or go on in one."""
        shard.closed = True
        middle = (shard.low + shard.high) // 2
        if middle == shard.low:
            self.add(shard.id, shard.low, shard.high)
            return
        self.add(shard.id, shard.low, middle)
        self.add(shard.id, middle, shard.high)

    def roll(self, shard: FakeShard) -> None:
        """Ends a shard, as those of AWS do after some hours."""
        shard.closed = True
        self.add(shard.id, shard.low, shard.high)

    def write(self, team: str, id: str, version: int, *, at: str | None = None) -> str:
        """Writes a version of an entity, now or at another moment, and returns the shard that has
        the record."""
        found = self._items.get((f"TEAM#{team}", f"RES#{id}"), {})
        made = found["createdAt"]["S"] if found else None
        new = item(team, id, version, at=at, made=made)
        return self.put(new, key=id, created=epoch_of(at) if at else None)

    def delete(self, team: str, id: str, version: int) -> None:
        """Deletes an entity, and remembers it with a version one higher than it had."""
        left = tombstone(team, EntityType.RESOURCE, id, version=version - 1, by=None)
        self.put(None, key=id, old=self._items.pop((f"TEAM#{team}", f"RES#{id}")))
        self.put(left.item, key=id)

    def put(
        self,
        new: Item | None,
        *,
        key: str,
        old: Item | None = None,
        created: float | None = None,
    ) -> str:
        """Puts an item in place of the old one, or of what is there, or deletes it."""
        place = sum(key.encode()) * 37 % RANGE
        [shard] = [each for each in self.open if each.low <= place < each.high]
        if new is not None:
            old = old or self._items.get((new["pk"]["S"], new["sk"]["S"]))
            self._items[new["pk"]["S"], new["sk"]["S"]] = new
        images = {"NewImage": new, "OldImage": old}
        self._sequence += 7
        data = {
            "SequenceNumber": f"{self._sequence:021}",
            "SizeBytes": 100,
            "ApproximateCreationDateTime": (created or time.time()) // 60 * 60,
            **{name: image for name, image in images.items() if image is not None},
        }
        event = "REMOVE" if new is None else "MODIFY" if old else "INSERT"
        shard.records.append((self._sequence, {"eventName": event, "dynamodb": data}))
        return shard.id

    def expire_iterators(self) -> None:
        self._age += 1

    def recreate(self) -> None:
        """The table is made anew."""
        self.label = f"{self.label}1"
        self.shards = {}
        self.is_on = True
        self.add(None, 0, RANGE)

    def turn_off(self) -> None:
        self.is_on = False
        for shard in self.open:
            shard.closed = True

    def trim(self, shard: FakeShard) -> None:
        """Forgets all that the shard has so far."""
        shard.records.clear()
        self._trimmed = self._sequence

    _trimmed = 0

    def fail(self, operation: str, *codes: str) -> None:
        self.errors.setdefault(operation, deque()).extend(codes)

    async def send(self, operation: str, request: Mapping[str, Any]) -> bytes:
        self.requests[operation] += 1
        if self.errors.get(operation):
            raise _error(self.errors[operation].popleft(), operation)
        answer = getattr(self, f"_{operation}")(request)
        return json.dumps(answer).encode()

    async def _describe_table(self, TableName: str) -> dict[str, Any]:  # noqa: N803
        if self.errors.get("DescribeTable"):
            raise _error(self.errors["DescribeTable"].popleft(), "DescribeTable")
        specification = {"StreamSpecification": {"StreamEnabled": True}} if self.is_on else {}
        return {"Table": {"LatestStreamArn": ARN + self.label, **specification}}

    def _DescribeStream(self, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        self._require_stream(request["StreamArn"], "DescribeStream")
        ids = sorted(self.shards)
        start = request.get("ExclusiveStartShardId")
        rest = [id for id in ids if start is None or id > start]
        described = {
            "StreamStatus": "ENABLED" if self.is_on else "DISABLED",
            "Shards": [self._described(self.shards[id]) for id in rest[:3]],
        }
        if len(rest) > 3:
            described["LastEvaluatedShardId"] = rest[2]
        return {"StreamDescription": described}

    def _described(self, shard: FakeShard) -> dict[str, Any]:
        numbers = {"StartingSequenceNumber": "0" * 21}
        if shard.closed:
            numbers["EndingSequenceNumber"] = "9" * 21
        parent = {"ParentShardId": shard.parent} if shard.parent else {}
        return {"ShardId": shard.id, "SequenceNumberRange": numbers, **parent}

    def _GetShardIterator(self, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        self._require_stream(request["StreamArn"], "GetShardIterator")
        shard = self.shards[request["ShardId"]]
        kind = request["ShardIteratorType"]
        self.places.append((shard.id, kind))
        after = {"TRIM_HORIZON": 0, "LATEST": self._sequence}.get(kind)
        if after is None:
            assert len(request["SequenceNumber"]) >= 21
            after = int(request["SequenceNumber"])
            if after < self._trimmed and not any(s == after for s, _ in shard.records):
                raise _error("TrimmedDataAccessException", "GetShardIterator")
        return {"ShardIterator": f"{request['StreamArn']}|{shard.id}|{after}|{self._age}|0"}

    def _GetRecords(self, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        arn, id, after, age, lull = request["ShardIterator"].split("|")
        self._require_stream(arn, "GetRecords")
        if int(age) != self._age:
            raise _error("ExpiredIteratorException", "GetRecords")
        shard = self.shards[id]
        if int(after) and int(after) < self._trimmed:
            raise _error("TrimmedDataAccessException", "GetRecords")
        rest = [(number, record) for number, record in shard.records if number > int(after)]
        page = rest[: self.page]
        is_lull = page and int(lull) < self.empty
        if is_lull:
            page = []
        last = page[-1][0] if page else after
        answer: dict[str, Any] = {"Records": [record for _, record in page]}
        if not shard.closed or len(page) < len(rest):
            answer["NextShardIterator"] = (
                f"{arn}|{id}|{last}|{self._age}|{int(lull) + 1 if is_lull else 0}"
            )
        return answer

    def _require_stream(self, arn: str, operation: str) -> None:
        if arn != ARN + self.label:
            raise _error("ResourceNotFoundException", operation)


def _error(code: str, operation: str) -> ClientError:
    metadata: Any = {"HTTPStatusCode": 400}
    return ClientError(
        {"Error": {"Code": code, "Message": ""}, "ResponseMetadata": metadata}, operation
    )
