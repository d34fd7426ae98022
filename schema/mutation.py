"""What can be written: verb first, one input, one payload.

An expected refusal is in the payload's `errors`, and then nothing was written. Whatever else goes
wrong is a GraphQL error, and only that payload is null: the others of the document stay known.
"""

from typing import Annotated, cast

import strawberry

from data.assignments import MAX_PATCHES
from data.entities import EntityType
from data.errors import Refused
from resolvers import assignment_writes, feed_writes, owner_writes, reads
from resolvers.global_ids import to_global_id
from resolvers.viewer import feed_node
from schema import payloads
from schema.inputs import (
    CreateAssignmentInput,
    CreateCalendarFeedInput,
    CreateProjectInput,
    CreateResourceInput,
    DeleteInput,
    ShiftProjectInput,
    UpdateAssignmentInput,
    UpdateAssignmentsInput,
    UpdateProjectInput,
    UpdateResourceInput,
    links_of,
    patch_of,
)
from schema.query import Info
from schema.types import Assignment, Project
from schema.viewer import CalendarFeed
from schema.writing import answer, errors_of, ids_of

__all__ = ["Mutation"]

_INPUT = strawberry.argument(description="What to write.")


@strawberry.type(description="What can be written. If a payload has errors, nothing was written.")
class Mutation:
    @strawberry.mutation(description="Adds a resource.")
    async def create_resource(
        self, info: Info, input: Annotated[CreateResourceInput, _INPUT]
    ) -> payloads.CreateResourcePayload | None:
        return await answer(
            info,
            payloads.CreateResourcePayload,
            "resource",
            owner_writes.create_resource,
            id=input.id,
            name=input.name,
        )

    @strawberry.mutation(description="Changes a resource, field by field.")
    async def update_resource(
        self, info: Info, input: Annotated[UpdateResourceInput, _INPUT]
    ) -> payloads.UpdateResourcePayload | None:
        return await answer(
            info,
            payloads.UpdateResourcePayload,
            "resource",
            owner_writes.update_resource,
            id=input.id,
            name=input.name,
            expected_version=input.expected_version,
        )

    @strawberry.mutation(description="Deletes a resource and all its assignments.")
    async def delete_resource(
        self, info: Info, input: Annotated[DeleteInput, _INPUT]
    ) -> payloads.DeleteResourcePayload | None:
        try:
            deleted = await owner_writes.delete_resource(info.context, id=input.id)
        except Refused as refused:
            return payloads.DeleteResourcePayload(errors=errors_of(info, refused))
        return payloads.DeleteResourcePayload(
            deleted_resource_id=input.id, deleted_assignment_ids=ids_of(deleted)
        )

    @strawberry.mutation(description="Adds a project.")
    async def create_project(
        self, info: Info, input: Annotated[CreateProjectInput, _INPUT]
    ) -> payloads.CreateProjectPayload | None:
        return await answer(
            info,
            payloads.CreateProjectPayload,
            "project",
            owner_writes.create_project,
            id=input.id,
            name=input.name,
            color=input.color,
            description=input.description,
            tags=input.tags,
            links=links_of(input.links),
        )

    @strawberry.mutation(description="Changes a project, field by field.")
    async def update_project(
        self, info: Info, input: Annotated[UpdateProjectInput, _INPUT]
    ) -> payloads.UpdateProjectPayload | None:
        return await answer(
            info,
            payloads.UpdateProjectPayload,
            "project",
            owner_writes.update_project,
            id=input.id,
            name=input.name,
            color=input.color,
            description=input.description,
            tags=input.tags,
            links=strawberry.Some(links_of(input.links.value)) if input.links else None,
            expected_version=input.expected_version,
        )

    @strawberry.mutation(description="Deletes a project and all its assignments.")
    async def delete_project(
        self, info: Info, input: Annotated[DeleteInput, _INPUT]
    ) -> payloads.DeleteProjectPayload | None:
        try:
            deleted = await owner_writes.delete_project(info.context, id=input.id)
        except Refused as refused:
            return payloads.DeleteProjectPayload(errors=errors_of(info, refused))
        return payloads.DeleteProjectPayload(
            deleted_project_id=input.id, deleted_assignment_ids=ids_of(deleted)
        )

    @strawberry.mutation(description="Assigns a resource to a project for some days.")
    async def create_assignment(
        self, info: Info, input: Annotated[CreateAssignmentInput, _INPUT]
    ) -> payloads.CreateAssignmentPayload | None:
        return await answer(
            info,
            payloads.CreateAssignmentPayload,
            "assignment",
            assignment_writes.create_assignment,
            id=input.id,
            resource_id=input.resource_id,
            project_id=input.project_id,
            start_date=input.start_date,
            end_date=input.end_date,
            note=input.note,
        )

    @strawberry.mutation(description="Changes or moves an assignment, field by field.")
    async def update_assignment(
        self, info: Info, input: Annotated[UpdateAssignmentInput, _INPUT]
    ) -> payloads.UpdateAssignmentPayload | None:
        return await answer(
            info,
            payloads.UpdateAssignmentPayload,
            "assignment",
            assignment_writes.update_assignment,
            patch_of(input),
        )

    @strawberry.mutation(description="Changes or moves several assignments, all or none.")
    async def update_assignments(
        self, info: Info, input: Annotated[UpdateAssignmentsInput, _INPUT]
    ) -> payloads.UpdateAssignmentsPayload | None:
        slices = reads.foreseen(info._raw_info, "assignments")
        patches = [patch_of(patch) for patch in input.patches[: MAX_PATCHES + 1]]
        try:
            updated = await assignment_writes.update_assignments(info.context, patches)
        except Refused as refused:
            return payloads.UpdateAssignmentsPayload(errors=errors_of(info, refused))
        nodes = await reads.written(info.context, updated, slices)
        return payloads.UpdateAssignmentsPayload(assignments=cast("list[Assignment]", nodes))

    @strawberry.mutation(description="Shifts a project's assignments by a number of days.")
    async def shift_project(
        self, info: Info, input: Annotated[ShiftProjectInput, _INPUT]
    ) -> payloads.ShiftProjectPayload | None:
        slices = reads.foreseen(info._raw_info, "project")
        try:
            project, operation, shifted = await owner_writes.shift_project(
                info.context,
                id=input.id,
                days=input.days,
                first=input.from_,
                operation_id=input.operation_id,
            )
        except Refused as refused:
            return payloads.ShiftProjectPayload(errors=errors_of(info, refused))
        [node] = await reads.written(info.context, [project], slices)
        return payloads.ShiftProjectPayload(
            project=cast("Project", node),
            operation_id=strawberry.ID(operation),
            shifted_assignment_ids=[
                strawberry.ID(to_global_id(EntityType.ASSIGNMENT, id)) for id in shifted.ids
            ],
            shifted_count=len(shifted.ids),
            is_done=shifted.is_done,
        )

    @strawberry.mutation(description="Deletes an assignment. Deleting it again is no error.")
    async def delete_assignment(
        self, info: Info, input: Annotated[DeleteInput, _INPUT]
    ) -> payloads.DeleteAssignmentPayload | None:
        try:
            await assignment_writes.delete_assignment(info.context, id=input.id)
        except Refused as refused:
            return payloads.DeleteAssignmentPayload(errors=errors_of(info, refused))
        return payloads.DeleteAssignmentPayload(deleted_assignment_id=input.id)

    @strawberry.mutation(
        description="Makes an address at which calendar programs read the plan of one resource or "
        "project (iCalendar), without a session."
    )
    async def create_calendar_feed(
        self, info: Info, input: Annotated[CreateCalendarFeedInput, _INPUT]
    ) -> payloads.CreateCalendarFeedPayload | None:
        try:
            feed, path = await feed_writes.create_calendar_feed(
                info.context, subject_id=input.subject_id
            )
        except Refused as refused:
            return payloads.CreateCalendarFeedPayload(errors=errors_of(info, refused))
        return payloads.CreateCalendarFeedPayload(
            calendar_feed=cast("CalendarFeed", feed_node(feed)), path=path
        )

    @strawberry.mutation(
        description="Revokes a calendar feed: its address is answered no more. Only an admin may "
        "revoke those of others. Deleting it again is no error."
    )
    async def delete_calendar_feed(
        self, info: Info, input: Annotated[DeleteInput, _INPUT]
    ) -> payloads.DeleteCalendarFeedPayload | None:
        try:
            await feed_writes.delete_calendar_feed(info.context, id=input.id)
        except Refused as refused:
            return payloads.DeleteCalendarFeedPayload(errors=errors_of(info, refused))
        return payloads.DeleteCalendarFeedPayload(deleted_calendar_feed_id=input.id)
