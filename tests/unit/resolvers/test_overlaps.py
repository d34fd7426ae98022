"""The days on which one resource has two assignments or more."""

from dataclasses import dataclass
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.days import Window
from resolvers.overlaps import overlaps

FIRST = date(2024, 1, 1)
ALL = Window()


@dataclass(frozen=True)
class Span:
    name: str
    start_date: date
    end_date_exclusive: date

    def has(self, day: date) -> bool:
        return self.start_date <= day < self.end_date_exclusive


def day(number: int) -> date:
    return FIRST + timedelta(days=number - 1)


def spans(text: str) -> list[Span]:
    """`a 1-3, b 2-2`: names with first and last day of January, ordered as they are read."""
    found = []
    for each in text.split(", "):
        name, days = each.split()
        first, last = map(int, days.split("-"))
        found.append(Span(name, day(first), day(last + 1)))
    return sorted(found, key=lambda span: (span.start_date, span.name))


def shown(assignments: list[Span], window: Window = ALL) -> list[tuple[str, int, int]]:
    """Names, first and last day (inclusive) of each overlap."""
    return [
        (
            "".join(sorted(span.name for span in each.assignments)),
            (each.first - FIRST).days + 1,
            (each.end_exclusive - FIRST).days,
        )
        for each in overlaps(assignments, window)
    ]


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("a 1-3", []),
        ("a 1-3, b 4-6", []),
        ("a 1-3, b 3-6", [("ab", 3, 3)]),
        ("a 1-9, b 3-4", [("ab", 3, 4)]),
        ("a 1-9, b 1-9", [("ab", 1, 9)]),
        ("a 1-9, b 2-3, c 5-6", [("ab", 2, 3), ("ac", 5, 6)]),
        # Without a day between them that one assignment has alone, it is one overlap.
        ("a 1-9, b 2-3, c 4-6", [("abc", 2, 6)]),
        ("a 1-4, b 3-7, c 6-9", [("ab", 3, 4), ("bc", 6, 7)]),
        ("a 1-4, b 3-7, c 5-9", [("abc", 3, 7)]),
        # One pair is followed by another on the next day.
        ("a 1-4, b 1-4, c 5-9, d 5-8", [("abcd", 1, 8)]),
        ("a 1-4, b 1-4, c 5-9, d 6-8", [("ab", 1, 4), ("cd", 6, 8)]),
        ("a 1-9, b 1-2, c 1-3, d 20-21, e 21-22", [("abc", 1, 3), ("de", 21, 21)]),
    ],
)
def test_overlaps_are_the_longest_runs_of_days_with_two_assignments_or_more(
    plan: str, expected: list[tuple[str, int, int]]
) -> None:
    assert shown(spans(plan)) == expected


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (None, None, [("ab", 2, 3), ("ac", 8, 9)]),
        (3, None, [("ab", 3, 3), ("ac", 8, 9)]),
        (4, 7, []),
        (3, 8, [("ab", 3, 3), ("ac", 8, 8)]),
        (None, 2, [("ab", 2, 2)]),
    ],
)
def test_only_the_days_in_the_window_count(
    first: int | None, last: int | None, expected: list[tuple[str, int, int]]
) -> None:
    window = Window(day(first) if first else None, day(last) if last else None)
    plan = [
        each
        for each in spans("a 1-10, b 2-3, c 8-9")
        if window.has(each.start_date, each.end_date_exclusive)
    ]
    assert shown(plan, window) == expected


def test_a_window_may_end_on_the_last_of_all_days() -> None:
    last = date(9999, 12, 30)
    two = [Span(name, last, date.max) for name in "ab"]
    for window in (ALL, Window(None, date.max), Window(date.min, last), Window(last, last)):
        assert [each.end_exclusive for each in overlaps(two, window)] == [date.max]


@pytest.mark.deep
@given(
    st.lists(st.tuples(st.integers(1, 14), st.integers(1, 6)), max_size=9),
    st.none() | st.integers(1, 20),
    st.none() | st.integers(0, 12),
)
def test_overlaps_are_those_that_counting_each_day_finds(
    plan: list[tuple[int, int]], first: int | None, length: int | None
) -> None:
    window = Window(
        day(first) if first else None, None if length is None else day((first or 1) + length)
    )
    assignments = sorted(
        (Span(f"{n:02}", day(s), day(s + days)) for n, (s, days) in enumerate(plan)),
        key=lambda span: (span.start_date, span.name),
    )
    assignments = [
        each for each in assignments if window.has(each.start_date, each.end_date_exclusive)
    ]
    found = overlaps(assignments, window)
    expected: list[tuple[date, date, list[Span]]] = []
    for number in range(1, 40):
        each = day(number)
        if sum(span.has(each) for span in assignments) < 2 or not window.has(each, day(number + 1)):
            continue
        if expected and expected[-1][1] == each:
            expected[-1] = (expected[-1][0], day(number + 1), [])
        else:
            expected.append((each, day(number + 1), []))
    assert [(each.first, each.end_exclusive) for each in found] == [run[:2] for run in expected]
    for overlap in found:
        on_them = [
            span
            for span in assignments
            if span.start_date < overlap.end_exclusive and span.end_date_exclusive > overlap.first
        ]
        assert overlap.assignments == on_them
