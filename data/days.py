"""Calendar days and the windows made of them: the only place where a day is added or taken.

People say both days of a span ("the 10th to the 12th"); the table holds the half-open interval
`[startDate, endDateExclusive)`. See docs/adr/0001-half-open-days.md.
"""

from dataclasses import dataclass
from datetime import date, timedelta

__all__ = [
    "FIRST_DAY",
    "LAST_DAY",
    "LONG_DAYS",
    "Window",
    "end_exclusive",
    "in_calendar",
    "is_long",
    "last_day",
    "parse_day",
    "shifted_day",
]

FIRST_DAY = date(1900, 1, 1)
LAST_DAY = date(9999, 12, 30)
"""An assignment lies between these, so that the day after its last one still exists."""

LONG_DAYS = 62
"""An assignment longer than this many days is found through the sparse index `byLongEnd`; any
other one that runs into a window began at most this many days, less one, before it."""

_DAY = timedelta(days=1)
_REACH_BACK = timedelta(days=LONG_DAYS - 1)


def parse_day(text: str) -> date:
    """The day written exactly as `YYYY-MM-DD`. Raises ValueError for anything else."""
    # fromisoformat alone also takes "20240110" and "2024-W02-3".
    if len(text) != 10 or text[4] != "-" or text[7] != "-" or not text.isascii():
        raise ValueError("a day is written YYYY-MM-DD")
    return date.fromisoformat(text)


def end_exclusive(last: date) -> date:
    """The day after the last one: what a form holds -> what the table holds."""
    return last + _DAY


def last_day(end_exclusive: date) -> date:
    """The last day of a half-open interval: what the table holds -> what a form holds."""
    return end_exclusive - _DAY


def in_calendar(day: date) -> bool:
    """Whether an assignment may touch this day."""
    return FIRST_DAY <= day <= LAST_DAY


def shifted_day(day: date, days: int) -> date | None:
    """The day so many days later (earlier, if negative); None when it is off the calendar."""
    ordinal = day.toordinal() + days
    if not FIRST_DAY.toordinal() <= ordinal <= LAST_DAY.toordinal():
        return None
    return date.fromordinal(ordinal)


def is_long(start: date, end_exclusive: date) -> bool:
    """Whether `[start, end_exclusive)` has more than `LONG_DAYS` days."""
    return (end_exclusive - start).days > LONG_DAYS


@dataclass(frozen=True, slots=True)
class Window:
    """Calendar days from `first` to `last`, BOTH inclusive; a missing one leaves that side open."""

    first: date | None = None
    last: date | None = None

    def has(self, start: date, end_exclusive: date) -> bool:
        """Whether any day of `[start, end_exclusive)` is in the window."""
        return (self.last is None or start <= self.last) and (
            self.first is None or end_exclusive > self.first
        )

    def union(self, other: "Window") -> "Window":
        """The smallest window that covers both."""
        firsts = None if self.first is None or other.first is None else (self.first, other.first)
        lasts = None if self.last is None or other.last is None else (self.last, other.last)
        return Window(firsts and min(firsts), lasts and max(lasts))

    @property
    def reach_back(self) -> date | None:
        """The earliest day on which an assignment of at most `LONG_DAYS` days can have begun and
        still be in the window. None when there is no such bound."""
        if self.first is None or self.first - date.min < _REACH_BACK:
            return None
        return self.first - _REACH_BACK
