"""Operations made from the schema itself: each slot for an id, wherever one may be sent.

A slot is written `Type.field(path)`, the path through input objects with `[]` for a list. What a
field needs to be valid is in the tables below; what is in none of them fails the walk, so that a
new field can't go untried.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_required_argument,
)

__all__ = ["CHOSEN", "SLOTS", "Operation", "Slot", "slots"]

CHOSEN: Final = "a UUID of the client's own choice"

SLOTS: Final[Mapping[str, str]] = {
    "Query.node(id)": "Resource",
    "Query.nodes(ids[])": "Project",
    "Mutation.createResource(input.id)": CHOSEN,
    "Mutation.updateResource(input.id)": "Resource",
    "Mutation.deleteResource(input.id)": "Resource",
    "Mutation.createProject(input.id)": CHOSEN,
    "Mutation.updateProject(input.id)": "Project",
    "Mutation.deleteProject(input.id)": "Project",
    "Mutation.shiftProject(input.id)": "Project",
    "Mutation.shiftProject(input.operationId)": CHOSEN,
    "Mutation.createAssignment(input.id)": CHOSEN,
    "Mutation.createCalendarFeed(input.subjectId)": "Resource",
    "Mutation.deleteCalendarFeed(input.id)": "CalendarFeed",
    "Mutation.createAssignment(input.resourceId)": "Resource",
    "Mutation.createAssignment(input.projectId)": "Project",
    "Mutation.updateAssignment(input.id)": "Assignment",
    "Mutation.updateAssignment(input.resourceId)": "Resource",
    "Mutation.updateAssignment(input.projectId)": "Project",
    "Mutation.updateAssignments(input.patches[].id)": "Assignment",
    "Mutation.updateAssignments(input.patches[].resourceId)": "Resource",
    "Mutation.updateAssignments(input.patches[].projectId)": "Project",
    "Mutation.deleteAssignment(input.id)": "Assignment",
}
"""What each slot for an id takes: an object of this type, or an id that is new."""

VALUES: Final[Mapping[str, Any]] = {
    "color": "#336699",
    "days": 1,
    "description": "New",
    "endDate": "2024-03-09",
    "expectedVersion": 1,
    "from": "2024-01-01",
    "links": [{"label": "x", "url": "https://x.example"}],
    "name": "New",
    "note": "New",
    "startDate": "2024-03-04",
    "tags": ["new"],
    "to": "2024-12-31",
}
"""A value for every other argument and input field, by its name; by `Type.field(path)` where
fields of one name need different ones."""

REACHED: Final[Mapping[str, str]] = {
    "Query": "query",
    "Mutation": "mutation",
}
"""How to get to an object with fields that take ids."""

_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Slot:
    """One place for an id: the field it belongs to, and its path in the field's arguments."""

    parent: str
    field: str
    path: str

    def __str__(self) -> str:
        return f"{self.parent}.{self.field}({self.path})"

    @property
    def kind(self) -> str:
        """What it takes: the name of a type, or CHOSEN."""
        assert str(self) in SLOTS, f"say in SLOTS what {self} takes"
        return SLOTS[str(self)]


