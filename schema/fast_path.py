"""The fast path of execution: lists of plain objects, completed column by column.

GraphQL completes a list object by object, and each object field by field. For 5,000 assignments
with five fields, two of them related objects with fields of their own, that is some hundred
thousand calls, and nearly all of the time of an answer. Most such lists are of one kind: whatever
is selected of their objects is an attribute that is already there. Those are turned around here:

1. graphql-core asks `FastExecutor.complete_list_value` to complete a list. `_shape` looks at what
   is selected of its objects, fragments and directives included, and compiles it; or says None
   when anything in it is more than an attribute: an argument, a resolver, an interface.
2. The objects are completed together. Each selected field is a column (`schema.columns`): its
   attribute is read of all objects in one C loop (`map(attrgetter(…), objects)`), the values are
   completed at once, and put into the rows.
3. What is not as it should be is not handled here: it leaves the whole list to graphql-core, which
   knows what becomes of it. So one place decides about errors, and it is not this one.

The answer is the same, byte for byte: tests/fast_path holds the two against each other with random
documents. `PLANNER_FAST_PATH=off` leaves everything to graphql-core. What is overridden is
internal to it, so tests/unit/schema/test_fast_path.py says what is relied upon.
"""

from collections.abc import Callable
from functools import lru_cache
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
)
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import AwaitableOrValue, Path
from strawberry.schema.schema_converter import GraphQLCoreConverter

from schema.columns import SCALARS, Leaf, List, Nullable, Object, Run, Shape
from schema.metered import MeteredExecutor

__all__ = ["FastExecutor"]

_CHUNK: Final = 1_000
"""So many objects of a list are completed before the budget is looked at again."""


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
            if not isinstance(shape, Object):
                return None
            for start in range(0, len(objects), _CHUNK):
                run = Run(info)
                completed += shape.rows(objects[start : start + _CHUNK], None, run)
                self.context_value.budget.spend(run.spent)
                spent += run.spent
        except Exception:
            # Whatever it was, graphql-core meets it again, and says what becomes of it.
            self.context_value.budget.refund(spent)
            return None
        return completed

    def _shape(self, type: GraphQLOutputType, field_details_list: FieldDetailsList) -> Shape | None:
        """What is selected of values of this type; None when that is more than attributes."""
        if not isinstance(type, GraphQLNonNull):
            shape = self._non_null_shape(type, field_details_list)
            return Nullable(shape) if shape else None
        return self._non_null_shape(type.of_type, field_details_list)

    def _non_null_shape(
        self, type: GraphQLOutputType, field_details_list: FieldDetailsList
    ) -> Shape | None:
        if isinstance(type, GraphQLScalarType):
            return Leaf(type) if type.name in SCALARS else None
        if isinstance(type, GraphQLList):
            item = self._shape(type.of_type, field_details_list)
            return List(item) if item else None
        if isinstance(type, GraphQLObjectType):
            return self._object_shape(type, field_details_list)
        return None

    def _object_shape(
        self, type: GraphQLObjectType, field_details_list: FieldDetailsList
    ) -> Object | None:
        selected, new_defer_usages, _ = self.collect_subfields(type, field_details_list)
        if new_defer_usages:
            return None
        fields: list[tuple[str, Callable[[Any], Any] | None, Shape]] = []
        for key, details in selected.items():
            name = details[0].node.name.value
            if name == "__typename":
                fields.append((key, None, Leaf(GraphQLString)))
                continue
            read = _attribute(type, name)
            shape = self._shape(type.fields[name].type, details) if read else None
            if shape is None:
                return None
            fields.append((key, read, shape))
        return Object(type, tuple(fields))


@lru_cache(maxsize=1_000)
def _attribute(type: GraphQLObjectType, name: str) -> Callable[[Any], Any] | None:
    """How a field is read of an object, when it is an attribute and nothing more."""
    field = type.fields[name]
    # Strawberry's mark of a field without a resolver, a permission or an extension.
    if field.args or not getattr(field.resolve, "_is_default", False):
        return None
    definition = field.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]
    return attrgetter(definition.python_name)
