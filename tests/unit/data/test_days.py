"""Days and windows, against sets of days."""

import inspect
import re
from datetime import date, timedelta
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import data.clock
import data.days
import data.decoding
import data.items
import data.slices
import schema.scalars
from data.days import LAST_DAY, LONG_DAYS, Window, end_exclusive, is_long, last_day, parse_day

DAY = timedelta(1)
FIRST = date(2024, 1, 1)
CALENDAR = [FIRST + timedelta(n) for n in range(-40, 120)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-01-10", date(2024, 1, 10)),
        ("2024-02-29", date(2024, 2, 29)),
        ("0001-01-01", date.min),
        ("1899-12-31", date(1899, 12, 31)),
        ("9999-12-31", date.max),
    ],
)
def test_a_real_day_is_read_as_it_is_written(text: str, day: date) -> None:
    assert parse_day(text) == day
    assert day.isoformat() == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "20240110",
        "2024-W02-3",
        "2024W023",
        "2024-W2-03",
        "2024-010",
        "2024-2-3",
        "2024-02-3",
        " 2024-01-10",
        "2024-01-10 ",
        "2024-01-10\n",
        "2024-01- 1",
        "2024-01-+1",
        "2024-1_-10",
        "2024-01-1e",
        "2024-01-10T00:00:00",
        "2024-01-10Z",
        "2024/01/10",
        "2024\u201001\u201010",
        "\uff12\uff10\uff12\uff14-\uff10\uff11-\uff11\uff10",
        "2024-01-\uff11\uff10",
        "\u0662\u0660\u0662\u0664-\u0660\u0661-\u0661\u0660",
        "2024-01-\ud8001",
        "2024-01-1\0",
        "-024-01-10",
        "+024-01-10",
        "10000-01-1",
        "0000-01-01",
        "2024-00-10",
        "2024-13-10",
        "2024-01-00",
        "2024-01-32",
        "2024-04-31",
        "2023-02-29",
        "1900-02-29",
        "10-01-2024",
        "today",
    ],
)
def test_anything_else_is_no_day(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_day(text)


@pytest.mark.deep
@settings(deadline=None)
@given(st.text("0123456789-W :T+", min_size=8, max_size=12) | st.text(max_size=12))
def test_only_ten_characters_of_digits_and_hyphens_are_read(text: str) -> None:
    try:
        day = parse_day(text)
    except ValueError:
        return
    assert re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)
    assert day.isoformat() == text


@pytest.mark.deep
@settings(deadline=None)
@given(st.dates(max_value=date.max - DAY))
def test_last_day_undoes_end_exclusive(day: date) -> None:
    assert last_day(end_exclusive(day)) == day
    assert end_exclusive(day) - day == DAY
    assert parse_day(end_exclusive(day).isoformat()) > day


def test_the_day_after_the_last_allowed_one_exists() -> None:
    assert end_exclusive(LAST_DAY) == date.max


@pytest.mark.parametrize(
    ("days", "long"), [(1, False), (61, False), (62, False), (63, True), (64, True), (400, True)]
)
def test_an_assignment_is_long_from_63_days_on(days: int, long: bool) -> None:
    assert LONG_DAYS == 62
    assert is_long(FIRST, FIRST + timedelta(days)) is long


offsets = st.integers(0, 60)
bounds = st.none() | offsets.map(lambda n: FIRST + timedelta(n))
windows = st.builds(Window, bounds, bounds).filter(
    lambda window: window.first is None or window.last is None or window.first <= window.last
)


def days_of(window: Window) -> set[date]:
    """The days of the calendar that are in the window."""
    return {
        day
        for day in CALENDAR
        if (window.first is None or window.first <= day)
        and (window.last is None or day <= window.last)
    }


@pytest.mark.deep
@settings(deadline=None)
@given(windows, st.integers(-20, 80), st.integers(1, 30))
def test_an_assignment_is_in_a_window_iff_they_share_a_day(
    window: Window, offset: int, length: int
) -> None:
    start = FIRST + timedelta(offset)
    days = {start + timedelta(n) for n in range(length)}
    assert window.has(start, start + timedelta(length)) is bool(days & days_of(window))


@pytest.mark.parametrize(
    ("start", "last", "inside"),
    [
        ("2024-01-01", "2024-01-09", False),
        ("2024-01-01", "2024-01-10", True),
        ("2024-01-12", "2024-01-12", True),
        ("2024-01-20", "2024-01-31", True),
        ("2024-01-21", "2024-01-31", False),
        ("2023-01-01", "2025-01-01", True),
    ],
)
def test_both_days_of_a_window_are_in_it(start: str, last: str, inside: bool) -> None:
    window = Window(date(2024, 1, 10), date(2024, 1, 20))
    assert window.has(parse_day(start), end_exclusive(parse_day(last))) is inside


@pytest.mark.deep
@settings(deadline=None)
@given(windows, windows)
def test_a_union_is_the_smallest_window_that_covers_both(one: Window, other: Window) -> None:
    covered = days_of(one) | days_of(other)
    union = one.union(other)
    assert days_of(union) == {day for day in CALENDAR if min(covered) <= day <= max(covered)}
    assert (union.first is None) is (one.first is None or other.first is None)
    assert (union.last is None) is (one.last is None or other.last is None)
    assert other.union(one) == union


@pytest.mark.deep
@settings(deadline=None)
@given(st.dates(min_value=date.min + timedelta(200), max_value=date.max - timedelta(200)))
def test_reach_back_is_the_earliest_start_of_a_short_assignment_in_the_window(first: date) -> None:
    window = Window(first)
    starts = [first - timedelta(n) for n in range(130)]
    in_window = [day for day in starts if window.has(day, day + timedelta(LONG_DAYS))]
    assert window.reach_back == min(in_window) == first - timedelta(61)


@pytest.mark.parametrize(
    ("first", "reach_back"),
    [
        (None, None),
        (date.min, None),
        (date.min + timedelta(60), None),
        (date.min + timedelta(61), date.min),
        (date.min + timedelta(62), date.min + DAY),
        (date.max, date.max - timedelta(61)),
    ],
)
def test_reach_back_stops_where_the_calendar_begins(
    first: date | None, reach_back: date | None
) -> None:
    assert Window(first, date.max).reach_back == reach_back


CLOCK = re.compile(r"\b(now|utcnow|today|timestamp|fromtimestamp|time)\(|import (time|zoneinfo)\b")


@pytest.mark.parametrize(
    "module", [data.days, data.decoding, data.items, data.slices, schema.scalars]
)
def test_no_clock_and_so_no_time_zone_is_in_the_path_of_a_day(module: ModuleType) -> None:
    assert not CLOCK.search(inspect.getsource(module))


def test_a_clock_would_be_seen() -> None:
    assert CLOCK.search(inspect.getsource(data.clock))
