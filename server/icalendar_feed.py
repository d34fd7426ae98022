"""A calendar as an iCalendar object (RFC 5545, RFC 7986): the same bytes for the same calendar.

All of it comes from what is stored, the clock is not asked: so bytes can be compared by an ETag.
COLOR is left out of events, since RFC 7986 wants the name of a CSS colour there.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from icalendar import Calendar as ICalendar
from icalendar import Event, vDuration, vText

from resolvers.calendar import Calendar, CalendarEvent

__all__ = ["render"]

_REFRESH: Final = timedelta(hours=1)
"""How often a client should ask again. Some ask once a day, whatever is said."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Where no row says when it was written: DTSTAMP must be there (RFC 5545 §3.6.1)."""

_LINE_ENDS: Final = {ord(each): "\n" for each in "\v\f\x1c\x1d\x1e\x85\u2028\u2029"}
_CONTROLS: Final = {each: " " for each in (*range(0x20), 0x7F) if chr(each) not in "\t\n"}


def render(calendar: Calendar) -> bytes:
    """The lines of a calendar, folded at 75 octets and ended by CR LF."""
    out = ICalendar()
    out.add("prodid", "-//resource-planner//calendar feed//EN")
    out.add("version", "2.0")
    name = vText(_line(calendar.name))
    out.add("name", name, encode=False)
    out.add("x-wr-calname", name, encode=False)
    out.add("refresh-interval", vDuration(_REFRESH), parameters={"VALUE": "DURATION"})
    out.add("x-published-ttl", vDuration(_REFRESH), encode=False)
    if calendar.color:
        out.add("x-apple-calendar-color", vText(_line(calendar.color)), encode=False)
    for event in calendar.events:
        out.add_component(_event(event))
    lines: bytes = out.to_ical(sorted=False)
    return lines


def _event(event: CalendarEvent) -> Event:
    moment = _moment(event.changed_at)
    out = Event()
    out.add("uid", _line(event.id))
    out.add("dtstamp", moment or _EPOCH)
    if moment:
        out.add("last-modified", moment)
    out.add("sequence", event.version)
    out.add("dtstart", event.start)
    # RFC 5545 §3.6.1: the day after the last one, as it is stored.
    out.add("dtend", event.end_exclusive)
    out.add("summary", _line(event.summary))
    if event.note:
        out.add("description", _text(event.note))
    if event.tags:
        out.add("categories", [_line(tag) for tag in event.tags])
    # A plan for weeks must not make every hour of them busy.
    out.add("transp", "TRANSPARENT")
    return out


def _moment(text: str | None) -> datetime | None:
    """A stored moment, to the second; None for none, or what can't be read as one."""
    try:
        moment = datetime.fromisoformat(text or "")
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).replace(microsecond=0)
    except (ValueError, OverflowError):
        return None


def _text(text: str) -> str:
    """Text of any lines. Of control characters RFC 5545 §3.1 allows a tab; a lone surrogate, which
    a row written elsewhere may have, is no UTF-8."""
    broken = text.replace("\r\n", "\n").replace("\r", "\n").translate(_LINE_ENDS)
    return broken.translate(_CONTROLS).encode("utf-8", "replace").decode("utf-8")


def _line(text: str) -> str:
    """The same on one line."""
    return _text(text).replace("\n", " ")
