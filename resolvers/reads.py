"""Reads: the selection of the whole operation becomes one read of the team's partition."""

import asyncio
from collections.abc import Sequence, Set
from typing import Any

from graphql import FieldNode, GraphQLObjectType, GraphQLResolveInfo, get_named_type

from data.entities import Assignment, EntityType, Project, Resource
from data.errors import LimitExceeded
from data.keys import membership_sk, project_sk, resource_sk
from data.slices import ItemSlice, Slice
from resolvers.context import RequestContext
from resolvers.global_ids import from_global_id, split_membership_id
from resolvers.graph import Graph
from resolvers.nodes import Node, TeamNode
from resolvers.selection import Selected, Selection

__all__ = ["MAX_NODES", "Written", "foreseen", "nodes", "team", "written"]

Written = Resource | Project | Assignment

MAX_NODES = 100
"""Ids that one operation may look up by `node` and `nodes`."""


async def team(context: RequestContext, info: GraphQLResolveInfo[Any]) -> TeamNode:
    """The session's team, with all that the operation asks of it."""
    return TeamNode(await _graph(context, info))


async def nodes(
    context: RequestContext, info: GraphQLResolveInfo[Any], ids: Sequence[str]
) -> list[Node | None]:
    """The objects with these global ids; None for each that the session's team does not have."""
    graph = await _graph(context, info)
    return [graph.named(id) for id in ids]


def foreseen(info: GraphQLResolveInfo[Any], field: str) -> frozenset[Slice]:
    """The slices that the `field` of a mutation's payload will need. Raises BadInput."""
    payload = get_named_type(info.return_type)
    if not isinstance(payload, GraphQLObjectType):
        raise TypeError("a payload is an object type")
    selection = Selection(info)
    slices: frozenset[Slice] = frozenset()
    for node in info.field_nodes:
        for selected in selection.fields(payload, node.selection_set):
            if selected.name == field and isinstance(selected.type, GraphQLObjectType):
                slices |= selection.slices_below(selected.type, selected.below)
    return slices


async def written(
    context: RequestContext, entities: Sequence[Written], slices: Set[Slice]
) -> list[Node]:
    """What a mutation wrote, with the relations that were foreseen. Only those are read, and
    their failure is theirs alone: the write was done."""
    context.loader.forget()
    if not entities:
        return []
    try:
        parts = await context.loader.load(slices)
    except Exception as failure:
        graph = context.linked(Graph(context.team_id, {}, failure=failure))
    else:
        graph = context.linked(Graph(context.team_id, parts))
    return [graph.node(entity) for entity in entities]


async def _graph(context: RequestContext, info: GraphQLResolveInfo[Any]) -> Graph:
    selected = info.operation.selection_set.selections
    if len(selected) == 1 and isinstance(selected[0], FieldNode):
        return await _read_operation(context, info)
    # The fields of the root run side by side; the first one reads for all of them.
    if context.graph is None:
        context.graph = asyncio.ensure_future(_read_operation(context, info))
    return await context.graph


async def _read_operation(context: RequestContext, info: GraphQLResolveInfo[Any]) -> Graph:
    """Everything that the operation needs, in one read: what its fields select, and the items
    that `node` and `nodes` name."""
    selection = Selection(info)
    fields = list(selection.fields(info.parent_type, info.operation.selection_set))
    if sum(len(_ids(field)) for field in fields) > MAX_NODES:
        raise LimitExceeded(f"one operation may look up at most {MAX_NODES} ids")
    slices: set[Slice] = set()
    named: dict[str, tuple[EntityType, str]] = {}
    for field in fields:
        if field.name == "team" and isinstance(field.type, GraphQLObjectType):
            slices |= selection.slices_below(field.type, field.below)
        for id in _ids(field):
            if found := from_global_id(id):
                named[id] = found
                # The id says which type the object has, so only the fragments on that one count.
                concrete = info.schema.get_type(found[0].value)
                if isinstance(concrete, GraphQLObjectType):
                    slices |= selection.slices_below(concrete, field.below)
    items: dict[str, tuple[ItemSlice, ...]] = {}
    if named:
        keys = await asyncio.gather(*(_sort_keys(context, *found) for found in named.values()))
        items = {id: tuple(map(ItemSlice, sks)) for id, sks in zip(named, keys, strict=True)}
        slices.update(slice for each in items.values() for slice in each)
    parts = await context.loader.load(slices)
    return context.linked(Graph(context.team_id, parts, items=items))


def _ids(field: Selected) -> Sequence[str]:
    match field.name:
        case "node":
            return (field.arguments["id"],)
        case "nodes":
            ids: Sequence[str] = field.arguments["ids"]
            return ids
    return ()


async def _sort_keys(context: RequestContext, type: EntityType, id: str) -> Sequence[str]:
    """Where the item of an id may stand. Only an assignment has to be looked up (`byId`), and in
    the moment of a move the index may have its old key, its new one or both."""
    match type:
        case EntityType.RESOURCE:
            return (resource_sk(id),)
        case EntityType.PROJECT:
            return (project_sk(id),)
        case EntityType.ASSIGNMENT:
            return await context.assignments.locate(id)
        case EntityType.MEMBERSHIP:
            team_id, user_id = split_membership_id(id)
            return (membership_sk(user_id),) if team_id == context.team_id else ()
    return ()
