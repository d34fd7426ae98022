"""Random valid requests over a whole schema, by walking it: every field, argument, interface and
meta-field, with aliases, fragments, conditions and variables.

A document is made so that its fields merge: what a response key stands for is remembered for each
type at each place of the answer, and a fragment is spread only where all that it selects fits.
"""

import json
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, TypeVar

from graphql import (
    GraphQLBoolean,
    GraphQLCompositeType,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    SchemaMetaFieldDef,
    TypeMetaFieldDef,
    get_named_type,
    get_nullable_type,
    is_introspection_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
)
from hypothesis import strategies as st

__all__ = ["Request", "Values", "requests"]

Values = Mapping[str, st.SearchStrategy[Any]]
"""JSON values for arguments and input fields: by their name, or by that of their scalar."""

T = TypeVar("T")
_EITHER: Final = st.booleans()
_MOST_FIELDS: Final = 25
# What is rare stands in the middle: Hypothesis likes the ends.
_KINDS: Final = (*["field"] * 4, "inline", "spread", "typename", "spread", *["field"] * 4)
_ALIASES: Final = ("", "", "_1", "_2", "", "")
_AS_NAME: Final = str.maketrans({"[": "list_", "]": "", "!": "_"})
_CONDITIONS: Final = (*[""] * 6, "@skip", "@include", "@include @skip", *[""] * 6)


@dataclass(frozen=True, slots=True)
class Request:
    """A document, and how it is sent, one after the other: the operation to carry out, and the
    variables."""

    document: str
    sent: Sequence[tuple[str | None, Mapping[str, Any]]]

    def __str__(self) -> str:
        return "\n".join([self.document, *(f"{name}: {values}" for name, values in self.sent)])


