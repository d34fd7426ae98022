"""The fast path of execution: lists of plain objects, completed column by column.

GraphQL completes a list object by object, and each object field by field. For 5,000 assignments
with five fields, two of them related objects with fields of their own, that is some hundred
thousand calls, and nearly all of the time of an answer. Most such lists are of one kind: whatever
is selected of their objects is an attribute that is already there. Those are turned around here:

1. graphql-core asks `FastExecutor.complete_list_value` to complete a list. `_shape` looks at what
   is selected of its objects, fragments and directives included, and compiles it; or says None
   when anything in it is more than an attribute: an argument, a resolver, an interface.
2. The objects are completed together. Each selected field is a column: its attribute is read of
   all objects in one C loop (`map(attrgetter(…), objects)`), the values are checked at once by the
   set of their types, and put into the rows. A column of related objects has few different ones
   (50 people in 5,000 assignments); each is completed once, by the same means, and shared.
3. Whatever is not as it should be - a null that may not be, a value of another type, an exception,
   an awaitable - is not handled here: `_Irregular` leaves the whole list to graphql-core, which
   knows what becomes of it. So one place decides about errors, and it is not this one.

The answer is the same, byte for byte: tests/fast_path holds the two against each other with random
documents. `PLANNER_FAST_PATH=off` leaves everything to graphql-core. What is overridden is
internal to it, so tests/unit/schema/test_fast_path.py says what is relied upon.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Final

from graphql import (
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLString,
    Undefined,
)
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import AwaitableOrValue, Path
from strawberry.schema.schema_converter import GraphQLCoreConverter

from schema.metered import CHARACTERS_AN_OBJECT, MeteredExecutor

__all__ = ["FastExecutor"]

_SCALARS: Final[dict[str, tuple[type, bool]]] = {
    "Boolean": (bool, False),
    "Date": (date, True),
    "ID": (str, False),
    "Int": (int, False),
    "String": (str, False),
}
"""Of each scalar the type of its usual values, and whether they are converted. graphql-core
converts others too, or refuses them; that is left to it."""

_SMALLEST, _LARGEST = -(2**31), 2**31 - 1
_CHUNK: Final = 1_000
"""So many objects of a list are completed before the budget is looked at again."""

Times = Sequence[int] | None
"""How often each value of a column stands in the answer; None says once."""


class _Irregular(Exception):
    """The values are not what the selection says; graphql-core is to complete them."""


class _Run:
    """The completion of one chunk; `spent` is what it adds to the answer, as the budget counts."""

    def __init__(self, info: GraphQLResolveInfo[Any]) -> None:
        self.info = info
        self.spent = 0


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A scalar."""

    type: GraphQLScalarType

    def complete(self, values: list[Any], times: Times, run: _Run) -> Iterable[Any]:
        expected, is_converted = _SCALARS[self.type.name]
        if set(map(type, values)) - {expected}:
            raise _Irregular
        if (
            expected is int
            and not _SMALLEST <= min(values, default=0) <= max(values, default=0) <= _LARGEST
        ):
            raise _Irregular
        if is_converted:
            converted = {value: self.type.coerce_output_value(value) for value in set(values)}
            return map(converted.__getitem__, values)
        if expected is str and max(map(len, values), default=0) >= CHARACTERS_AN_OBJECT:
            sizes = [len(value) // CHARACTERS_AN_OBJECT for value in values]
            run.spent += sum(sizes if times is None else map(int.__mul__, sizes, times))
        return values


@dataclass(frozen=True, slots=True)
class _Object:
    """A related object, with what is selected of it: response key, attribute (None for
    `__typename`) and shape of each field, in order."""

    type: GraphQLObjectType
    fields: tuple[tuple[str, Callable[[Any], Any] | None, "_Shape"], ...]

    def complete(self, values: list[Any], times: Times, run: _Run) -> Iterable[Any]:
        if times is None:
            counts = Counter(values)
        else:
            counts = Counter()
            for value, count in zip(values, times, strict=True):
                counts[value] += count
        rows = self.rows(list(counts), list(counts.values()), run)
        return map(dict(zip(counts, rows, strict=True)).__getitem__, values)

    def rows(self, objects: list[Any], times: Times, run: _Run) -> list[dict[str, Any]]:
        """The completed objects."""
        is_type_of = self.type.is_type_of
        # What an object is, is a question of its class: one of each is asked.
        for each in {type(each): each for each in objects}.values():
            if each is None or each is Undefined or isinstance(each, Exception):
                raise _Irregular
            if run.info.is_awaitable(each):
                raise _Irregular
            if is_type_of and is_type_of(each, run.info) is not True:
                raise _Irregular
        run.spent += len(objects) if times is None else sum(times)
        rows: list[dict[str, Any]] = [{} for _ in objects]
        for key, read, shape in self.fields:
            if read is None:
                for row in rows:
                    row[key] = self.type.name
                continue
            column = shape.complete(list(map(read, objects)), times, run)
            for row, value in zip(rows, column, strict=True):
                row[key] = value
        return rows


@dataclass(frozen=True, slots=True)
class _List:
    """A list within an object."""

    item: "_Shape"

    def complete(self, values: list[Any], times: Times, run: _Run) -> Iterable[Any]:
        if set(map(type, values)) - {list, tuple}:
            raise _Irregular
        lengths = list(map(len, values))
        if times is not None:
            times = [count for count, n in zip(times, lengths, strict=True) for _ in range(n)]
        items = iter(self.item.complete(list(chain.from_iterable(values)), times, run))
        return [list(islice(items, length)) for length in lengths]


@dataclass(frozen=True, slots=True)
class _Nullable:
    """A value that may be null."""

    shape: "_Shape"

    def complete(self, values: list[Any], times: Times, run: _Run) -> Iterable[Any]:
        if None not in values:
            return self.shape.complete(values, times, run)
        places = [place for place, value in enumerate(values) if value is not None]
        if times is not None:
            times = [times[place] for place in places]
        completed: list[Any] = [None] * len(values)
        present = self.shape.complete([values[place] for place in places], times, run)
        for place, value in zip(places, present, strict=True):
            completed[place] = value
        return completed


_Shape = _Leaf | _Object | _List | _Nullable


class FastExecutor(MeteredExecutor):
    """Carries out an operation. Its answers are those of `MeteredExecutor`."""

    def complete_list_value(
        self,
        return_type: GraphQLList[GraphQLOutputType],
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: None,
    ) -> AwaitableOrValue[list[Any]]:
        if type(result) is list and result and not self.middleware_manager:
            completed = self._completed(return_type.of_type, field_details_list, info, result)
            if completed is not None:
                return completed
        return super().complete_list_value(
            return_type, field_details_list, info, path, result, position_context
        )

    def _completed(
        self,
        item_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        objects: list[Any],
    ) -> list[dict[str, Any]] | None:
        """The completed objects of a list; None when they are for graphql-core to complete."""
        spent = 0
        completed: list[dict[str, Any]] = []
        try:
            shape = self._shape(item_type, field_details_list)
            if not isinstance(shape, _Object):
                return None
            for start in range(0, len(objects), _CHUNK):
                run = _Run(info)
                completed += shape.rows(objects[start : start + _CHUNK], None, run)
                self.context_value.budget.spend(run.spent)
                spent += run.spent
        except Exception:
            # Whatever it was, graphql-core meets it again, and says what becomes of it.
            self.context_value.budget.refund(spent)
            return None
        return completed

    def _shape(
        self, type: GraphQLOutputType, field_details_list: FieldDetailsList
    ) -> _Shape | None:
        """What is selected of values of this type; None when that is more than attributes."""
        if not isinstance(type, GraphQLNonNull):
            shape = self._non_null_shape(type, field_details_list)
            return _Nullable(shape) if shape else None
        return self._non_null_shape(type.of_type, field_details_list)

    def _non_null_shape(
        self, type: GraphQLOutputType, field_details_list: FieldDetailsList
    ) -> _Shape | None:
        if isinstance(type, GraphQLScalarType):
            return _Leaf(type) if type.name in _SCALARS else None
        if isinstance(type, GraphQLList):
            item = self._shape(type.of_type, field_details_list)
            return _List(item) if item else None
        if isinstance(type, GraphQLObjectType):
            return self._object_shape(type, field_details_list)
        return None

    def _object_shape(
        self, type: GraphQLObjectType, field_details_list: FieldDetailsList
    ) -> _Object | None:
        selected, new_defer_usages, _ = self.collect_subfields(type, field_details_list)
        if new_defer_usages:
            return None
        fields: list[tuple[str, Callable[[Any], Any] | None, _Shape]] = []
        for key, details in selected.items():
            name = details[0].node.name.value
            if name == "__typename":
                fields.append((key, None, _Leaf(GraphQLString)))
                continue
            read = _attribute(type, name)
            shape = self._shape(type.fields[name].type, details) if read else None
            if shape is None:
                return None
            fields.append((key, read, shape))
        return _Object(type, tuple(fields))


@lru_cache(maxsize=1_000)
def _attribute(type: GraphQLObjectType, name: str) -> Callable[[Any], Any] | None:
    """How a field is read of an object, when it is an attribute and nothing more."""
    field = type.fields[name]
    # Strawberry's mark of a field without a resolver, a permission or an extension.
    if field.args or not getattr(field.resolve, "_is_default", False):
        return None
    definition = field.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]
    return attrgetter(definition.python_name)
