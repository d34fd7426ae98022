"""What can be written: verb first, one input, one payload.

An expected refusal is in the payload's `errors`, and then nothing was written. Whatever else goes
wrong is a GraphQL error.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import strawberry

from data.entities import Assignment, Project, Resource
from data.errors import Refused
from resolvers import reads, writes
from schema import payloads
from schema.inputs import (
    CreateAssignmentInput,
    CreateProjectInput,
    CreateResourceInput,
    DeleteInput,
    UpdateAssignmentInput,
    UpdateProjectInput,
    UpdateResourceInput,
    links_of,
)
from schema.payloads import user_errors
from schema.query import Info

__all__ = ["Mutation"]

_INPUT = strawberry.argument(description="What to write.")

Payload = TypeVar("Payload")


async def _answer(
    info: Info,
    payload: Callable[..., Payload],
    field: str,
    write: Awaitable[Resource | Project | Assignment],
) -> Payload:
    """The payload with what was written as its `field`, or with the reasons of a refusal."""
    try:
        entity = await write
    except Refused as refused:
        return payload(errors=user_errors(refused))
    return payload(**{field: await reads.written(info.context, info._raw_info, entity, field)})


@strawberry.type(description="What can be written. If a payload has errors, nothing was written.")
class Mutation:
    @strawberry.mutation(description="Adds a resource.")
    async def create_resource(
        self, info: Info, input: Annotated[CreateResourceInput, _INPUT]
    ) -> payloads.CreateResourcePayload:
        write = writes.create_resource(info.context, id=input.id, name=input.name)
        return await _answer(info, payloads.CreateResourcePayload, "resource", write)

    @strawberry.mutation(description="Changes a resource, field by field.")
    async def update_resource(
        self, info: Info, input: Annotated[UpdateResourceInput, _INPUT]
    ) -> payloads.UpdateResourcePayload:
        write = writes.update_resource(
            info.context, id=input.id, name=input.name, expected_version=input.expected_version
        )
        return await _answer(info, payloads.UpdateResourcePayload, "resource", write)

    @strawberry.mutation(description="Deletes a resource and all its assignments.")
    async def delete_resource(
        self, info: Info, input: Annotated[DeleteInput, _INPUT]
    ) -> payloads.DeleteResourcePayload:
        try:
            deleted = await writes.delete_resource(info.context, id=input.id)
        except Refused as refused:
            return payloads.DeleteResourcePayload(errors=user_errors(refused))
        return payloads.DeleteResourcePayload(
            deleted_resource_id=input.id, deleted_assignment_ids=_ids(deleted)
        )

    @strawberry.mutation(description="Adds a project.")
    async def create_project(
        self, info: Info, input: Annotated[CreateProjectInput, _INPUT]
    ) -> payloads.CreateProjectPayload:
        write = writes.create_project(
            info.context,
            id=input.id,
            name=input.name,
            color=input.color,
            description=input.description,
            tags=input.tags,
            links=links_of(input.links),
        )
        return await _answer(info, payloads.CreateProjectPayload, "project", write)

    @strawberry.mutation(description="Changes a project, field by field.")
    async def update_project(
        self, info: Info, input: Annotated[UpdateProjectInput, _INPUT]
    ) -> payloads.UpdateProjectPayload:
        write = writes.update_project(
            info.context,
            id=input.id,
            name=input.name,
            color=input.color,
            description=input.description,
            tags=input.tags,
            links=strawberry.Some(links_of(input.links.value)) if input.links else None,
            expected_version=input.expected_version,
        )
        return await _answer(info, payloads.UpdateProjectPayload, "project", write)

    @strawberry.mutation(description="Deletes a project and all its assignments.")
    async def delete_project(
        self, info: Info, input: Annotated[DeleteInput, _INPUT]
    ) -> payloads.DeleteProjectPayload:
        try:
            deleted = await writes.delete_project(info.context, id=input.id)
        except Refused as refused:
            return payloads.DeleteProjectPayload(errors=user_errors(refused))
        return payloads.DeleteProjectPayload(
            deleted_project_id=input.id, deleted_assignment_ids=_ids(deleted)
        )

    @strawberry.mutation(description="Assigns a resource to a project for some days.")
    async def create_assignment(
        self, info: Info, input: Annotated[CreateAssignmentInput, _INPUT]
    ) -> payloads.CreateAssignmentPayload:
        write = writes.create_assignment(
            info.context,
            id=input.id,
            resource_id=input.resource_id,
            project_id=input.project_id,
            start_date=input.start_date,
            end_date=input.end_date,
            note=input.note,
        )
        return await _answer(info, payloads.CreateAssignmentPayload, "assignment", write)

    @strawberry.mutation(description="Changes or moves an assignment, field by field.")
    async def update_assignment(
        self, info: Info, input: Annotated[UpdateAssignmentInput, _INPUT]
    ) -> payloads.UpdateAssignmentPayload:
        write = writes.update_assignment(
            info.context,
            id=input.id,
            resource_id=input.resource_id,
            project_id=input.project_id,
            start_date=input.start_date,
            end_date=input.end_date,
            note=input.note,
            expected_version=input.expected_version,
        )
        return await _answer(info, payloads.UpdateAssignmentPayload, "assignment", write)

    @strawberry.mutation(description="Deletes an assignment. Deleting it again is no error.")
    async def delete_assignment(
        self, info: Info, input: Annotated[DeleteInput, _INPUT]
    ) -> payloads.DeleteAssignmentPayload:
        try:
            await writes.delete_assignment(info.context, id=input.id)
        except Refused as refused:
            return payloads.DeleteAssignmentPayload(errors=user_errors(refused))
        return payloads.DeleteAssignmentPayload(deleted_assignment_id=input.id)


def _ids(ids: list[str]) -> list[strawberry.ID]:
    return [strawberry.ID(id) for id in ids]