@dataclass(frozen=True, slots=True)
class Operation:
    """A field as an operation that selects all of its answer to some depth."""

    schema: GraphQLSchema
    parent: str
    field: str

    @property
    def document(self) -> str:
        """The field with a variable for each argument."""
        kind = REACHED.get(self.parent)
        assert kind, f"say in REACHED how a query gets to a {self.parent}"
        arguments = self._definition.args
        declared = ", ".join(f"${name}: {each.type}" for name, each in arguments.items())
        passed = ", ".join(f"{name}: ${name}" for name in arguments)
        below = _selection(self.schema, self._definition.type, _DEPTH)
        return f"{kind}({declared}) {{ {self.field}({passed}) {below} }}"

    def variables(self, id_of: Callable[[Slot, int], str | None]) -> dict[str, Any]:
        """A value for every argument. `id_of` gives the id for a slot, which in a list is filled
        twice (0 and 1); None leaves it out."""
        return {
            name: self._value(each, name, name, 0, id_of)
            for name, each in self._definition.args.items()
        }

    @property
    def _definition(self) -> GraphQLField:
        parent = self.schema.type_map[self.parent]
        assert isinstance(parent, GraphQLObjectType)
        field: GraphQLField = parent.fields[self.field]
        return field

    def _value(
        self,
        place: GraphQLArgument | GraphQLInputField,
        name: str,
        path: str,
        index: int,
        id_of: Callable[[Slot, int], str | None],
    ) -> Any:
        named, is_list = get_named_type(place.type), _is_list(place.type)
        indexes = (0, 1) if is_list else (index,)
        slot = Slot(self.parent, self.field, path + "[]" * is_list)
        each: list[Any]
        if named.name == "ID":
            each = [id_of(slot, at) for at in indexes]
        elif isinstance(named, GraphQLInputObjectType) and name not in VALUES:
            each = [self._object(named, slot.path, at, id_of) for at in indexes]
        else:
            found = [VALUES[key] for key in (str(slot), name) if key in VALUES]
            assert found, f"add a value for `{name}` or {slot} to VALUES"
            return found[0]
        return each if is_list else each[0]

    def _object(
        self,
        type: GraphQLInputObjectType,
        path: str,
        index: int,
        id_of: Callable[[Slot, int], str | None],
    ) -> dict[str, Any]:
        values = {
            name: self._value(field, name, f"{path}.{name}", index, id_of)
            for name, field in type.fields.items()
        }
        return {name: value for name, value in values.items() if value is not None}


def slots(schema: GraphQLSchema) -> Iterator[Slot]:
    """Every slot for an id of every field of every object type."""
    for type in schema.type_map.values():
        if isinstance(type, GraphQLObjectType) and not type.name.startswith("__"):
            for name, field in type.fields.items():
                for path in _paths(field.args):
                    yield Slot(type.name, name, path)


def _paths(
    places: Mapping[str, GraphQLArgument] | Mapping[str, GraphQLInputField], above: str = ""
) -> Iterator[str]:
    for name, place in places.items():
        named = get_named_type(place.type)
        path = above + name + "[]" * _is_list(place.type)
        if named.name == "ID":
            yield path
        elif isinstance(named, GraphQLInputObjectType):
            yield from _paths(named.fields, f"{path}.")


def _is_list(type: Any) -> bool:
    return isinstance(get_nullable_type(type), GraphQLList)


def _selection(schema: GraphQLSchema, type: GraphQLOutputType, depth: int) -> str:
    """All that can be selected of the type without arguments, to this depth; empty for a leaf."""
    named = get_named_type(type)
    if is_leaf_type(named):
        return ""
    found = ["__typename"]
    if isinstance(named, GraphQLObjectType):
        found += (f"{name} {below}" for name, below in _fields(schema, named, depth))
    elif isinstance(named, GraphQLInterfaceType | GraphQLUnionType):
        for concrete in schema.get_possible_types(named):
            # Named after the type, since fields of one name may be of different types; and one
            # level less, since all of them together cost more than a request may.
            fields = (
                f"{concrete}_{name}: {name} {below}"
                for name, below in _fields(schema, concrete, depth - 1)
            )
            found.append(f"... on {concrete} {{ {' '.join(fields)} }}")
    return f"{{ {' '.join(found)} }}"


def _fields(
    schema: GraphQLSchema, type: GraphQLObjectType, depth: int
) -> Iterator[tuple[str, str]]:
    for name, field in type.fields.items():
        if any(is_required_argument(each) for each in field.args.values()):
            continue
        if depth > 1 or is_leaf_type(get_named_type(field.type)):
            yield name, _selection(schema, field.type, depth - 1)
