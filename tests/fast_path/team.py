"""A team with everything that rows can be, and a store that has only that and takes no writes."""

import json
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from hypothesis import strategies as st

from data.entities import (
    Assignment,
    Entity,
    EntityType,
    Link,
    Membership,
    Project,
    Resource,
    Role,
    Team,
)
from data.expressions import Item, KeyQuery, s
from data.items import encode
from data.metering import Operation
from data.store import Store
from resolvers.global_ids import membership_id, to_global_id
from tests.fast_path.documents import Values
from tests.unit.data.memory_store import found

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.client import DynamoDBClient

__all__ = ["OTHER", "TEAMS", "USER", "VALUES", "Replay", "rows"]

USER: Final = "user-1"
OTHER: Final = "team-2"
_STAMP: Final = "2024-01-02T03:04:05.678Z"
# A mark of a deletion that has only begun, so that no read finishes it.
_DELETING: Final = "2999-01-01T00:00:00.000Z"
_UNICODE: Final = 'Zoë 👩‍🚀 \u202e"quoted"\n\ttab \\ </script> \u0000 日本'


def _assignment(id: str, start: str, days: int, resource: str, project: str, **more: Any) -> Entity:
    first = date.fromisoformat(start)
    return Assignment(
        id=id,
        resource_id=resource,
        project_id=project,
        start_date=first,
        end_date_exclusive=first + timedelta(days=days),
        **more,
    )


_STAMPS: Final[dict[str, Any]] = {"version": 3, "created_at": _STAMP, "updated_at": _STAMP}

_FULL: Final[Sequence[Entity]] = (
    Team(id="team-1", name=_UNICODE, **_STAMPS),
    Membership(team_id="team-1", user_id=USER, role=Role.ADMIN, joined_at=_STAMP),
    Membership(team_id="team-1", user_id="user#2", role=Role.VIEWER),
    Resource(id="r1", name="Ada", **_STAMPS),
    Resource(id="r2", name=_UNICODE),
    Resource(id="r3", name="Nobody plans it", version=2**31 - 1),
    Resource(id="r4", name="Going", deleting_at=_DELETING, **_STAMPS),
    Project(id="p1", name="Bridge", color="#336699", **_STAMPS),
    Project(
        id="p2",
        name="Tower",
        color="#abcdef",
        description="Tall. " * 80,
        tags=("high", "ünïcode", ""),
        links=(Link("Plan", "https://plan.example/1"), Link(_UNICODE, "http://x.example")),
    ),
    Project(id="p3", name="Gone soon", color="#000000", deleting_at=_DELETING),
    _assignment("a1", "2024-01-01", 5, "r1", "p1", note="First", **_STAMPS),
    _assignment("a2", "2024-01-03", 1, "r1", "p2"),
    _assignment("a3", "2024-01-10", 400, "r2", "p1", note="Long. " * 60, version=1),
    _assignment("a4", "2024-02-01", 10, "r2", "p2", note=_UNICODE),
    _assignment("a5", "2024-02-01", 2, "nobody", "p1"),
    _assignment("a6", "2024-02-02", 2, "r1", "nothing"),
    _assignment("a7", "2024-02-03", 2, "r4", "p1"),
    _assignment("a8", "2024-02-03", 2, "r1", "p3"),
    _assignment("a9", "2023-01-01", 900, "nobody", "nothing", version=7),
)

_ODD: Final[Sequence[Item]] = (
    {"sk": s("RES#untyped"), "name": s("No type")},
    {"sk": s("RES#unknown"), "EntityType": s("Robot"), "name": s("Unknown type")},
    {"sk": s("RES#broken"), "EntityType": s("Resource"), "id": s("broken")},
    {"sk": s("PRJ#broken"), "EntityType": s("Project"), "id": s("broken"), "name": {"N": "5"}},
    {"sk": s("MEM#odd"), "EntityType": s("Membership"), "userId": s("odd"), "role": s("king")},
)


def rows(team: str) -> list[Item]:
    """The items of a team with everything."""
    partition = {"pk": s(f"TEAM#{team}")}
    return [
        *(encode(team, each) | partition for each in _FULL),
        *(item | partition for item in _ODD),
    ]


TEAMS: Final[Mapping[str, Sequence[Item]]] = {
    "team-1": rows("team-1"),
    "team-2": tuple(
        encode(OTHER, each)
        for each in (
            Resource(id="r9", name="Eve"),
            Membership(team_id=OTHER, user_id=USER, role=Role.VIEWER),
        )
    ),
    "team-3": (),
}
"""The items of each team: one with everything, one of somebody else, and an empty one."""


def _ids() -> list[str]:
    own = (
        to_global_id(EntityType(type(each).__name__), each.id)
        for each in _FULL
        if not isinstance(each, Membership)
    )
    others = (
        (EntityType.MEMBERSHIP, membership_id("team-1", USER)),
        (EntityType.MEMBERSHIP, membership_id(OTHER, USER)),
        (EntityType.MEMBERSHIP, membership_id("team-1", "nobody")),
        (EntityType.TEAM, OTHER),
        (EntityType.RESOURCE, "r9"),
        (EntityType.PROJECT, "never"),
    )
    return [*own, *(to_global_id(*each) for each in others), "", "é", "UmVzb3VyY2U6", "r1"]


def _mostly(usual: list[Any], *rare: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([*usual * 4, *rare, *usual * 4])


VALUES: Final[Values] = {
    "ID": st.sampled_from(_ids()),
    "Boolean": st.booleans(),
    "Int": st.sampled_from([0, 1, -3, 2**31 - 1]),
    "String": st.sampled_from(["", "Ada", "#336699", _UNICODE]),
    "Date": st.sampled_from(["2024-01-01", "2024-02-02"]),
    # Crossed windows fail the whole read, so they must be few.
    "from": _mostly(["2024-01-02", "2024-01-03"], "2024-06-01"),
    "to": _mostly(["2024-02-02", "2024-01-03"], "2024-01-01"),
    # The name of a type, for introspection.
    "name": st.sampled_from(["Assignment", "Node", "Role", "Date", "DeleteInput", "None", ""]),
}


_ANSWERS: Final[dict[str, bytes]] = {}


class Replay:
    """A transport for a store over these teams. It writes down what it is asked, and takes no
    writes."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    @property
    def store(self) -> Store:
        # Nobody asks for the table itself.
        return Store(cast("DynamoDBClient", None), self, "planner")

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        if operation not in ("Query", "GetItem"):
            # New ids and the time are in it.
            self.requests.append("a write")
            raise RuntimeError("this is read only")
        key = f"{operation} {request!r}"
        self.requests.append(key)
        if key not in _ANSWERS:
            _ANSWERS[key] = json.dumps(_answer(operation, request)).encode()
        return _ANSWERS[key]


def _answer(operation: Operation, request: Mapping[str, Any]) -> Mapping[str, Any]:
    if operation == "Query":
        query = KeyQuery(
            request["KeyConditionExpression"],
            request["ExpressionAttributeValues"],
            filter=request.get("FilterExpression"),
            index=request.get("IndexName"),
        )
        return {"Items": found(query, _items())}
    key = request["Key"].items()
    item = next((item for item in _items() if item.items() >= key), None)
    return {"Item": item} if item else {}


def _items() -> list[Item]:
    return [item for items in TEAMS.values() for item in items]
