"""Conditions and queries as values, with a placeholder for every attribute name and value.

Expressions are written with `#attribute` for a name and `:value` for a value. The names map is
derived from the text, so that an attribute whose name is reserved can't slip in bare (D-09).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypedDict

__all__ = ["AttributeValue", "Expression", "Item", "Key", "KeyQuery", "n", "names_of", "s"]


class AttributeValue(TypedDict, total=False):
    """DynamoDB's wire form of a value, as far as the planner uses it."""

    S: str
    N: str
    SS: list[str]
    NULL: bool
    L: "list[AttributeValue]"
    M: "dict[str, AttributeValue]"


Item = dict[str, AttributeValue]
Key = dict[str, AttributeValue]

_NAME = re.compile(r"#(\w+)")


def s(text: str) -> AttributeValue:
    return {"S": text}


def n(number: int) -> AttributeValue:
    return {"N": str(number)}


def names_of(*expressions: str | None) -> dict[str, str]:
    """`ExpressionAttributeNames` for the expressions: `{"#name": "name"}` for each used."""
    return dict(_names_in(" ".join(expression for expression in expressions if expression)))


@lru_cache(maxsize=256)
def _names_in(text: str) -> Mapping[str, str]:
    """There are few expressions, and each is sent again and again with other values."""
    return {f"#{name}": name for name in sorted(set(_NAME.findall(text)))}


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition or update expression and the values it uses."""

    text: str
    values: Mapping[str, AttributeValue] = field(default_factory=dict)

    def __and__(self, other: "Expression") -> "Expression":
        """Both. Raises ValueError where the two use one placeholder for different values."""
        if any(self.values.get(name, value) != value for name, value in other.values.items()):
            raise ValueError("one placeholder for two values")
        return Expression(f"({self.text}) AND ({other.text})", {**self.values, **other.values})


@dataclass(frozen=True, slots=True)
class KeyQuery:
    """One Query: on the table, or on `index`. `projection` names the attributes to read; what is
    `descending` comes in the opposite order of the sort key."""

    key_condition: str
    values: Mapping[str, AttributeValue]
    filter: str | None = None
    index: str | None = None
    projection: tuple[str, ...] = ()
    descending: bool = False

    def request(self) -> dict[str, Any]:
        """What a Query request says of it: all but which table, how consistent and how much."""
        projection = ", ".join(f"#{name}" for name in self.projection)
        request: dict[str, Any] = {
            "KeyConditionExpression": self.key_condition,
            "ExpressionAttributeValues": dict(self.values),
            "ExpressionAttributeNames": names_of(self.key_condition, self.filter, projection),
        }
        if self.filter:
            request["FilterExpression"] = self.filter
        if projection:
            request["ProjectionExpression"] = projection
        if self.index:
            request["IndexName"] = self.index
        if self.descending:
            request["ScanIndexForward"] = False
        return request

    @property
    def text(self) -> str:
        """All that makes this query, in a line: what it is known by."""
        return (
            f"{self.key_condition} {self.filter} {self.index} {self.projection} {self.values}"
            f" {self.descending}"
        )
