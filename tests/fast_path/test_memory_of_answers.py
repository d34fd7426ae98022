"""What a large timeline holds in memory while it is put together, beside its own JSON."""

import json
import tracemalloc
import uuid
from collections.abc import Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, cast

import orjson

from data.cascade import Cascades
from data.entities import Assignment, Entity, Project, Resource, Role
from data.expressions import Item
from data.items import encode
from data.metering import Operation
from data.store import Store
from resolvers.budget import Budget
from resolvers.context import RequestContext
from resolvers.session import Session
from schema.execution import carry_out, prepare
from tests.limits import LIMITS

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.client import DynamoDBClient

TEAM = "large"
ASSIGNMENTS = 20_000
ON_A_PAGE = 2_500
TIMELINE = (
    "{ team { resources { id name } projects { id name color } assignments"
    " { id startDate endDateExclusive resource { id name } project { id name color } } } }"
)


def stored() -> list[Item]:
    """The items of a team of twenty people and thirty jobs, as DynamoDB orders them."""
    stamps = {"version": 1, "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02"}
    people = [Resource(id=str(uuid.UUID(int=n)), name=f"Person {n}", **stamps) for n in range(20)]  # type: ignore[arg-type]
    jobs = [
        Project(id=str(uuid.UUID(int=n)), name=f"Job {n}", color="#336699", **stamps)  # type: ignore[arg-type]
        for n in range(30)
    ]
    first = date(2026, 1, 1)
    plan = [
        Assignment(
            id=str(uuid.UUID(int=n)),
            resource_id=people[n % 20].id,
            project_id=jobs[n % 30].id,
            start_date=first + timedelta(days=n % 900),
            end_date_exclusive=first + timedelta(days=n % 900 + 5),
            **stamps,  # type: ignore[arg-type]
        )
        for n in range(ASSIGNMENTS)
    ]
    entities: list[Entity] = [*people, *jobs, *plan]
    items = [encode(TEAM, each) for each in entities]
    return sorted(items, key=lambda item: item["sk"]["S"])


class Pages:
    """A transport that answers every Query with the next page."""

    def __init__(self, items: list[Item]) -> None:
        starts = range(0, len(items), ON_A_PAGE)
        self._pages = [
            json.dumps(
                {"Items": items[start : start + ON_A_PAGE]}
                | ({"LastEvaluatedKey": {}} if start + ON_A_PAGE < len(items) else {})
            ).encode()
            for start in starts
        ]

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        return self._pages.pop(0)


async def test_a_large_timeline_holds_less_than_ten_times_its_json() -> None:
    store = Store(cast("DynamoDBClient", None), Pages(stored()), "planner")
    session = Session(user_id="u", team_id=TEAM, role=Role.MEMBER)
    context = RequestContext(
        session, store, Cascades(store), Budget(objects=LIMITS.objects, seconds=60)
    )
    document = prepare(TIMELINE, limits=LIMITS, introspection=False)
    tracemalloc.start()
    try:
        answer = await carry_out(
            document,
            context,
            variables=None,
            operation_name=None,
            correlation_id="c",
            limits=LIMITS,
        )
        context.release()
        body = orjson.dumps(answer.body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(answer.body["data"]["team"]["assignments"]) == ASSIGNMENTS
    assert peak < 10 * len(body)
