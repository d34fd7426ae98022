"""What mutations have in common: from a write, or its refusal, to the payload that tells of it.

An expected refusal becomes the payload's `errors`; `schema.mutation` says what becomes of the rest.
"""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

import strawberry

from data.errors import Refused
from resolvers import reads
from resolvers.context import RequestContext
from schema.payloads import UserError, user_errors
from schema.query import Info

__all__ = ["answer", "errors_of", "ids_of"]

Payload = TypeVar("Payload")
Fields = ParamSpec("Fields")


async def answer(
    info: Info,
    payload: Callable[..., Payload],
    field: str,
    write: Callable[Concatenate[RequestContext, Fields], Awaitable[reads.Written]],
    /,
    *args: Fields.args,
    **kwargs: Fields.kwargs,
) -> Payload:
    """The payload with what was written as its `field`, or with the reasons of a refusal."""
    # What the payload selects is looked at first: a fault in it must not follow a write.
    slices = reads.foreseen(info._raw_info, field)
    try:
        entity = await write(info.context, *args, **kwargs)
    except Refused as refused:
        return payload(errors=errors_of(info, refused))
    [node] = await reads.written(info.context, [entity], slices)
    return payload(**{field: node})


def errors_of(info: Info, refused: Refused) -> list[UserError]:
    """The problems of a refusal for its payload, noted for the operators as well."""
    info.context.refusals += refused.problems
    return user_errors(refused)


def ids_of(ids: list[str]) -> list[strawberry.ID]:
    """Global ids, as GraphQL has them."""
    return [strawberry.ID(id) for id in ids]
