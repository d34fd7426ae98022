"""Items in files: JSON Lines of `{"Item": {…}}` in DynamoDB's JSON, lossless.

It is the form in which DynamoDB itself exports to S3 and imports from it (DYNAMODB_JSON), so a
line of either is a line of the other. Each file has the items of one `EntityType`.
"""

import json
from collections.abc import Iterator
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

FILES: Final = (*(f"{kind}.jsonl" for kind in EntityType), UNKNOWN)
"""All files that there can be; what others refer to comes first."""

_KINDS: Final = frozenset(EntityType)

_MAX_LINE: Final = 8 * 1024 * 1024
"""Bytes. An item has 400 KB, and in JSON at most six times that (escaped control characters)."""

_SCALARS: Final = {"S": str, "N": str, "B": str, "BOOL": bool, "NULL": bool}
_SETS: Final = frozenset({"SS", "NS", "BS"})


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
    except msgspec.DecodeError as error:
        try:
            head = msgspec.convert(json.loads(line), _Line).Item
        except ValueError:
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


def _is_value(value: object) -> bool:
    if not isinstance(value, dict) or len(value) != 1:
        return False
    [(kind, content)] = value.items()
    if kind in _SCALARS:
        return isinstance(content, _SCALARS[kind])
    if kind in _SETS:
        return isinstance(content, list) and all(isinstance(each, str) for each in content)
    if kind == "L":
        return isinstance(content, list) and all(map(_is_value, content))
    return kind == "M" and isinstance(content, dict) and all(map(_is_value, content.values()))
