"""The four actions of a TransactWriteItems, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from data.expressions import AttributeValue, Expression, Item, Key, names_of

__all__ = ["MAX_ACTIONS", "Action", "Check", "Delete", "Put", "Update", "to_request"]

MAX_ACTIONS = 100
"""AWS limit: actions in one TransactWriteItems. Only assignments are written in numbers, and with
the limits of `data.rules` a hundred of the largest stay far below the other limit, 4 MB."""


@dataclass(frozen=True, slots=True)
class Check:
    """Nothing is written, but everything fails unless the condition holds."""

    key: Key
    condition: Expression


@dataclass(frozen=True, slots=True)
class Put:
    item: Item
    condition: Expression


@dataclass(frozen=True, slots=True)
class Update:
    """Sets and removes single attributes; the others stay as they are."""

    key: Key
    condition: Expression
    set: Mapping[str, AttributeValue]
    remove: tuple[str, ...] = field(default=())

    @property
    def expression(self) -> Expression:
        """The update expression, with the values that it sets."""
        assignments = ", ".join(f"#{name} = :set_{name}" for name in self.set)
        removals = ", ".join(f"#{name}" for name in self.remove)
        clauses = (("SET", assignments), ("REMOVE", removals))
        return Expression(
            " ".join(f"{word} {names}" for word, names in clauses if names),
            {f":set_{name}": value for name, value in self.set.items()},
        )


@dataclass(frozen=True, slots=True)
class Delete:
    key: Key
    condition: Expression


Action = Check | Put | Update | Delete


def to_request(action: Action, table: str) -> dict[str, dict[str, Any]]:
    """The entry of `TransactItems` for the action; a failed condition brings the item along."""
    body: dict[str, Any] = {
        "TableName": table,
        "ConditionExpression": action.condition.text,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    values = dict(action.condition.values)
    names = names_of(action.condition.text)
    match action:
        case Put():
            body["Item"] = action.item
        case Update():
            body["Key"] = action.key
            update = action.expression
            body["UpdateExpression"] = update.text
            names |= names_of(update.text)
            values |= update.values
        case Check() | Delete():
            body["Key"] = action.key
    if names:
        body["ExpressionAttributeNames"] = names
    if values:
        body["ExpressionAttributeValues"] = values
    return {_OPERATIONS[type(action)]: body}


_OPERATIONS: dict[type[Action], str] = {
    Check: "ConditionCheck",
    Put: "Put",
    Update: "Update",
    Delete: "Delete",
}
