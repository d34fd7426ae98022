"""Execution that spends the operation's budget: each object put into an answer, and long text."""

from typing import Any, Final

from graphql import (
    Executor,
    GraphQLLeafType,
    GraphQLObjectType,
    GraphQLResolveInfo,
)
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import AwaitableOrValue, Path

__all__ = ["CHARACTERS_AN_OBJECT", "MeteredExecutor"]

CHARACTERS_AN_OBJECT: Final = 100
"""Text counts as an object for each so many characters."""


class MeteredExecutor(Executor[None]):
    """graphql-core's executor for a RequestContext. What an answer will hold can't be told from
    the document, so it is counted where it is put in. Raises Overspent."""

    def release(self) -> None:
        """To be called at the end. The helpers of resolvers hold the executor, and it holds them:
        a cycle for the garbage collector, with all that the operation had."""
        del self.async_helpers

    def complete_object_value(
        self,
        return_type: GraphQLObjectType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: None,
    ) -> AwaitableOrValue[dict[str, Any]]:
        self.context_value.budget.spend(1)
        return super().complete_object_value(
            return_type, field_details_list, info, path, result, position_context
        )

    def complete_leaf_value(self, return_type: GraphQLLeafType, result: Any) -> Any:  # type: ignore[override]
        completed = super().complete_leaf_value(return_type, result)
        if type(completed) is str and len(completed) >= CHARACTERS_AN_OBJECT:
            self.context_value.budget.spend(len(completed) // CHARACTERS_AN_OBJECT)
        return completed
