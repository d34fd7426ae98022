"""A calendar is the lines that RFC 5545 wants, and another library reads back what was meant."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
import vobject
from hypothesis import given, settings
from hypothesis import strategies as st

from resolvers.calendar import Calendar, CalendarEvent
from server.icalendar_feed import render


def event(**fields: Any) -> CalendarEvent:
    values: dict[str, Any] = {
        "id": "a1",
        "start": date(2026, 1, 30),
        "end_exclusive": date(2026, 2, 2),
        "summary": "Bridge",
        "note": None,
        "tags": (),
        "version": 3,
        "changed_at": "2026-01-31T09:30:00.999Z",
    }
    return CalendarEvent(**values | fields)


def calendar(*events: CalendarEvent, name: str = "Ada", color: str | None = None) -> Calendar:
    return Calendar(name=name, color=color, events=events)


def lines(*events: CalendarEvent, **fields: Any) -> list[str]:
    """The lines as they are, folded."""
    text = render(calendar(*events, **fields)).decode()
    assert text.endswith("\r\n")
    return text.removesuffix("\r\n").split("\r\n")


def read(*events: CalendarEvent, **fields: Any) -> Any:
    """The calendar as vobject reads it."""
    found = vobject.readOne(render(calendar(*events, **fields)).decode())
    if events:  # RFC 5545 §3.6 wants at least one; an empty plan has none.
        found.validate(raiseException=True)
    return found


def test_the_whole_of_a_small_calendar() -> None:
    booked = event(note="By train, first class; bring\nshoes", tags=("steel", "a,b"))
    assert lines(booked, name="Bridge", color="#336699") == [
        "BEGIN:VCALENDAR",
        "PRODID:-//resource-planner//calendar feed//EN",
        "VERSION:2.0",
        "NAME:Bridge",
        "X-WR-CALNAME:Bridge",
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
        "X-PUBLISHED-TTL:PT1H",
        "X-APPLE-CALENDAR-COLOR:#336699",
        "BEGIN:VEVENT",
        "UID:a1",
        "DTSTAMP:20260131T093000Z",
        "LAST-MODIFIED:20260131T093000Z",
        "SEQUENCE:3",
        "DTSTART;VALUE=DATE:20260130",
        "DTEND;VALUE=DATE:20260202",
        "SUMMARY:Bridge",
        "DESCRIPTION:By train\\, first class\\; bring\\nshoes",
        "CATEGORIES:steel,a\\,b",
        "TRANSP:TRANSPARENT",
        "END:VEVENT",
        "END:VCALENDAR",
    ]


def test_what_is_not_set_has_no_line() -> None:
    names = {line.partition(":")[0].partition(";")[0] for line in lines(event(changed_at=None))}
    absent = {"LAST-MODIFIED", "DESCRIPTION", "CATEGORIES", "X-APPLE-CALENDAR-COLOR"}
    assert not names & absent


def test_a_calendar_without_events_is_one() -> None:
    found = read(name="Ada")
    assert found.name == "VCALENDAR"
    assert found.contents["x-wr-calname"][0].value == "Ada"
    assert "vevent" not in found.contents


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (date(2026, 1, 30), date(2026, 1, 31)),
        (date(2024, 2, 29), date(2024, 3, 1)),
        (date(2026, 3, 28), date(2026, 3, 30)),
        (date(1900, 1, 1), date(9999, 12, 31)),
    ],
)
def test_days_are_dates_whose_end_is_the_day_after_the_last(start: date, end: date) -> None:
    """RFC 5545 §3.6.1: no time and no zone, so no calendar moves them."""
    found = read(event(start=start, end_exclusive=end)).vevent
    assert (found.dtstart.value, found.dtend.value) == (start, end)
    assert type(found.dtstart.value) is date


@pytest.mark.parametrize(
    ("stored", "moment"),
    [
        ("2026-01-31T09:30:00.000Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("2026-01-31T18:30:00+09:00", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("2026-01-31T09:30:00", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        (None, None),
        ("yesterday", None),
        ("0001-01-01T00:00:00+23:00", None),
    ],
)
def test_moments_are_those_that_are_stored(stored: str | None, moment: datetime | None) -> None:
    found = read(event(changed_at=stored)).vevent
    assert found.dtstamp.value == (moment or datetime(1970, 1, 1, tzinfo=UTC))
    assert [each.value for each in found.contents.get("last-modified", [])] == (
        [moment] if moment else []
    )


TEXTS = {
    "what has to be escaped": "a,b;c\\d:e\"f'g\\n,\\,",
    "several lines": "a\n\nb\n",
    "emoji and wide letters": "🏗️ 橋 e\u0301 👩‍👩‍👧" * 20,
    "right to left": "\u202eabc\u05d0",
    "a tab": "a\tb",
    "what looks like a property": "x\nEND:VEVENT\nBEGIN:VALARM",
    "a long word": "x" * 500,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_note_is_read_back_as_it_was_written(text: str) -> None:
    found = read(event(note=text, summary="S"), event(id="a2")).vevent_list
    assert len(found) == 2
    assert found[0].description.value == text


ENDS = ["\r", "\r\n", "\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("end", ENDS, ids=ascii)
def test_no_end_of_a_line_ends_a_property(end: str) -> None:
    forged = f"x{end}END:VEVENT{end}BEGIN:VALARM"
    booked = event(id=forged, summary=forged, note=forged, tags=(forged,))
    found = lines(booked, name=forged, color=forged)
    assert [line for line in found if line.startswith(("BEGIN", "END"))] == [
        "BEGIN:VCALENDAR",
        "BEGIN:VEVENT",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    back = read(booked).vevent
    assert back.summary.value == "x END:VEVENT BEGIN:VALARM"
    assert back.description.value == "x\nEND:VEVENT\nBEGIN:VALARM"


@pytest.mark.parametrize("control", [*range(0x09), *range(0x0E, 0x20), 0x7F])
def test_no_control_character_is_in_it(control: int) -> None:
    """RFC 5545 §3.1, CONTROL; a row written elsewhere may have any."""
    text = f"a{chr(control)}b"
    found = render(calendar(event(id=text, summary=text, note=text, tags=(text,)), name=text))
    assert not {each for each in found if each < 0x20 or each == 0x7F} - {0x0D, 0x0A}
    assert found.count(b"\n") == found.count(b"\r\n")


def test_a_lone_surrogate_fails_no_calendar() -> None:
    assert read(event(summary="a\ud800b", note="\udfff")).vevent.summary.value == "a?b"


@pytest.mark.deep
@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).filter(
        lambda text: text.strip() == text
    ),
    st.integers(0, 2**31 - 1),
)
def test_any_text_is_folded_at_75_octets_and_read_back(text: str, version: int) -> None:
    body = render(calendar(event(summary=text, note=text, version=version), name=text))
    for line in body.split(b"\r\n"):
        assert len(line) <= 75
        line.decode()  # No character is cut in two.
    found = vobject.readOne(body.decode())
    assert found.vevent.summary.value == text
    assert found.vevent.description.value == text
    assert found.contents["x-wr-calname"][0].value == text
    assert found.vevent.sequence.value == str(version)


def test_the_same_calendar_is_the_same_bytes_in_its_own_order() -> None:
    events = [event(id=id) for id in ("b", "a", "c")]
    first = render(calendar(*events))
    assert first == render(calendar(*events))
    assert [each.uid.value for each in vobject.readOne(first.decode()).vevent_list] == [
        "b",
        "a",
        "c",
    ]
