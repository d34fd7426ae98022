"""What changed in the session's team: the latest changes as a list, and those to come."""

from collections.abc import Awaitable
from typing import Any, Final

from graphql import GraphQLObjectType, GraphQLResolveInfo, get_named_type

from data.changes import Change
from data.entities import EntityType, Team
from data.errors import BadInput, LimitExceeded
from data.live import Batch, Subscription
from data.recent_changes import recent_changes
from resolvers.context import RequestContext
from resolvers.global_ids import membership_id, to_global_id
from resolvers.graph import Graph
from resolvers.nodes import ChangeEdgeNode, ChangeNode, ChangesNode, Node, TeamNode
from resolvers.selection import Selection

__all__ = ["DEFAULT_CHANGES", "MAX_CHANGES", "MAX_LISTS", "changed", "recent", "to_come"]

DEFAULT_CHANGES: Final = 20
MAX_CHANGES: Final = 100
"""Changes that one list may have."""
MAX_LISTS: Final = 10
"""Lists of changes in one operation. Each is a read of its own, and with a filter it may look at
all that a team has: aliases would multiply that."""


def recent(
    context: RequestContext,
    graph: Graph,
    *,
    first: int,
    after: str | None,
    type: EntityType | None,
) -> Awaitable[ChangesNode]:
    """The latest changes, newest first; the objects in them are linked to what the operation read.
    Raises BadInput, LimitExceeded."""
    # All lists of an operation are counted before the first of them is read.
    context.lists_of_changes += 1
    return _recent(context, graph, first=first, after=after, type=type)


async def _recent(
    context: RequestContext,
    graph: Graph,
    *,
    first: int,
    after: str | None,
    type: EntityType | None,
) -> ChangesNode:
    if not 1 <= first <= MAX_CHANGES:
        raise BadInput(f"`first` must be from 1 to {MAX_CHANGES}", field=("first",))
    if context.lists_of_changes > MAX_LISTS:
        raise LimitExceeded(f"one operation may have at most {MAX_LISTS} lists of changes")
    found = await recent_changes(
        context.store, context.team_id, first=first, after=after, type=type
    )
    context.take_skipped(found.skipped)
    edges = [ChangeEdgeNode(_node(graph, change), cursor) for change, cursor in found.changes]
    return ChangesNode(edges, found.has_more)


async def to_come(context: RequestContext, since: str | None) -> Subscription:
    """The changes from now on, or since a cursor, in batches. Raises BadInput, Unavailable."""
    if context.live is None:
        raise BadInput("this server has no live updates: PLANNER_LIVE is off")
    return await context.live.subscribe(context.team_id, since)


async def changed(
    context: RequestContext, info: GraphQLResolveInfo[Any], batch: Batch
) -> list[ChangeNode]:
    """The changes of a batch. The objects are what the changes left; only what is selected beyond
    them is read, in one read for the batch."""
    of_change = get_named_type(info.return_type)
    if not isinstance(of_change, GraphQLObjectType):
        raise TypeError("a change is an object type")
    selection = Selection(info, {each.entity_type for each in batch.changes if each.entity})
    slices = frozenset(
        slice
        for node in info.field_nodes
        for slice in selection.slices_below(of_change, node.selection_set)
    )
    # Where nothing has an entity nothing is linked to anything.
    needed = slices if any(each.entity for each in batch.changes) else frozenset()
    context.loader.forget()
    graph = context.linked(Graph(context.team_id, await context.loader.load(needed)))
    return [_node(graph, change) for change in batch.changes]


def _node(graph: Graph, change: Change) -> ChangeNode:
    return ChangeNode(
        kind=change.kind,
        entity_type=change.entity_type,
        entity_id=_global_id(graph.team_id, change),
        entity=_entity(graph, change),
        version=change.version,
        changed_at=change.at,
        changed_by=change.by,
    )


def _global_id(team_id: str, change: Change) -> str:
    if change.entity_type is EntityType.MEMBERSHIP:
        return to_global_id(EntityType.MEMBERSHIP, membership_id(team_id, change.entity_id))
    return to_global_id(change.entity_type, change.entity_id)


def _entity(graph: Graph, change: Change) -> Node | None:
    match change.entity:
        case None:
            return None
        case Team():
            return TeamNode(graph)
        case entity:
            return graph.node(entity)
