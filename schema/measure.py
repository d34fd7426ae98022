"""How much an operation asks for: its depth, its aliases and its cost.

All three are counted as if every fragment were written out where it is spread, and every `@include`
and `@skip` let its field in. Each selection set is measured once, so that a document of fragments
that spread each other twice is measured in the time it takes to read it.

The cost is the number of values in the answer, if each list of objects with an id, or of objects
that hold such, had ten: a list of lists of lists of them has a thousand. Other lists (a project's
links) count once.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    InlineFragmentNode,
    ListValueNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    get_named_type,
)

__all__ = ["Measure", "Measures"]

LIST_LENGTH: Final = 10
"""How many objects a list is taken to have. Only the order of magnitude matters: what a list of
lists has is the product."""


class Measure(NamedTuple):
    """`depth` is in fields; a list or an object is one level."""

    depth: int = 0
    aliases: int = 0
    cost: int = 0

    def beside(self, other: "Measure") -> "Measure":
        """Both, in one selection set."""
        return Measure(
            max(self.depth, other.depth), self.aliases + other.aliases, self.cost + other.cost
        )


@dataclass(slots=True)
class _Fragment:
    node: FragmentDefinitionNode
    measure: Measure | None = None
    is_open: bool = False


class Measures:
    """Measures the operations of one document, which need not be valid: what the schema does not
    have is counted and left to validation. Fragments that spread themselves raise GraphQLError,
    fragments and fields nested deeper than Python's stack RecursionError."""

    def __init__(self, schema: GraphQLSchema, document: DocumentNode) -> None:
        self._schema = schema
        self._fragments = {
            node.name.value: _Fragment(node)
            for node in document.definitions
            if isinstance(node, FragmentDefinitionNode)
        }

    def of(self, operation: OperationDefinitionNode) -> Measure:
        """The measure of an operation of the document."""
        root = self._schema.get_root_type(operation.operation)
        return self._selection_set(operation.selection_set, root)

    def _selection_set(
        self, selection_set: SelectionSetNode | None, parent: GraphQLNamedType | None
    ) -> Measure:
        measure = Measure()
        for node in selection_set.selections if selection_set else ():
            measure = measure.beside(self._selection(node, parent))
        return measure

    def _selection(self, node: SelectionNode, parent: GraphQLNamedType | None) -> Measure:
        match node:
            case FieldNode():
                return self._field(node, parent)
            case InlineFragmentNode():
                condition = node.type_condition
                narrowed = self._schema.get_type(condition.name.value) if condition else parent
                return self._selection_set(node.selection_set, narrowed)
            case FragmentSpreadNode():
                return self._spread(node)
        raise TypeError(f"a selection of a new kind: {node.kind}")

    def _field(self, node: FieldNode, parent: GraphQLNamedType | None) -> Measure:
        type = None
        if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
            definition = parent.fields.get(node.name.value)
            type = definition.type if definition else None
        below = self._selection_set(node.selection_set, get_named_type(type) if type else None)
        return Measure(
            below.depth + 1,
            below.aliases + (node.alias is not None),
            1 + below.cost * _length(node, type),
        )

    def _spread(self, node: FragmentSpreadNode) -> Measure:
        name = node.name.value
        fragment = self._fragments.get(name)
        if fragment is None:
            return Measure()
        if fragment.is_open:
            raise GraphQLError(f"Cannot spread fragment '{name}' within itself.", node)
        if fragment.measure is None:
            fragment.is_open = True
            on = self._schema.get_type(fragment.node.type_condition.name.value)
            fragment.measure = self._selection_set(fragment.node.selection_set, on)
            fragment.is_open = False
        return fragment.measure


def _length(node: FieldNode, type: GraphQLOutputType | None) -> int:
    """How many objects the field is taken to have: as many as it is given ids, or a list's."""
    nullable = type.of_type if isinstance(type, GraphQLNonNull) else type
    if not isinstance(nullable, GraphQLList):
        return 1
    for argument in node.arguments or ():
        if isinstance(argument.value, ListValueNode):
            return len(argument.value.values)
    named = get_named_type(nullable)
    return LIST_LENGTH if _has_id(named) or _holds_ids(named) else 1


def _has_id(type: GraphQLNamedType) -> bool:
    return isinstance(type, GraphQLObjectType | GraphQLInterfaceType) and "id" in type.fields


def _holds_ids(type: GraphQLNamedType) -> bool:
    return isinstance(type, GraphQLObjectType) and any(
        _has_id(get_named_type(field.type)) for field in type.fields.values()
    )
