"""Attributes of a row as values: what is there, what may be missing, and what can't be read."""

from datetime import date
from functools import lru_cache
from typing import Final

from data.days import parse_day
from data.entities import Link
from data.keys import is_id
from data.rows import NO_LINKS, NO_NUMBER, NO_TEXT, NO_TEXTS, LinkMap, Links, Number, Text, Texts

__all__ = [
    "Malformed",
    "day_of",
    "is_owner_id",
    "links_of",
    "optional_text",
    "required_id",
    "required_text",
    "tags_of",
    "version_of",
]

# GraphQL's Int has 32 bits; a larger number would fail the whole list it stands in.
_MAX_VERSION: Final = 2**31 - 1


class Malformed(ValueError):
    """The message names an attribute, and has none of its value."""


def required_text(value: Text, name: str) -> str:
    if value.S is None:
        raise Malformed(f"'{name}' is missing")
    return value.S


def optional_text(value: Text, name: str) -> str | None:
    """An optional attribute; what other writers store as NULL is unset too."""
    if value is NO_TEXT or value.NULL is not None:
        return None
    return required_text(value, name)


def required_id(value: Text, name: str) -> str:
    id = required_text(value, name)
    if not is_id(id):
        raise Malformed(f"'{name}' is none")
    return id


# Days and owners are the same few thousand, again and again.
@lru_cache(maxsize=10_000)
def day_of(text: str) -> date:
    return parse_day(text)


@lru_cache(maxsize=10_000)
def is_owner_id(text: str) -> bool:
    return is_id(text)


def tags_of(value: Texts) -> tuple[str, ...]:
    if value is NO_TEXTS or value.NULL is not None:
        return ()
    if value.SS is not None:
        return tuple(value.SS)
    if value.L is None:
        raise Malformed("tags are none")
    return tuple(required_text(each, "a tag") for each in value.L)


def links_of(value: Links) -> tuple[Link, ...]:
    if value is NO_LINKS or value.NULL is not None:
        return ()
    if value.L is None:
        raise Malformed("links are none")
    return tuple(_link(each.M) for each in value.L)


def _link(value: LinkMap | None) -> Link:
    if value is None:
        raise Malformed("a link is none")
    return Link(required_text(value.label, "a label"), required_text(value.url, "a url"))


def version_of(value: Number) -> int:
    if value is NO_NUMBER or value.NULL is not None:
        return 0
    version = int(value.N or "")
    if not 0 <= version <= _MAX_VERSION:
        raise Malformed("version is none")
    return version