@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable in place of a value."""

    name: str


@dataclass(slots=True)
class _Entry:
    """What a response key stands for at one place, and the keys below it."""

    name: str
    arguments: str
    below: "_Scope" = field(default_factory=dict)


_Scope = dict[tuple[str, str], _Entry]
"""The response keys of one place in the answer, by concrete type and key."""


@dataclass(frozen=True, slots=True)
class _Room:
    """How much further a selection may go: levels of objects, and lists within lists; and whether
    by fields without arguments only."""

    levels: int
    lists: int
    plain: bool = False

    def takes(self, each: GraphQLField) -> bool:
        if self.plain and each.args:
            return False
        below = self.below(each)
        return is_leaf_type(get_named_type(each.type)) or min(below.levels, below.lists) >= 0

    def below(self, each: GraphQLField) -> "_Room":
        # GraphQL's rules take no deep introspection.
        lists = min(self.lists, 1) if _is_introspection(each) else self.lists
        return _Room(self.levels - 1, lists - _is_list(each.type), self.plain)

    def holds(self, other: "_Room") -> bool:
        return (
            self.levels >= other.levels and self.lists >= other.lists and self.plain <= other.plain
        )


@dataclass(frozen=True, slots=True)
class _Fragment:
    on: str
    text: str
    scope: _Scope
    room: _Room


@st.composite
def requests(draw: st.DrawFn, schema: GraphQLSchema, values: Values) -> Request:
    """Requests whose documents are valid, and most of whose variables are."""
    return _Writer(schema, values, draw).request()


class _Writer:
    """Writes one request."""

    def __init__(self, schema: GraphQLSchema, values: Values, draw: st.DrawFn) -> None:
        self._schema = schema
        self._values = values
        self._draw = draw
        self._fields_left = _MOST_FIELDS
        # Most documents of clients have arguments at the top alone.
        self._plain_lists = self._one_of((True, False, True))
        self._fragments: dict[str, _Fragment] = {}
        self._declared: dict[str, str] = {}
        self._named: dict[tuple[str, str], list[str]] = {}
        self._variables: tuple[dict[str, Any], ...] = ({}, {})

    def request(self) -> Request:
        query, mutation = self._schema.query_type, self._schema.mutation_type
        roots = [*[query] * 4, mutation, *[query] * 5]
        operations: dict[str | None, tuple[str, str]] = {}
        count = self._one_of((1, 1, 1, 2))
        for number in range(count):
            root = self._one_of([root for root in roots if root])
            kind = "mutation" if root is self._schema.mutation_type else "query"
            name = f"Op{number}" if count > 1 or self._either() else None
            operations[name] = kind, self._selections(root, {}, _Room(5, 3))
        spread = set()
        texts = []
        for name, (kind, selections) in operations.items():
            found = self._spread_by(selections)
            spread |= found
            bodies = " ".join([selections, *(self._fragments[each].text for each in found)])
            used = sorted(set(re.findall(r"\$(\w+)", bodies)))
            declared = ", ".join(f"${each}: {self._declared[each]}" for each in used)
            header = f"{kind} {name or ''}" + (f"({declared})" if declared else "")
            texts.append(f"{header.strip()} {selections}")
        texts += (
            f"fragment {name} on {each.on} {each.text}"
            for name, each in self._fragments.items()
            if name in spread
        )
        names = [*operations]
        return Request(
            "\n".join(texts), [(self._one_of(names), values) for values in self._variables]
        )

    def _spread_by(self, text: str) -> set[str]:
        """The fragments that a text spreads, and those that they spread."""
        found: set[str] = set()
        left = [text]
        while left:
            for name in re.findall(r"\.\.\.(F\d+)", left.pop()):
                if name not in found:
                    found.add(name)
                    left.append(self._fragments[name].text)
        return found

    # Selections

    def _selections(self, parent: GraphQLCompositeType, scope: _Scope, room: _Room) -> str:
        wanted = 1 + self._draw(_below(5))
        found = [self._selection(parent, scope, room) for _ in range(wanted)]
        return f"{{ {' '.join(filter(None, found)) or '__typename'} }}"

    def _selection(self, parent: GraphQLCompositeType, scope: _Scope, room: _Room) -> str:
        match self._one_of(_KINDS) if self._fields_left > 0 else "typename":
            case "field":
                return self._field(parent, scope, room)
            case "inline":
                on = self._one_of([None, *_conditions(self._schema, parent)])
                narrowed = self._composite(on) if on else parent
                condition = f" on {on}" if on else ""
                body = self._selections(narrowed, scope, room)
                return f"...{condition}{self._directives()} {body}"
            case "spread":
                return self._spread(parent, scope, room)
        return f"__typename{self._directives()}"

    def _field(self, parent: GraphQLCompositeType, scope: _Scope, room: _Room) -> str:
        names = _weighted(self._schema, parent, room)
        if not names:
            return ""
        self._fields_left -= 1
        fields = _fields(self._schema, parent)
        name = self._one_of(names)
        key = name
        if alias := self._one_of(_ALIASES):
            # Named after the type, since two fields of one key must have one type.
            key = str(fields[name].type).translate(_AS_NAME) + alias
        places = [(each.name, key) for each in _possible(self._schema, parent)]
        entry = next((scope[place] for place in places if place in scope), None)
        if entry is None:
            entry = _Entry(name, self._arguments(fields[name]))
        elif entry.name not in names:
            return ""
        if any(scope.setdefault(place, entry) is not entry for place in places):
            return ""
        definition = fields[entry.name]
        text = key if key == entry.name else f"{key}: {entry.name}"
        text += entry.arguments + self._directives()
        named = _named(definition)
        if is_leaf_type(named):
            return text
        further = room.below(definition)
        if self._plain_lists and _is_list(definition.type):
            further = replace(further, plain=True)
        return f"{text} {self._selections(self._composite(named.name), entry.below, further)}"

    def _spread(self, parent: GraphQLCompositeType, scope: _Scope, room: _Room) -> str:
        conditions = _conditions(self._schema, parent)
        fitting = [
            name
            for name, each in self._fragments.items()
            if each.on in conditions and room.holds(each.room) and _fits(scope, each.scope)
        ]
        name = self._one_of([*fitting, None])
        if name is None:
            name = f"F{len(self._fragments)}"
            on = self._one_of(conditions)
            # Small ones can be spread in many places.
            within = _Room(min(room.levels, 2), min(room.lists, 1), room.plain)
            own: _Scope = {}
            text = self._selections(self._composite(on), own, within)
            name = f"F{len(self._fragments)}"
            self._fragments[name] = _Fragment(on, text, own, within)
            if not _fits(scope, own):
                return ""
        _merge(scope, self._fragments[name].scope)
        return f"...{name}{self._directives()}"

    def _directives(self) -> str:
        found = self._one_of(_CONDITIONS)
        condition = GraphQLNonNull(GraphQLBoolean)
        return "".join(
            f" {each}(if: {_rendered(self._value(condition, 'if'), condition)})"
            for each in found.split()
        )

    # Types

    def _composite(self, name: str) -> GraphQLCompositeType:
        found = self._schema.type_map[name]
        assert isinstance(found, GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType)
        return found

    # Values

    def _arguments(self, each: GraphQLField) -> str:
        given = [
            f"{name}: {_rendered(self._value(argument.type, name), argument.type)}"
            for name, argument in each.args.items()
            if is_required_argument(argument) or self._either()
        ]
        return f"({', '.join(given)})" if given else ""

    def _value(self, type: GraphQLInputType, name: str, *, constant: bool = False) -> Any:
        """A JSON value for an argument or input field, with variables in it unless `constant`."""
        if not constant and self._either():
            return self._variable(type, name)
        if isinstance(type, GraphQLNonNull):
            type = type.of_type
        elif self._rarely():
            return None
        if isinstance(type, GraphQLList):
            count = self._draw(_below(5))
            return [self._value(type.of_type, name, constant=constant) for _ in range(count)]
        if isinstance(type, GraphQLInputObjectType):
            return {
                key: self._value(each.type, key, constant=constant)
                for key, each in type.fields.items()
                if is_required_input_field(each) or self._either()
            }
        if isinstance(type, GraphQLEnumType):
            return self._one_of([*type.values])
        return self._draw(self._values[name if name in self._values else str(type)])

    def _variable(self, type: GraphQLInputType, name: str) -> _Variable:
        """A variable for a place of the type, an earlier one or a new one."""
        known = self._named.setdefault((str(type), name), [])
        chosen = self._one_of([None, *known])
        if chosen is None:
            chosen = f"v{len(self._declared)}"
            known.append(chosen)
            self._declare(chosen, type, name)
        return _Variable(chosen)

    def _declare(self, variable: str, type: GraphQLInputType, name: str) -> None:
        with_default = self._either()
        declared = type
        if with_default and isinstance(type, GraphQLNonNull) and self._either():
            # May stand where a value is required, as long as nobody sends null.
            declared = type.of_type
        text = str(declared)
        if with_default:
            default = self._value(type, name, constant=True)
            text += f" = {_rendered(default, type)}"
        self._declared[variable] = text
        required = isinstance(declared, GraphQLNonNull)
        for values in self._variables:
            if (required and not with_default) or not self._rarely():
                values[variable] = self._value(type, name, constant=True)
            elif not required and self._rarely():
                values[variable] = None

    # Choices

    def _one_of(self, choices: Sequence[T]) -> T:
        return choices[self._draw(_below(len(choices)))]

    def _either(self) -> bool:
        return self._draw(_EITHER)

    def _rarely(self) -> bool:
        return self._draw(_below(9)) == 4


@cache
def _below(most: int) -> st.SearchStrategy[int]:
    """Made once, since to make one takes longer than to draw from it."""
    return st.integers(0, most - 1)


@cache
def _fields(schema: GraphQLSchema, parent: GraphQLCompositeType) -> Mapping[str, GraphQLField]:
    """What can be selected on a type, meta-fields included, but for `__typename`."""
    fields = {} if isinstance(parent, GraphQLUnionType) else parent.fields
    if parent is schema.query_type:
        return fields | {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef}
    return fields


@cache
def _weighted(schema: GraphQLSchema, parent: GraphQLCompositeType, room: _Room) -> Sequence[str]:
    """The fields that the room takes. What leads further is there more often, or most fields of a
    document would be leaves."""
    return [
        name
        for name, each in _fields(schema, parent).items()
        if room.takes(each)
        for _ in range(_weight(each))
    ]


@cache
def _possible(schema: GraphQLSchema, type: GraphQLCompositeType) -> Sequence[GraphQLObjectType]:
    if isinstance(type, GraphQLObjectType):
        return [type]
    return list(schema.get_possible_types(type))


@cache
def _conditions(schema: GraphQLSchema, parent: GraphQLCompositeType) -> Sequence[str]:
    """The types that a fragment within the parent may be on."""
    possible = set(_possible(schema, parent))
    return [
        name
        for name, each in schema.type_map.items()
        if isinstance(each, GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType)
        and not possible.isdisjoint(_possible(schema, each))
    ]


def _fits(scope: _Scope, other: _Scope) -> bool:
    """Whether the keys of both can stand at one place."""
    return all(
        (mine.name, mine.arguments) == (each.name, each.arguments) and _fits(mine.below, each.below)
        for place, each in other.items()
        if (mine := scope.get(place))
    )


def _merge(scope: _Scope, other: _Scope) -> None:
    for place, each in other.items():
        if place in scope:
            _merge(scope[place].below, each.below)
        else:
            scope[place] = deepcopy(each)


def _rendered(value: Any, type: GraphQLInputType) -> str:
    """A value as GraphQL writes it."""
    nullable = get_nullable_type(type)
    match value:
        case _Variable():
            return f"${value.name}"
        case list() if isinstance(nullable, GraphQLList):
            return f"[{', '.join(_rendered(each, nullable.of_type) for each in value)}]"
        case dict() if isinstance(nullable, GraphQLInputObjectType):
            fields = (
                f"{key}: {_rendered(each, nullable.fields[key].type)}"
                for key, each in value.items()
            )
            return f"{{{', '.join(fields)}}}"
    return str(value) if isinstance(nullable, GraphQLEnumType) and value else json.dumps(value)


def _weight(each: GraphQLField) -> int:
    named = get_named_type(each.type)
    if _is_introspection(each) or not isinstance(named, GraphQLObjectType):
        return 1
    return 3 + sum(not is_leaf_type(_named(below)) for below in named.fields.values()) ** 2


def _is_introspection(each: GraphQLField) -> bool:
    return is_introspection_type(get_named_type(each.type))


def _named(each: GraphQLField) -> Any:
    return get_named_type(each.type)


def _is_list(type: Any) -> bool:
    return isinstance(get_nullable_type(type), GraphQLList)
