"""Where a plan asks for somebody twice: the days that assignments of one resource share.

A warning and never a block: half a day on each of two jobs is a plan too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Generic, Protocol, TypeVar

from data.days import Window, end_exclusive

__all__ = ["Overlap", "Span", "overlaps"]


class Span(Protocol):
    """The half-open interval `[start_date, end_date_exclusive)`."""

    @property
    def start_date(self) -> date: ...
    @property
    def end_date_exclusive(self) -> date: ...


T = TypeVar("T", bound=Span)


@dataclass(slots=True)
class Overlap(Generic[T]):
    """The days `[first, end_exclusive)`, each of which two assignments have or more, and the day
    before and the day after do not; and all assignments with any of these days."""

    first: date
    end_exclusive: date
    assignments: list[T]


def overlaps(assignments: Sequence[T], window: Window) -> list[Overlap[T]]:
    """The overlaps among assignments of one resource, by first day; what is looked at is their
    days in the window. The assignments come in order of their first day, as they are read, and
    each has a day in the window. One pass, since a resource may have thousands."""
    found: list[Overlap[T]] = []
    # `longest` has the last of the days so far: what does not overlap with it overlaps with none.
    longest: T | None = None
    longest_first = longest_end = date.min
    for each, first, end in _within(assignments, window):
        if longest is not None and first < longest_end:
            if not found or first > found[-1].end_exclusive:
                found.append(Overlap(first, first, [longest]))
            elif longest_first >= found[-1].end_exclusive:
                # It began on the day after those of the overlap, which goes on without a gap.
                found[-1].assignments.append(longest)
            overlap = found[-1]
            overlap.end_exclusive = max(overlap.end_exclusive, min(end, longest_end))
            overlap.assignments.append(each)
        if end > longest_end:
            longest, longest_first, longest_end = each, first, end
    return found


def _within(assignments: Sequence[T], window: Window) -> Iterator[tuple[T, date, date]]:
    """Each assignment with the half-open interval of its days in the window."""
    first, last = window.first or date.min, window.last or date.max
    for each in assignments:
        end = each.end_date_exclusive
        yield each, max(each.start_date, first), end if end <= last else end_exclusive(last)
