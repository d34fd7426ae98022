"""What an operation asks for, seen before anything is read: its selection -> slices.

Fragments, aliases, `@include` and `@skip` with their variables are followed as in execution, so
that one read brings all and only what the answer needs.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLIncludeDirective,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSkipDirective,
    InlineFragmentNode,
    SelectionNode,
    SelectionSetNode,
    get_argument_values,
    get_directive_values,
    get_named_type,
)

from data.days import Window
from data.errors import BadInput
from data.slices import (
    AssignmentsSlice,
    MembersSlice,
    ProjectsSlice,
    ResourcesSlice,
    Slice,
    TeamSlice,
)

__all__ = ["Selected", "Selection", "window"]

_SLICES: Final[Mapping[tuple[str, str], Slice]] = {
    ("Team", "name"): TeamSlice(),
    ("Team", "version"): TeamSlice(),
    ("Team", "createdAt"): TeamSlice(),
    ("Team", "updatedAt"): TeamSlice(),
    ("Team", "updatedBy"): TeamSlice(),
    ("Team", "members"): MembersSlice(),
    ("Team", "resources"): ResourcesSlice(),
    ("Team", "projects"): ProjectsSlice(),
    ("Team", "overlaps"): ResourcesSlice(),
    ("Assignment", "resource"): ResourcesSlice(),
    ("Assignment", "project"): ProjectsSlice(),
}
"""Which slice a field of a type needs."""

_WINDOWED: Final = frozenset({"assignments", "overlaps"})
"""Fields that need the assignments of a window when they have the arguments for one."""


@dataclass(frozen=True, slots=True)
class Selected:
    """One selected field: its name in the schema, its arguments, and what is selected below it."""

    name: str
    arguments: Mapping[str, Any]
    type: GraphQLObjectType | GraphQLInterfaceType | None
    below: SelectionSetNode | None


def window(first: date | None, last: date | None) -> Window:
    """The window of two arguments `from` and `to`. Raises BadInput when they are crossed."""
    if first is not None and last is not None and first > last:
        raise BadInput("`from` must not be after `to`", field=("from",))
    return Window(first, last)


class Selection:
    """The selections of one operation. Each selection set is looked at once, however many
    fragments spread it, so that the work is bounded by the length of the document. Where the type
    of an object is open, it is one of `types`, if that is known."""

    def __init__(self, info: GraphQLResolveInfo[Any], types: Set[str] | None = None) -> None:
        self._info = info
        self._types = types
        self._slices: dict[tuple[str, int], frozenset[Slice]] = {}

    def slices_below(
        self, parent: GraphQLObjectType, selection: SelectionSetNode | None
    ) -> frozenset[Slice]:
        """The slices that a selection on an object of the type `parent` needs, at any depth.
        Raises BadInput for a window that is none."""
        key = (parent.name, id(selection))
        if key not in self._slices:
            self._slices[key] = frozenset(self._needed(parent, selection))
        return self._slices[key]

    def fields(
        self, parent: GraphQLObjectType, selection: SelectionSetNode | None
    ) -> Iterator[Selected]:
        """The fields that execution will ask of an object of the type `parent`."""
        for node in self._field_nodes(parent, selection, set()):
            if node.name.value in parent.fields:  # Not __typename and its like.
                yield self._selected(parent, node)

    def _selected(self, parent: GraphQLObjectType, node: FieldNode) -> Selected:
        definition = parent.fields[node.name.value]
        named = get_named_type(definition.type)
        return Selected(
            node.name.value,
            get_argument_values(definition, node, self._info.variable_values)
            if definition.args
            else {},
            named if isinstance(named, (GraphQLObjectType, GraphQLInterfaceType)) else None,
            node.selection_set,
        )

    def _needed(
        self, parent: GraphQLObjectType, selection: SelectionSetNode | None
    ) -> Iterator[Slice]:
        for node in self._field_nodes(parent, selection, set()):
            if needed := _SLICES.get((parent.name, node.name.value)):
                yield needed
            if node.selection_set is None:
                continue
            field = self._selected(parent, node)
            if field.name in _WINDOWED and {"from", "to"} <= parent.fields[field.name].args.keys():
                between = window(field.arguments.get("from"), field.arguments.get("to"))
                yield AssignmentsSlice(between)
            for concrete in self._concrete(field.type):
                yield from self.slices_below(concrete, field.below)

    def _concrete(
        self, type: GraphQLObjectType | GraphQLInterfaceType | None
    ) -> Sequence[GraphQLObjectType]:
        """The types that an object may have where the schema says this one."""
        if isinstance(type, GraphQLInterfaceType):
            possible = self._info.schema.get_possible_types(type)
            return [each for each in possible if self._types is None or each.name in self._types]
        return () if type is None else (type,)

    def _field_nodes(
        self, parent: GraphQLObjectType, selection: SelectionSetNode | None, spread: set[str]
    ) -> Iterator[FieldNode]:
        """The field nodes of a selection set and its fragments, each of which counts once
        (GraphQL specification, CollectFields)."""
        for node in selection.selections if selection else ():
            if not _is_included(self._info, node):
                continue
            if isinstance(node, FieldNode):
                yield node
                continue
            fragment: FragmentDefinitionNode | InlineFragmentNode
            if isinstance(node, FragmentSpreadNode):
                if node.name.value in spread:
                    continue
                spread.add(node.name.value)
                fragment = self._info.fragments[node.name.value]
            elif isinstance(node, InlineFragmentNode):
                fragment = node
            else:
                raise TypeError(f"a selection of a new kind: {node.kind}")
            condition = fragment.type_condition
            if condition is None or _applies(condition.name.value, parent):
                yield from self._field_nodes(parent, fragment.selection_set, spread)


def _is_included(info: GraphQLResolveInfo[Any], node: SelectionNode) -> bool:
    if not node.directives:
        return True
    skip = get_directive_values(GraphQLSkipDirective, node, info.variable_values)
    if skip and skip["if"]:
        return False
    include = get_directive_values(GraphQLIncludeDirective, node, info.variable_values)
    return not include or bool(include["if"])


def _applies(condition: str, parent: GraphQLObjectType) -> bool:
    return condition == parent.name or any(
        interface.name == condition for interface in parent.interfaces
    )
