"""The audit of the whole session (tests/api/audit.py) is itself not blind."""

from typing import Any

import pytest

from tests.api.audit import Audit, faults
from tests.api_client import Api, Capture

GOOD: dict[str, Any] = {
    "TableName": "t",
    "KeyConditionExpression": "#pk = :pk AND begins_with(#sk, :sk)",
    "FilterExpression": "NOT attribute_type(#end, :s) OR #end BETWEEN :sk AND :s",
    "ProjectionExpression": "#pk, #sk",
    "ExpressionAttributeNames": {"#pk": "pk", "#sk": "sk", "#end": "end"},
    "ExpressionAttributeValues": {":pk": {"S": "TEAM#a"}, ":sk": {"S": "b"}, ":s": {"S": "S"}},
    "ConsistentRead": True,
}
KEY = {"pk": {"S": "TEAM#a"}, "sk": {"S": "META"}}


def test_a_query_in_the_teams_own_partition_with_placeholders_has_no_fault() -> None:
    assert faults("Query", GOOD, team="a") == []


def test_another_team_is_a_fault() -> None:
    assert "TEAM#a" in faults("Query", GOOD, team="b")[0]


ABOUT_THE_CALLER: list[tuple[str, dict[str, Any]]] = [
    ("GetItem", {"Key": {"pk": {"S": "TEAM#b"}, "sk": {"S": "META"}}}),
    (
        "Query",
        {
            "IndexName": "GSI1",
            "KeyConditionExpression": "#GSI1PK = :user AND begins_with(#GSI1SK, :teams)",
            "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK", "#GSI1SK": "GSI1SK"},
            "ExpressionAttributeValues": {":user": {"S": "USER#u"}, ":teams": {"S": "TEAM#"}},
        },
    ),
    (
        "Query",
        {
            "IndexName": "GSI1",
            "KeyConditionExpression": "#GSI1PK = :session AND #GSI1SK = :session",
            "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK", "#GSI1SK": "GSI1SK"},
            "ExpressionAttributeValues": {":session": {"S": "SESSION#s"}},
        },
    ),
    (
        "Query",
        {
            "IndexName": "GSI1",
            "KeyConditionExpression": "#GSI1PK = :feed AND #GSI1SK = :feed",
            "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK", "#GSI1SK": "GSI1SK"},
            "ExpressionAttributeValues": {":feed": {"S": f"FEED#{'0' * 64}"}},
        },
    ),
]
BARE: dict[str, Any] = {"TableName": "t", "ConsistentRead": True}


@pytest.mark.parametrize(("operation", "request_"), ABOUT_THE_CALLER)
def test_who_the_caller_is_and_what_their_teams_are_called_may_be_looked_up(
    operation: str, request_: dict[str, Any]
) -> None:
    assert faults(operation, BARE | request_, team="a") == []


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {"Key": {"pk": {"S": "TEAM#b"}, "sk": {"S": "RES#r"}}}),
        ("GetItem", {"Key": {"pk": {"S": "TEAM#b"}, "sk": {"S": "MEMBER#u"}}}),
        ("GetItem", {"Key": {"pk": {"S": "USER#b"}, "sk": {"S": "META"}}}),
        ("DeleteItem", {"Key": {"pk": {"S": "TEAM#b"}, "sk": {"S": "META"}}}),
        ("PutItem", {"Item": {"pk": {"S": "TEAM#b"}, "sk": {"S": "META"}}}),
        ("Query", ABOUT_THE_CALLER[1][1] | {"IndexName": "byId"}),
        (
            "Query",
            ABOUT_THE_CALLER[1][1]
            | {"ExpressionAttributeValues": {":user": {"S": "TEAM#b"}, ":teams": {"S": "TEAM#"}}},
        ),
        (
            "Query",
            ABOUT_THE_CALLER[1][1]
            | {"ExpressionAttributeValues": {":user": {"S": "USER#u"}, ":teams": {"S": ""}}},
        ),
        (
            "Query",
            ABOUT_THE_CALLER[2][1] | {"ExpressionAttributeValues": {":session": {"S": "USER#u"}}},
        ),
        (
            "Query",
            ABOUT_THE_CALLER[3][1]
            | {"ExpressionAttributeValues": {":feed": {"S": "FEED#the token itself"}}},
        ),
    ],
)
def test_and_nothing_else_out_of_the_teams_partition(
    operation: str, request_: dict[str, Any]
) -> None:
    assert faults(operation, BARE | request_, team="a")


@pytest.mark.parametrize(
    ("operation", "change"),
    [
        ("Scan", {}),
        ("BatchWriteItem", {}),
        ("BatchGetItem", {}),
        ("ExecuteStatement", {}),
        ("Query", {"ConsistentRead": False}),
        ("Query", {"FilterExpression": "name = :s"}),
        ("Query", {"FilterExpression": "#end = 5"}),
        ("Query", {"FilterExpression": "#nobody = :s"}),
        ("Query", {"FilterExpression": "#end.size = :s"}),
        ("Query", {"ProjectionExpression": "#pk, date"}),
        ("Query", {"KeyConditionExpression": "#sk = :sk"}),
        ("Query", {"IndexName": "GSI1"}),
        ("Query", {"QueryFilter": {}}),
        ("GetItem", {"Key": {"pk": {"S": "USER#a"}, "sk": {"S": "META"}}}),
        ("PutItem", {"Item": KEY, "ConditionExpression": "attribute_not_exists(sk)"}),
        ("UpdateItem", {"Key": KEY, "UpdateExpression": "SET name = :s"}),
        (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Put": {"TableName": "t", "Item": KEY}},
                    {"Put": GOOD | {"Item": {"pk": {"S": "TEAM#b"}}}},
                ]
            },
        ),
    ],
)
def test_what_breaks_a_rule_is_a_fault(operation: str, change: dict[str, Any]) -> None:
    assert faults(operation, GOOD | change, team="a")


async def test_the_audit_sees_the_requests_of_the_application(
    api: Api, audit: Audit, captured: Capture
) -> None:
    before = audit.operations["Query"]
    await api.data("{ team { name } }")
    assert captured.operations == ["Query"]
    assert audit.operations["Query"] == before + 1


async def test_the_audit_sees_another_teams_request_of_the_application(
    api: Api, audit: Audit
) -> None:
    honest = api.team
    seen = len(audit.faults)
    api.team = "somebody-else"  # The session is still that of the honest team.
    await api.data("{ team { name } }")
    assert honest in audit.faults[-1]
    del audit.faults[seen:]
