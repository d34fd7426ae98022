"""Reading items: a dispatch on the attribute `EntityType`, never on the key.

A registry maps the type to its decoder, and the sort key only verifies the outcome. See
docs/adr/0002-entity-type.md.
"""

import enum
from typing import TypeVar

from data.attributes import Malformed
from data.decoders import DECODERS
from data.entities import Assignment, Entity, Project, Resource
from data.expressions import Item
from data.rows import NO_TEXT, Row, row_of

__all__ = ["Skip", "SkipCode", "decode", "decode_as"]

Kind = TypeVar("Kind", Resource, Project, Assignment)


class SkipCode(enum.StrEnum):
    """Why an item was left out of an answer; `extensions.warnings` names these."""

    MISSING_ENTITY_TYPE = "MISSING_ENTITY_TYPE"
    UNKNOWN_ENTITY_TYPE = "UNKNOWN_ENTITY_TYPE"
    MALFORMED_ITEM = "MALFORMED_ITEM"


class Skip(Exception):
    """This item can't be read. The message names attributes, never their values."""

    def __init__(self, code: SkipCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def decode(row: Row) -> Entity:
    """The entity of an item. Raises Skip when the type is missing or unknown, or the item is not
    what its type says."""
    if row.entity_type is NO_TEXT:
        raise Skip(SkipCode.MISSING_ENTITY_TYPE, "EntityType is missing")
    decoder = DECODERS.get(row.entity_type.S or "")
    if decoder is None:
        raise Skip(SkipCode.UNKNOWN_ENTITY_TYPE, "EntityType is none that is known")
    try:
        entity, sk = decoder(row)
    except ValueError as error:
        raise Skip(SkipCode.MALFORMED_ITEM, f"malformed: {_reason(error)}") from error
    if sk != row.sk.S:
        raise Skip(SkipCode.MALFORMED_ITEM, "malformed: sk does not fit the attributes")
    return entity


def decode_as(item: Item | None, kind: type[Kind]) -> Kind | None:
    """The entity of an item if it is of this kind; None for every other item, and for none."""
    try:
        entity = decode(row_of(item)) if item else None
    except Skip:
        return None
    return entity if isinstance(entity, kind) else None


def _reason(error: Exception) -> str:
    # Other messages may hold values.
    return str(error) if isinstance(error, Malformed) else type(error).__name__
