"""What the latest changes of one type consume: by a filter on `EntityType`, and by an index that
has nothing else. See docs/access-patterns.md#recent-changes.

Two tables with the same items, in one of which projects have one attribute more, the sort key of a
sparse index. Capacity is what DynamoDB reports.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bench.capacity import TODAY
from data.entities import Assignment, EntityType, Project
from data.expressions import Item, KeyQuery, s
from data.items import encode
from data.recent_changes import query_of
from data.table import definition

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.client import DynamoDBClient

__all__ = ["FIRST", "section"]

FIRST: Final = 20
"""Changes that are asked for: what `recentChanges` gives by itself."""

_TEAM: Final = "changes"
_ITEMS: Final = 2_000
_ONE_IN: Final = 50
"""Of so many changes one is a project's."""
_SPARSE: Final = "projectsByUpdatedAt"
_SPARSE_KEY: Final = "projectUpdatedAt"


async def section(client: "DynamoDBClient", prefix: str) -> str:
    """Makes and fills two tables, whose names begin with the prefix, and returns a Markdown table
    of what reads and writes consume in them."""
    plain, sparse = f"{prefix}-plain", f"{prefix}-sparse"
    await client.create_table(**definition(plain))
    await client.create_table(**_with_sparse_index(definition(sparse)))
    items = [_item(number) for number in range(_ITEMS)]
    await _fill(client, plain, items)
    await _fill(client, sparse, list(map(_marked, items)))
    all_types = query_of(_TEAM, None)
    every = await _read(client, plain, all_types)
    filtered = await _read(client, plain, query_of(_TEAM, EntityType.PROJECT))
    alone = await _read(client, sparse, replace(all_types, index=_SPARSE))
    project, assignment = _item(_ONE_IN * _ITEMS), _item(_ONE_IN * _ITEMS + 1)
    writes = [
        (title, await _write(client, plain, item), await _write(client, sparse, _marked(item)))
        for title, item in (("a new project", project), ("a new assignment", assignment))
    ]
    rows = [
        ("what", "read or write units", "with the sparse index"),
        ("---", "---:", "---:"),
        (f"the latest {FIRST} changes of all types", f"{every:g}", f"{every:g}"),
        (f"the latest {FIRST} changes of projects", f"{filtered:g}", f"{alone:g}"),
        *((title, f"{less:g}", f"{more:g}") for title, less, more in writes),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


async def _fill(client: "DynamoDBClient", table: str, items: Sequence[Item]) -> None:
    for start in range(0, len(items), 25):
        requests: Any = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        answer = await client.batch_write_item(RequestItems={table: requests})
        if answer["UnprocessedItems"]:
            raise RuntimeError("not all of a batch was written")


def _item(number: int) -> Item:
    moment = f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    id = f"0197a000-0000-7000-8000-{number:012}"
    if number % _ONE_IN == 0:
        color = "#336699"
        project = Project(
            id=id,
            name=f"Job {number}",
            color=color,
            version=1,
            created_at=moment,
            updated_at=moment,
        )
        return encode(_TEAM, project)
    assignment = Assignment(
        id=id,
        resource_id="0197a000-0000-7000-8000-00000000000a",
        project_id="0197a000-0000-7000-8000-00000000000b",
        start_date=TODAY,
        end_date_exclusive=TODAY.replace(day=TODAY.day + 1),
        version=1,
        created_at=moment,
        updated_at=moment,
    )
    return encode(_TEAM, assignment)


def _marked(item: Item) -> Item:
    """The item as a writer would write it who knows of the sparse index."""
    is_project = item["EntityType"] == s(EntityType.PROJECT)
    return {**item, _SPARSE_KEY: item["updatedAt"]} if is_project else item


def _with_sparse_index(table: dict[str, Any]) -> dict[str, Any]:
    table["AttributeDefinitions"].append({"AttributeName": _SPARSE_KEY, "AttributeType": "S"})
    table["GlobalSecondaryIndexes"].append(
        {
            "IndexName": _SPARSE,
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": _SPARSE_KEY, "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    )
    return table


async def _read(client: "DynamoDBClient", table: str, query: KeyQuery) -> float:
    """Units of finding FIRST changes, the newest first, with limits as `recentChanges` has them."""
    request = {
        **query.request(),
        "TableName": table,
        "Limit": FIRST + 1,
        "ReturnConsumedCapacity": "TOTAL",
    }
    units, found = 0.0, 0
    while True:
        answer = await client.query(**request)
        units += answer["ConsumedCapacity"]["CapacityUnits"]
        found += answer["Count"]
        if found > FIRST or "LastEvaluatedKey" not in answer:
            return units
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        request["Limit"] = min(request["Limit"] * 2, 1_000)


async def _write(client: "DynamoDBClient", table: str, item: Item) -> float:
    answer = await client.put_item(TableName=table, Item=item, ReturnConsumedCapacity="TOTAL")
    return answer["ConsumedCapacity"]["CapacityUnits"]
