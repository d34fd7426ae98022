"""What mutations answer: the object that was written, or why nothing was."""

import enum

import strawberry

from data.errors import Refused
from schema.types import Assignment, Project, Resource
from schema.viewer import CalendarFeed

__all__ = [
    "CreateAssignmentPayload",
    "CreateCalendarFeedPayload",
    "CreateProjectPayload",
    "CreateResourcePayload",
    "DeleteAssignmentPayload",
    "DeleteCalendarFeedPayload",
    "DeleteProjectPayload",
    "DeleteResourcePayload",
    "ShiftProjectPayload",
    "UpdateAssignmentPayload",
    "UpdateAssignmentsPayload",
    "UpdateProjectPayload",
    "UpdateResourcePayload",
    "UserError",
    "UserErrorCode",
    "user_errors",
]

_ERRORS = "Why nothing was written; empty when it was."
_RESOURCE = "The resource as it is now; null when there are errors."
_PROJECT = "The project as it is now; null when there are errors."
_ASSIGNMENT = "The assignment as it is now; null when there are errors."


@strawberry.enum(description="Why a write was refused.")
class UserErrorCode(enum.Enum):
    INVALID = strawberry.enum_value("INVALID", description="A value breaks a rule.")
    NOT_FOUND = strawberry.enum_value(
        "NOT_FOUND", description="The object, or one that it refers to, is not in this team."
    )
    CONFLICT = strawberry.enum_value(
        "CONFLICT", description="It exists already, or somebody else changed it first."
    )
    LIMIT_EXCEEDED = strawberry.enum_value(
        "LIMIT_EXCEEDED", description="There would be more of it than is allowed."
    )


@strawberry.type(description="One reason why a write was refused.")
class UserError:
    code: UserErrorCode = strawberry.field(description="For programs; stable.")
    message: str = strawberry.field(description="For people; may change.")
    field: list[str] | None = strawberry.field(
        description="The path into the input, outermost first; null when it is about the whole."
    )


def user_errors(refused: Refused) -> list[UserError]:
    """The problems of a refusal, as a payload holds them."""
    return [
        UserError(
            code=UserErrorCode[problem.code.name],
            message=problem.message,
            field=list(problem.field) or None,
        )
        for problem in refused.problems
    ]


@strawberry.type(description="The outcome of `createResource`.")
class CreateResourcePayload:
    resource: Resource | None = strawberry.field(default=None, description=_RESOURCE)
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `updateResource`.")
class UpdateResourcePayload:
    resource: Resource | None = strawberry.field(default=None, description=_RESOURCE)
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `createProject`.")
class CreateProjectPayload:
    project: Project | None = strawberry.field(default=None, description=_PROJECT)
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `updateProject`.")
class UpdateProjectPayload:
    project: Project | None = strawberry.field(default=None, description=_PROJECT)
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `createAssignment`.")
class CreateAssignmentPayload:
    assignment: Assignment | None = strawberry.field(default=None, description=_ASSIGNMENT)
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `updateAssignment`.")
class UpdateAssignmentPayload:
    assignment: Assignment | None = strawberry.field(default=None, description=_ASSIGNMENT)
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `updateAssignments`.")
class UpdateAssignmentsPayload:
    assignments: list[Assignment] = strawberry.field(
        default_factory=list,
        description="The assignments as they are now, in the order of the patches; none when "
        "there are errors.",
    )
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `shiftProject`.")
class ShiftProjectPayload:
    project: Project | None = strawberry.field(
        default=None,
        description="The project, as it was before: a shift changes only its assignments.",
    )
    shifted_assignment_ids: list[strawberry.ID] = strawberry.field(
        default_factory=list,
        description="The ids of the assignments that this call shifted; not of those whose "
        "resource is gone.",
    )
    shifted_count: int = strawberry.field(
        default=0, description="How many assignments this call shifted."
    )
    is_done: bool = strawberry.field(
        default=False,
        description="Whether none is left. If false, the same input with this `operationId` does "
        "the rest.",
    )
    operation_id: strawberry.ID | None = strawberry.field(
        default=None, description="The id of this shift: the input's, or a new one."
    )
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `deleteAssignment`.")
class DeleteAssignmentPayload:
    deleted_assignment_id: strawberry.ID | None = strawberry.field(
        default=None, description="The id that no longer exists, whether or not it did before."
    )
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `deleteResource`.")
class DeleteResourcePayload:
    deleted_resource_id: strawberry.ID | None = strawberry.field(
        default=None, description="The id of the resource that was deleted."
    )
    deleted_assignment_ids: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="The ids of its assignments, which went with it."
    )
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `deleteProject`.")
class DeleteProjectPayload:
    deleted_project_id: strawberry.ID | None = strawberry.field(
        default=None, description="The id of the project that was deleted."
    )
    deleted_assignment_ids: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="The ids of its assignments, which went with it."
    )
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `createCalendarFeed`.")
class CreateCalendarFeedPayload:
    calendar_feed: CalendarFeed | None = strawberry.field(
        default=None, description="The new feed; null when there are errors."
    )
    path: str | None = strawberry.field(
        default=None,
        description="Where the calendar is read, below the address of this server. Who knows it "
        "may read, so it is a secret; no other answer ever has it.",
    )
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)


@strawberry.type(description="The outcome of `deleteCalendarFeed`.")
class DeleteCalendarFeedPayload:
    deleted_calendar_feed_id: strawberry.ID | None = strawberry.field(
        default=None, description="The id that no longer exists, whether or not it did before."
    )
    errors: list[UserError] = strawberry.field(default_factory=list, description=_ERRORS)
