"""Columns: the values of one field of many objects, completed together.

The shape of a column says what is selected of its values, and completes them: they are checked at
once by the set of their types. A column of related objects has few different ones (50 people in
5,000 assignments); each is completed once, field by field and each field as a column again, and
shared. `times` says how often each value stands in the answer, so that the budget counts what the
answer holds and not what was done.

Whatever is not as it should be - a null that may not be, a value of another type, an exception, an
awaitable - is `Irregular`, and not for shapes to handle: see `schema.fast_path`, which makes them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, islice
from typing import Any, Final

from graphql import GraphQLObjectType, GraphQLResolveInfo, GraphQLScalarType, Undefined

from schema.metered import CHARACTERS_AN_OBJECT

__all__ = ["SCALARS", "Irregular", "Leaf", "List", "Nullable", "Object", "Run", "Shape", "Times"]

SCALARS: Final[dict[str, tuple[type, bool]]] = {
    "Boolean": (bool, False),
    "Date": (date, True),
    "ID": (str, False),
    "Int": (int, False),
    "String": (str, False),
}
"""Of each scalar the type of its usual values, and whether they are converted. graphql-core
converts others too, or refuses them; that is left to it."""

_SMALLEST, _LARGEST = -(2**31), 2**31 - 1

Times = Sequence[int] | None
"""How often each value of a column stands in the answer; None says once."""


class Irregular(Exception):
    """The values are not what the selection says; graphql-core is to complete them."""


class Run:
    """The completion of one chunk; `spent` is what it adds to the answer, as the budget counts."""

    def __init__(self, info: GraphQLResolveInfo[Any]) -> None:
        self.info = info
        self.spent = 0


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar."""

    type: GraphQLScalarType

    def complete(self, values: list[Any], times: Times, run: Run) -> Iterable[Any]:
        expected, is_converted = SCALARS[self.type.name]
        if set(map(type, values)) - {expected}:
            raise Irregular
        if (
            expected is int
            and not _SMALLEST <= min(values, default=0) <= max(values, default=0) <= _LARGEST
        ):
            raise Irregular
        if is_converted:
            converted = {value: self.type.coerce_output_value(value) for value in set(values)}
            return map(converted.__getitem__, values)
        if expected is str and max(map(len, values), default=0) >= CHARACTERS_AN_OBJECT:
            sizes = [len(value) // CHARACTERS_AN_OBJECT for value in values]
            run.spent += sum(sizes if times is None else map(int.__mul__, sizes, times))
        return values


@dataclass(frozen=True, slots=True)
class Object:
    """A related object, with what is selected of it: response key, attribute (None for
    `__typename`) and shape of each field, in order."""

    type: GraphQLObjectType
    fields: tuple[tuple[str, Callable[[Any], Any] | None, "Shape"], ...]

    def complete(self, values: list[Any], times: Times, run: Run) -> Iterable[Any]:
        if times is None:
            counts = Counter(values)
        else:
            counts = Counter()
            for value, count in zip(values, times, strict=True):
                counts[value] += count
        rows = self.rows(list(counts), list(counts.values()), run)
        return map(dict(zip(counts, rows, strict=True)).__getitem__, values)

    def rows(self, objects: list[Any], times: Times, run: Run) -> list[dict[str, Any]]:
        """The completed objects."""
        is_type_of = self.type.is_type_of
        # What an object is, is a question of its class: one of each is asked.
        for each in {type(each): each for each in objects}.values():
            if each is None or each is Undefined or isinstance(each, Exception):
                raise Irregular
            if run.info.is_awaitable(each):
                raise Irregular
            if is_type_of and is_type_of(each, run.info) is not True:
                raise Irregular
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
class List:
    """A list within an object."""

    item: "Shape"

    def complete(self, values: list[Any], times: Times, run: Run) -> Iterable[Any]:
        if set(map(type, values)) - {list, tuple}:
            raise Irregular
        lengths = list(map(len, values))
        if times is not None:
            times = [count for count, n in zip(times, lengths, strict=True) for _ in range(n)]
        items = iter(self.item.complete(list(chain.from_iterable(values)), times, run))
        return [list(islice(items, length)) for length in lengths]


@dataclass(frozen=True, slots=True)
class Nullable:
    """A value that may be null."""

    shape: "Shape"

    def complete(self, values: list[Any], times: Times, run: Run) -> Iterable[Any]:
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


Shape = Leaf | Object | List | Nullable
