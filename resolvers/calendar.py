"""The calendar behind a feed: the assignments of one resource or project, as events."""

from dataclasses import dataclass
from datetime import date
from typing import Final

from data.days import Window
from data.entities import Assignment, CalendarFeed, Project, Resource
from data.errors import LimitExceeded
from data.loader import PartitionLoader
from data.slices import AssignmentsSlice, ProjectsSlice, ResourcesSlice

__all__ = ["CALENDAR_PATH", "Calendar", "CalendarEvent", "load_calendar"]

CALENDAR_PATH: Final = "/calendar/{token}.ics"
"""Where a feed is read."""

_GONE: Final = "?"
"""The summary where a row written elsewhere names a resource or project that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvent:
    """Whole days, `[start, end_exclusive)`. `changed_at` is ISO 8601 UTC, of the latest change of
    anything that shows; None when no row says."""

    id: str
    start: date
    end_exclusive: date
    summary: str
    note: str | None
    tags: tuple[str, ...]
    version: int
    changed_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """The events by first day and then by id. `color` is the project's, `#RRGGBB`."""

    name: str
    color: str | None
    events: tuple[CalendarEvent, ...]


async def load_calendar(
    loader: PartitionLoader, feed: CalendarFeed, *, first: date, max_events: int
) -> Calendar | None:
    """The calendar of a feed from a day on, in one read as any timeline is; None when its resource
    or project is gone. Raises LimitExceeded rather than leave an event out."""
    window = AssignmentsSlice(Window(first, None))
    parts = await loader.load((window, ResourcesSlice(), ProjectsSlice()))
    resources = {each.id: each for each in parts[ResourcesSlice()].resources}
    projects = {each.id: each for each in parts[ProjectsSlice()].projects}
    subject: Resource | Project | None
    if feed.resource_id is not None:
        subject = resources.get(feed.resource_id)
    else:
        subject = projects.get(feed.project_id or "")
    if subject is None:
        return None
    own = [each for each in parts[window].assignments if _is_of(each, subject)]
    if len(own) > max_events:
        raise LimitExceeded(f"the calendar has more than the {max_events} events allowed")
    events = (
        _event(each, subject, resources.get(each.resource_id), projects.get(each.project_id))
        for each in own
    )
    color = subject.color if isinstance(subject, Project) else None
    return Calendar(name=subject.name, color=color, events=tuple(events))


def _is_of(assignment: Assignment, subject: Resource | Project) -> bool:
    if isinstance(subject, Resource):
        return assignment.resource_id == subject.id
    return assignment.project_id == subject.id


def _event(
    assignment: Assignment,
    subject: Resource | Project,
    resource: Resource | None,
    project: Project | None,
) -> CalendarEvent:
    """In a person's calendar an event is called by its project, in a project's by the person."""
    other = project if isinstance(subject, Resource) else resource
    writings = (each.updated_at for each in (assignment, resource, project) if each)
    return CalendarEvent(
        id=assignment.id,
        start=assignment.start_date,
        end_exclusive=assignment.end_date_exclusive,
        summary=other.name if other else _GONE,
        note=assignment.note,
        tags=project.tags if project else (),
        version=assignment.version,
        # Text of this form sorts as the moments do.
        changed_at=max((moment for moment in writings if moment), default=None),
    )
