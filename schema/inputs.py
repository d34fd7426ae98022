"""The input types. What a value must be stands in `data.rules`."""

from datetime import date

import strawberry

from data import rules
from data.assignments import MAX_PATCHES
from data.days import FIRST_DAY, LAST_DAY
from data.entities import Link
from resolvers.assignment_writes import AssignmentPatch

__all__ = [
    "CreateAssignmentInput",
    "CreateCalendarFeedInput",
    "CreateProjectInput",
    "CreateResourceInput",
    "DeleteInput",
    "LinkInput",
    "ShiftProjectInput",
    "UpdateAssignmentInput",
    "UpdateAssignmentsInput",
    "UpdateProjectInput",
    "UpdateResourceInput",
    "links_of",
    "patch_of",
]

_CLIENT_ID = (
    "A UUID of the client's own making, which makes a retry safe: the same input again returns "
    "the same object, and a different one under the same id is a CONFLICT."
)
_EXPECTED = "The version that the change is based on; if it is no longer that, CONFLICT."
_NAME = f"1 to {rules.MAX_NAME} characters, not blank; stored as it is sent."
_DAYS = f" From {FIRST_DAY} to {LAST_DAY}."
_COLOR = "`#RRGGBB`."
_DESCRIPTION = f"At most {rules.MAX_DESCRIPTION} characters."
_TAGS = f"At most {rules.MAX_TAGS} of {rules.MAX_TAG} characters each."
_LINKS = f"At most {rules.MAX_LINKS}."
_NOTE = f"At most {rules.MAX_NOTE} characters."
_LEAVES = " Left out, it stays."
_CLEARS = " Left out, it stays; null clears it."


@strawberry.input(description="A labelled address.")
class LinkInput:
    label: str = strawberry.field(description=f"1 to {rules.MAX_LABEL} characters, not blank.")
    url: str = strawberry.field(
        description=f"A complete http or https address of at most {rules.MAX_URL} characters."
    )


def links_of(links: list[LinkInput] | None) -> list[Link] | None:
    """The links as the data layer knows them."""
    return None if links is None else [Link(link.label, link.url) for link in links]


@strawberry.input(description="A new resource.")
class CreateResourceInput:
    name: str = strawberry.field(description=_NAME)
    id: strawberry.ID | None = strawberry.field(default=None, description=_CLIENT_ID)


@strawberry.input(description="A new project.")
class CreateProjectInput:
    name: str = strawberry.field(description=_NAME)
    color: str = strawberry.field(description=_COLOR)
    description: str | None = strawberry.field(default=None, description=_DESCRIPTION)
    tags: list[str] | None = strawberry.field(default=None, description=_TAGS)
    links: list[LinkInput] | None = strawberry.field(default=None, description=_LINKS)
    id: strawberry.ID | None = strawberry.field(default=None, description=_CLIENT_ID)


@strawberry.input(description="A new assignment. Both days are inclusive.")
class CreateAssignmentInput:
    resource_id: strawberry.ID = strawberry.field(description="The id of a resource.")
    project_id: strawberry.ID = strawberry.field(description="The id of a project.")
    start_date: date = strawberry.field(description="The first day." + _DAYS)
    end_date: date = strawberry.field(description="The last day, inclusive." + _DAYS)
    note: str | None = strawberry.field(default=None, description=_NOTE)
    id: strawberry.ID | None = strawberry.field(default=None, description=_CLIENT_ID)


@strawberry.input(description="A new calendar feed.")
class CreateCalendarFeedInput:
    subject_id: strawberry.ID = strawberry.field(
        description="The id of the resource or project whose calendar it is."
    )


@strawberry.input(description="A change of a resource.")
class UpdateResourceInput:
    id: strawberry.ID = strawberry.field(description="The id of the resource.")
    name: strawberry.Maybe[str | None] = strawberry.field(description=_NAME + _LEAVES)
    expected_version: int | None = strawberry.field(default=None, description=_EXPECTED)


@strawberry.input(description="A change of a project.")
class UpdateProjectInput:
    id: strawberry.ID = strawberry.field(description="The id of the project.")
    name: strawberry.Maybe[str | None] = strawberry.field(description=_NAME + _LEAVES)
    color: strawberry.Maybe[str | None] = strawberry.field(description=_COLOR + _LEAVES)
    description: strawberry.Maybe[str | None] = strawberry.field(description=_DESCRIPTION + _CLEARS)
    tags: strawberry.Maybe[list[str] | None] = strawberry.field(description=_TAGS + _CLEARS)
    links: strawberry.Maybe[list[LinkInput] | None] = strawberry.field(description=_LINKS + _CLEARS)
    expected_version: int | None = strawberry.field(default=None, description=_EXPECTED)


@strawberry.input(description="A change of an assignment. Both days are inclusive.")
class UpdateAssignmentInput:
    id: strawberry.ID = strawberry.field(description="The id of the assignment.")
    resource_id: strawberry.Maybe[strawberry.ID | None] = strawberry.field(
        description="Who is to do it." + _LEAVES
    )
    project_id: strawberry.Maybe[strawberry.ID | None] = strawberry.field(
        description="What is to be worked on." + _LEAVES
    )
    start_date: strawberry.Maybe[date | None] = strawberry.field(
        description="The first day." + _DAYS + _LEAVES
    )
    end_date: strawberry.Maybe[date | None] = strawberry.field(
        description="The last day, inclusive." + _DAYS + _LEAVES
    )
    note: strawberry.Maybe[str | None] = strawberry.field(description=_NOTE + _CLEARS)
    expected_version: int | None = strawberry.field(default=None, description=_EXPECTED)


@strawberry.input(description="Changes of several assignments, all or none.")
class UpdateAssignmentsInput:
    patches: list[UpdateAssignmentInput] = strawberry.field(
        description=f"At most {MAX_PATCHES}, each of another assignment."
    )


@strawberry.input(description="A shift of a project's assignments.")
class ShiftProjectInput:
    id: strawberry.ID = strawberry.field(description="The id of the project.")
    days: int = strawberry.field(description="By how many days; negative is earlier.")
    from_: date | None = strawberry.field(
        name="from",
        default=None,
        description="Only assignments that start on this day or later; all when left out.",
    )
    operation_id: strawberry.ID | None = strawberry.field(
        default=None,
        description="A UUID of the client's own making, which makes a retry safe: the same shift "
        "again does what is left of it, and shifts nothing twice.",
    )


@strawberry.input(name="DeleteInput", description="What to delete.")
class DeleteInput:
    id: strawberry.ID = strawberry.field(description="The id of what to delete.")


def patch_of(input: UpdateAssignmentInput) -> AssignmentPatch:
    """The patch as the resolvers know it."""
    return AssignmentPatch(
        id=input.id,
        resource_id=input.resource_id,
        project_id=input.project_id,
        start_date=input.start_date,
        end_date=input.end_date,
        note=input.note,
        expected_version=input.expected_version,
    )
