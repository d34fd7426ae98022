"""What can be read."""

from typing import Annotated, cast

import strawberry

from resolvers import reads
from resolvers.context import RequestContext
from schema.node import Node
from schema.types import Team
from schema.viewer import Viewer

__all__ = ["Info", "Query"]

Info = strawberry.Info[RequestContext, None]

NodeId = Annotated[strawberry.ID, strawberry.argument(description="A global id.")]
NodeIds = Annotated[
    list[strawberry.ID],
    strawberry.argument(description=f"At most {reads.MAX_NODES} global ids in one operation."),
]


@strawberry.type(description="What can be read. All that is asked of a team is one Query.")
class Query:
    @strawberry.field(description="The team of the session; a request can't name another.")
    async def team(self, info: Info) -> Team:
        return cast("Team", await reads.team(info.context, info._raw_info))

    @strawberry.field(description="Who is asking.")
    def viewer(self, info: Info) -> Viewer:
        return cast("Viewer", info.context.viewer)

    @strawberry.field(description="The object with this id, or null when this team has none.")
    async def node(self, info: Info, id: NodeId) -> Node | None:
        return cast("Node | None", (await reads.nodes(info.context, info._raw_info, [id]))[0])

    @strawberry.field(
        description="The objects with these ids, in this order; null for each that is not there."
    )
    async def nodes(self, info: Info, ids: NodeIds) -> list[Node | None]:
        return cast("list[Node | None]", await reads.nodes(info.context, info._raw_info, ids))
