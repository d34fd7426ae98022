"""Items in files: JSON Lines of `{"Item": {…}}` in DynamoDB's JSON, lossless.

It is the form in which DynamoDB itself exports to S3 and imports from it (DYNAMODB_JSON), so a
line of either is a line of the other. Each file has the items of one `EntityType`.
"""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, BinaryIO, Final, cast

import msgspec

from data.entities import EntityType
from data.expressions import Item
from data.rows import Text, json_of

__all__ = [
    "FILES",
    "UNKNOWN",
    "FileError",
    "Head",
    "file_of",
    "head_of",
    "item_of",
    "line_of",
    "lines",
]

UNKNOWN: Final = "Unknown.jsonl"
"""The file of items without an `EntityType`, or with one that the planner does not know."""

FILES: Final = (
    f"{EntityType.DELETION}.jsonl",
    *(f"{kind}.jsonl" for kind in EntityType if kind is not EntityType.DELETION),
    UNKNOWN,
)
"""All files that there can be; what others refer to comes first. Before all are deletions: what was
made anew under the same id is there in the end, also for those who are told of each write."""

_KINDS: Final = frozenset(EntityType)

_MAX_LINE: Final = 8 * 1024 * 1024
"""Bytes. An item has 400 KB, and in JSON at most six times that (escaped control characters)."""

_MAX_DEPTH: Final = 32
"""Levels of an attribute's value (AWS limit: "Nested attribute depth")."""


class FileError(Exception):
    """Something is wrong with a file. The message names it, and the line where there is one."""


class Head(msgspec.Struct):
    """What decides where an item belongs."""

    pk: Text
    sk: Text
    entity_type: Text | None = msgspec.field(name="EntityType", default=None)


class _Line(msgspec.Struct):
    Item: Head


_decode: Final = msgspec.json.Decoder(_Line).decode


def file_of(entity_type: str | None) -> str:
    """The name of the file for items of a type."""
    return f"{entity_type}.jsonl" if entity_type in _KINDS else UNKNOWN


def line_of(item: Item) -> bytes:
    """The line of an item."""
    try:
        return msgspec.json.encode({"Item": item}) + b"\n"
    except UnicodeEncodeError:
        # A lone surrogate, which some row elsewhere may have, is escaped.
        return json.dumps({"Item": item}).encode() + b"\n"


def lines(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, with their numbers from 1. Raises FileError for one that is
    longer than any item."""
    number = 0
    while line := file.readline(_MAX_LINE + 1):
        number += 1
        if len(line) > _MAX_LINE:
            raise FileError(f"{name}, line {number}: longer than any item")
        if not line.isspace():
            yield number, line


def head_of(line: bytes) -> Head:
    """The keys and the type of the item in a line. Raises ValueError for what is none."""
    try:
        head = _decode(line).Item
    except (msgspec.DecodeError, RecursionError) as error:
        try:
            head = msgspec.convert(json.loads(line), _Line).Item
        except (ValueError, RecursionError):
            raise ValueError(f"not an item in DynamoDB's JSON ({error})") from None
    if not head.pk.S or not head.sk.S:
        raise ValueError("the item has no keys")
    return head


def item_of(line: bytes) -> Item:
    """The item in a line. Raises ValueError for what is none."""
    head_of(line)
    item: dict[str, Any] = json_of(line)["Item"]
    wrong = [name for name, value in item.items() if not _is_value(value)]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no value of DynamoDB's JSON")
    return cast("Item", item)


def _is_value(value: object, depth: int = 0) -> bool:
    """Whether DynamoDB itself would take it, so that no import stops at it halfway."""
    if not isinstance(value, dict) or len(value) != 1 or depth > _MAX_DEPTH:
        return False
    [(kind, content)] = value.items()
    if kind == "L":
        return isinstance(content, list) and all(_is_value(each, depth + 1) for each in content)
    if kind == "M":
        return isinstance(content, dict) and all(
            _is_value(each, depth + 1) for each in content.values()
        )
    if kind in _SCALARS:
        return _SCALARS[kind](content)
    return (
        kind in _SETS
        and isinstance(content, list)
        and 0 < len(content) == len(set(map(str, content)))
        and all(map(_SETS[kind], content))
    )


def _is_text(content: object) -> bool:
    return isinstance(content, str)


def _is_number(content: object) -> bool:
    try:
        return isinstance(content, str) and Decimal(content).is_finite()
    except InvalidOperation:
        return False


def _is_binary(content: object) -> bool:
    try:
        return isinstance(content, str) and b64decode(content, validate=True) is not None
    except ValueError:
        return False


def _is_flag(content: object) -> bool:
    return isinstance(content, bool)


_Test = Callable[[object], bool]
_SCALARS: Final[dict[str, _Test]] = {
    "S": _is_text,
    "N": _is_number,
    "B": _is_binary,
    "BOOL": _is_flag,
    "NULL": lambda content: content is True,
}
_SETS: Final[dict[str, _Test]] = {"SS": _is_text, "NS": _is_number, "BS": _is_binary}
