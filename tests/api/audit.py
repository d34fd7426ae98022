"""What holds for every request that the application sends to DynamoDB, whichever test sends it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from data.store import Store
from data.streams import Streams
from tests.api_client import asking
from tests.infra.iam import key_value, needs, permits
from tests.taps import listening, listening_to_stream

__all__ = ["Audit", "faults"]

# Six operations on items, three on the stream; with anything else the IAM policy and these rules
# would be void.
READS = {"Query", "GetItem"}
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}
CONTROL = {"DescribeTable"}
STREAM = {"DescribeStream", "GetRecords", "GetShardIterator"}

EXPRESSIONS = (
    "KeyConditionExpression",
    "FilterExpression",
    "ProjectionExpression",
    "ConditionExpression",
    "UpdateExpression",
)
LEGACY = ("AttributesToGet", "KeyConditions", "QueryFilter", "Expected", "AttributeUpdates")
KEYWORDS = {"AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"}
FUNCTIONS = {
    "attribute_exists",
    "attribute_not_exists",
    "attribute_type",
    "begins_with",
    "contains",
    "if_not_exists",
    "list_append",
    "size",
}
TOKEN = re.compile(r"[#:]?[\w.\-]+|[\"'\[\]`]")


class Audit:
    """Looks at every request of the stores it watches; keeps the faults and counts the rest."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.operations: Counter[str] = Counter()

    @contextmanager
    def watching(self, store: Store) -> Iterator[None]:
        with listening(store, self._note):
            yield

    @contextmanager
    def watching_stream(self, streams: Streams) -> Iterator[None]:
        with listening_to_stream(streams, self._note):
            yield

    def _note(self, operation: str, request: Mapping[str, Any]) -> None:
        self.operations[operation] += 1
        self.faults += faults(operation, request, team=asking.get())


def faults(operation: str, request: Mapping[str, Any], *, team: str | None) -> list[str]:
    """What is wrong with a request that is made for `team` (None: for a team that is not known)."""
    if operation not in READS | WRITES | CONTROL | STREAM:
        return [f"{operation} is none of the operations that the server may use"]
    found = [
        f"{need} is not allowed by ServerPolicy"
        for need in needs(operation, request)
        if not permits("ServerPolicy", need)
    ]
    if operation in CONTROL | STREAM:
        return found
    if operation in READS and "IndexName" not in request and not request.get("ConsistentRead"):
        found.append(f"{operation} without ConsistentRead")
    actions = request.get("TransactItems")
    bodies = [body for action in actions for body in action.values()] if actions else [request]
    for body in bodies:
        found += _unplaced(body)
        if _is_about_the_caller(operation, body):
            continue
        if body.get("IndexName") == "GSI1":
            found.append("GSI1 is for who is asking")
        pk = key_value(body, "pk") or ""
        if team is None and not pk.startswith("TEAM#"):
            found.append(f"not the partition of a team: {pk!r}")
        elif team is not None and pk not in {
            f"TEAM#{team}",
            f"TEAM#{team}#CLAIMS",
            f"TEAM#{team}#FEEDS",
        }:
            found.append(f"{pk!r} is not the partition of {team!r}")
    return [f"{operation}: {fault} in {request}" for fault in found]


def _is_about_the_caller(operation: str, body: Mapping[str, Any]) -> bool:
    """The only looks out of the team's partitions: who the caller is and where they belong
    (`GSI1`, a whole key or the user's teams), and what those teams are called (`META`). The token
    of a calendar's address is such a caller, known by its hash."""
    if operation == "GetItem":
        return bool(
            body["Key"]["sk"] == {"S": "META"} and body["Key"]["pk"]["S"].startswith("TEAM#")
        )
    if operation != "Query" or body.get("IndexName") != "GSI1":
        return False
    values = body["ExpressionAttributeValues"]
    match body["KeyConditionExpression"]:
        case "#GSI1PK = :session AND #GSI1SK = :session":
            return str(values[":session"]["S"]).startswith("SESSION#")
        case "#GSI1PK = :feed AND #GSI1SK = :feed":
            return bool(re.fullmatch("FEED#[0-9a-f]{64}", values[":feed"]["S"]))
        case "#GSI1PK = :user AND begins_with(#GSI1SK, :teams)":
            return (
                str(values[":user"]["S"]).startswith("USER#") and values[":teams"]["S"] == "TEAM#"
            )
    return False


def _unplaced(body: Mapping[str, Any]) -> Iterator[str]:
    """The names and values that stand in an expression without a placeholder (D-09)."""
    yield from (f"legacy parameter {name}" for name in LEGACY if name in body)
    known = {*body.get("ExpressionAttributeNames", ()), *body.get("ExpressionAttributeValues", ())}
    for kind in EXPRESSIONS:
        for token in TOKEN.findall(body.get(kind, "")):
            if token in KEYWORDS or token in FUNCTIONS or token in known:
                continue
            yield f"{token!r} in the {kind} is no placeholder that is declared"
