"""What a request to DynamoDB needs to be allowed, and whether a policy of `infra/` allows it.

Only what these policies use is understood: Allow, whole names of actions and resources, and
patterns of leading keys. Anything else is an error here, lest it count as allowed.
See "Using IAM with DynamoDB transactions" in the Developer Guide for what a transaction needs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from data.table import INDEXES
from tests.infra.templates import resources, table_arn

__all__ = ["TRANSACTION", "Need", "Statement", "key_value", "needs", "permits", "statements"]

TRANSACTION: Final = {
    "ConditionCheck": "ConditionCheckItem",
    "Delete": "DeleteItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
}
"""Entry of a TransactWriteItems -> the action that must be allowed for it."""

_STREAM: Final = "/stream/*"
_EQUALS = re.compile(r"(#\w+)\s*=\s*(:\w+)")


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that must be allowed. `leading_key` is the value of the partition key of the
    table or index that is asked; None where the request is about no item."""

    action: str
    resource: str
    leading_key: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    actions: tuple[str, ...]
    resource: str
    leading_keys: tuple[str, ...] | None

    def allows(self, need: Need) -> bool:
        if need.action not in self.actions or need.resource != self.resource:
            return False
        # ForAllValues holds where there is no value, too.
        return (
            self.leading_keys is None
            or need.leading_key is None
            or any(fnmatchcase(need.leading_key, pattern) for pattern in self.leading_keys)
        )


def statements(policy: str, table: str) -> tuple[Statement, ...]:
    """The statements of a policy of `infra/policies.yaml` for a table of that name."""
    document = resources("policies", table)[policy]["Properties"]["PolicyDocument"]
    return tuple(_statement(each) for each in document["Statement"])


def _statement(each: Mapping[str, Any]) -> Statement:
    assert each.keys() <= {"Sid", "Effect", "Action", "Resource", "Condition"}
    assert each["Effect"] == "Allow"
    actions = each["Action"] if isinstance(each["Action"], list) else [each["Action"]]
    # Of a stream's name no policy knows the end.
    assert not [name for name in (*actions, each["Resource"].removesuffix(_STREAM)) if "*" in name]
    match each.get("Condition"):
        case None:
            leading_keys = None
        case {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": patterns, **others}}:
            assert not others
            leading_keys = (patterns,) if isinstance(patterns, str) else tuple(patterns)
        case unknown:
            raise AssertionError(f"a condition that is not understood: {unknown}")
    return Statement(tuple(actions), each["Resource"], leading_keys)


def permits(policy: str, need: Need) -> bool:
    """Whether the policy, deployed for the table that is asked, allows what is needed."""
    table = need.resource.split("/")[1]
    return any(statement.allows(need) for statement in statements(policy, table))


def needs(operation: str, request: Mapping[str, Any]) -> Iterator[Need]:
    """What a request needs to be allowed."""
    if operation == "TransactWriteItems":
        for action in request["TransactItems"]:
            for kind, body in action.items():
                yield from needs(TRANSACTION[kind], body)
        return
    if stream := request.get("StreamArn") or request.get("ShardIterator"):
        table = re.findall(":table/([^/]+)/stream/", stream)[0]
        yield Need(f"dynamodb:{operation}", table_arn(table) + _STREAM)
        return
    resource = table_arn(request["TableName"])
    partition_key = "pk"
    if index := request.get("IndexName"):
        resource += f"/index/{index}"
        partition_key = INDEXES[index][0]
    yield Need(f"dynamodb:{operation}", resource, key_value(request, partition_key))


def key_value(body: Mapping[str, Any], name: str) -> str | None:
    """The value that a request gives to a key attribute; None when it gives none."""
    key = body.get("Key") or body.get("Item")
    if key is not None:
        return str(key[name]["S"])
    names, values = body.get("ExpressionAttributeNames", {}), body.get("ExpressionAttributeValues")
    for placeholder, value in _EQUALS.findall(body.get("KeyConditionExpression", "")):
        if values and names[placeholder] == name:
            return str(values[value]["S"])
    return None
