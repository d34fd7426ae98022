"""New ids and the time of a write."""

from datetime import UTC, datetime, timedelta

import uuid_utils

__all__ = ["LATEST", "age_seconds", "ago", "epoch_of", "epoch_seconds", "new_id", "now"]

LATEST = 253_402_300_799
"""Epoch seconds at the end of the year 9999. More is a mistake, such as milliseconds or 1e20, and
would not fit what computes with it."""


def new_id() -> str:
    """A UUIDv7 (RFC 9562): ids sort in the order of creation, and so do lists."""
    return str(uuid_utils.uuid7())


def now() -> str:
    """The present moment as ISO 8601 in UTC with milliseconds: `2026-01-31T09:30:00.000Z`."""
    return _text(datetime.now(UTC))


def ago(seconds: float) -> str:
    """The moment so many seconds before the present one, written as `now` writes it."""
    return _text(datetime.now(UTC) - timedelta(seconds=seconds))


def epoch_seconds() -> int:
    """The present moment in seconds since 1970, as TTL attributes hold it."""
    return int(datetime.now(UTC).timestamp())


def epoch_of(moment: str) -> float:
    """A moment that `now` wrote, in seconds since 1970. Raises ValueError for what is none."""
    return datetime.fromisoformat(moment).timestamp()


def age_seconds(moment: str) -> float:
    """Seconds since a moment that `now` wrote. A moment that can't be read is infinitely old."""
    try:
        then = datetime.fromisoformat(moment)
        return (datetime.now(UTC) - then).total_seconds()
    except (ValueError, TypeError):
        return float("inf")


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
