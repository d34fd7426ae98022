"""DynamoDB's condition language, as much of it as the planner speaks, evaluated on an item."""

import re
from collections.abc import Mapping
from typing import Final

from data.expressions import AttributeValue, Item

__all__ = ["holds"]

_TOKEN: Final = re.compile(r"\s*([(),]|<=|>=|<>|[=<>]|[#:]?\w+)")

Operand = AttributeValue | None


def holds(text: str, values: Mapping[str, AttributeValue], item: Item) -> bool:
    """Whether the expression holds for the item; an empty item is one that does not exist. Bare
    names, unknown functions and undefined values are errors, as they are to DynamoDB."""
    return _Reader(text, values, item).read()


class _Reader:
    """A recursive descent: OR, AND, NOT, then parentheses, functions and comparisons."""

    def __init__(self, text: str, values: Mapping[str, AttributeValue], item: Item) -> None:
        self._tokens = _TOKEN.findall(text)
        assert "".join(self._tokens) == re.sub(r"\s", "", text), f"not understood: {text}"
        self._values = values
        self._item = item

    def read(self) -> bool:
        result = self._or()
        assert not self._tokens, f"left over: {self._tokens}"
        return result

    def _or(self) -> bool:
        result = self._and()
        while self._took("OR"):
            right = self._and()
            result = result or right
        return result

    def _and(self) -> bool:
        result = self._not()
        while self._took("AND"):
            right = self._not()
            result = result and right
        return result

    def _not(self) -> bool:
        return not self._not() if self._took("NOT") else self._primary()

    def _primary(self) -> bool:
        if self._took("("):
            result = self._or()
            self._expect(")")
            return result
        if self._tokens[0][0] not in "#:":
            return self._function(self._tokens.pop(0))
        left = self._operand()
        if self._took("BETWEEN"):
            low = self._operand()
            self._expect("AND")
            high = self._operand()
            return _compare(">=", left, low) and _compare("<=", left, high)
        return _compare(self._tokens.pop(0), left, self._operand())

    def _function(self, name: str) -> bool:
        self._expect("(")
        arguments = [self._operand()]
        while self._took(","):
            arguments.append(self._operand())
        self._expect(")")
        match name, arguments:
            case "attribute_exists", [attribute]:
                return attribute is not None
            case "attribute_not_exists", [attribute]:
                return attribute is None
            case "attribute_type", [attribute, {"S": type}]:
                return attribute is not None and type in attribute
            case "begins_with", [attribute, {"S": prefix}]:
                return attribute is not None and attribute["S"].startswith(str(prefix))
        raise AssertionError(f"no such function: {name} of {len(arguments)}")

    def _operand(self) -> Operand:
        token = self._tokens.pop(0)
        assert token[0] in "#:", f"an operand without a placeholder: {token}"
        return self._item.get(token[1:]) if token[0] == "#" else self._values[token]

    def _took(self, token: str) -> bool:
        if self._tokens[:1] == [token]:
            self._tokens.pop(0)
            return True
        return False

    def _expect(self, token: str) -> None:
        assert self._took(token), f"{token} expected at {self._tokens}"


def _compare(operator: str, left: Operand, right: Operand) -> bool:
    if left is None or right is None or set(left) != set(right):
        return operator == "<>"
    if "S" in left:
        # Strings stand in the order of their UTF-8 bytes.
        order = _sign(left["S"].encode(), right["S"].encode())
    else:
        order = _sign(int(left["N"]), int(right["N"]))
    outcomes = {
        "=": order == 0,
        "<>": order != 0,
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
    }
    return outcomes[operator]


def _sign(left: bytes | int, right: bytes | int) -> int:
    return (left > right) - (left < right)  # type: ignore[operator]
