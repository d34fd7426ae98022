"""What one request may ask for, and what goes beyond it: before anything is read or written.

The document is measured as soon as it is parsed, and before it is validated, since validation
is what a hostile one makes expensive. See docs/adr/0011-limits.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    ListValueNode,
    Node,
    ObjectValueNode,
    OperationDefinitionNode,
)

from data.errors import LimitExceeded
from schema.measure import Measures
from schema.nodes import children

__all__ = ["Limits", "exceeded", "exceeded_by_document", "exceeded_by_variables"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps of one request; `server.settings` has their defaults and docs/settings.md explains
    them. `seconds` is the longest that an operation may take, `objects` the most that an answer
    may list."""

    tokens: int
    depth: int
    aliases: int
    cost: int
    list_input: int
    seconds: float
    objects: int


def exceeded(message: str, *nodes: Node) -> GraphQLError:
    """The request error of a limit: LIMIT_EXCEEDED."""
    return GraphQLError(message, list(nodes) or None, original_error=LimitExceeded(message))


def exceeded_by_document(
    schema: GraphQLSchema, document: DocumentNode, limits: Limits
) -> GraphQLError | None:
    """The first limit that an operation of the document goes beyond; None when none does. Takes
    time in proportion to the length of the document, however its fragments are knotted."""
    left: list[Node] = [document]
    while left:
        node = left.pop()
        if (length := _length(node)) > limits.list_input:
            return exceeded(_too_long(length, limits), node)
        left += children(node)
    measures = Measures(schema, document)
    for operation in document.definitions:
        if isinstance(operation, OperationDefinitionNode):
            measure = measures.of(operation)
            for name, found, most in (
                ("levels of fields", measure.depth, limits.depth),
                ("aliases, counted through fragments", measure.aliases, limits.aliases),
                ("points of cost", measure.cost, limits.cost),
            ):
                if found > most:
                    return exceeded(f"An operation may have at most {most} {name}.", operation)
    return None


def exceeded_by_variables(variables: Mapping[str, Any], limits: Limits) -> GraphQLError | None:
    """The same for values: how many entries a list or an object among them has."""
    left: list[Any] = list(variables.values())
    while left:
        value = left.pop()
        if isinstance(value, list | dict):
            if len(value) > limits.list_input:
                return exceeded(_too_long(len(value), limits))
            left += value.values() if isinstance(value, dict) else value
    return None


def _too_long(length: int, limits: Limits) -> str:
    return f"A value has {length} entries; at most {limits.list_input} are taken."


def _length(node: Node) -> int:
    """How many entries a node has that is a value; 0 for any other."""
    match node:
        case ListValueNode():
            return len(node.values)
        case ObjectValueNode():
            return len(node.fields)
    return 0
