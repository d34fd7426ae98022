"""The comparison finds what a fast path can get wrong: each of these does one thing wrong."""

from typing import Any, ClassVar

import pytest
from graphql import Undefined, located_error
from graphql.pyutils import is_awaitable
from hypothesis import HealthCheck, Phase, given, settings

import schema.execution
from schema.metered import MeteredExecutor
from tests.fast_path.runs import Case, prepared, see
from tests.fast_path.test_same_answers import cases

# graphql-core itself gives up awaitables of an answer that has failed or overspent meanwhile. Where
# one is collected in a frame without builtins (a named tuple is made), Python can't even warn.
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited",
    "ignore:Exception ignored in. <coroutine:pytest.PytestUnraisableExceptionWarning",
)


class WithoutTypename(MeteredExecutor):
    def execute_field(self, parent_type: Any, source: Any, details: Any, *rest: Any) -> Any:
        if details[0].node.name.value == "__typename":
            return Undefined
        return super().execute_field(parent_type, source, details, *rest)


class CachedForAllVariables(MeteredExecutor):
    known: ClassVar[dict[Any, Any]] = {}

    def collect_subfields(self, return_type: Any, details: Any) -> Any:
        nodes = tuple(each.node for each in details)
        key = (return_type.name, *map(id, nodes))
        if key not in self.known:
            self.known[key] = nodes, super().collect_subfields(return_type, details)
        return self.known[key][1]


class FirstNodeOnly(MeteredExecutor):
    """Of a key that is selected in two places."""

    def collect_subfields(self, return_type: Any, details: Any) -> Any:
        return super().collect_subfields(return_type, details[:1])


class OneAliasOfAField(MeteredExecutor):
    def execute_fields(self, parent: Any, source: Any, path: Any, groups: Any, context: Any) -> Any:
        names = {each[0].node.name.value: key for key, each in groups.items()}
        kept = {key: each for key, each in groups.items() if key in names.values()}
        return super().execute_fields(parent, source, path, kept, context)


class KeysInOrder(MeteredExecutor):
    def execute_fields(self, parent: Any, source: Any, path: Any, groups: Any, context: Any) -> Any:
        return super().execute_fields(parent, source, path, dict(sorted(groups.items())), context)


class ErrorsWithoutPath(MeteredExecutor):
    def handle_field_error(self, raw: Any, type: Any, details: Any, path: Any) -> None:
        super().handle_field_error(located_error(raw, None, ["?"]), type, details, path)


class ErrorsAtOneNode(MeteredExecutor):
    def handle_field_error(self, raw: Any, type: Any, details: Any, path: Any) -> None:
        super().handle_field_error(raw, type, details[:1], path)


class NullsStayWhereTheyAre(MeteredExecutor):
    def handle_field_error(self, raw: Any, type: Any, details: Any, path: Any) -> None:
        super().handle_field_error(raw, getattr(type, "of_type", type), details, path)


class NullableThroughout(MeteredExecutor):
    def complete_value(self, type: Any, details: Any, info: Any, path: Any, *rest: Any) -> Any:
        if rest[0] is None:
            return None
        return super().complete_value(type, details, info, path, *rest)


class DaysByStr(MeteredExecutor):
    def complete_leaf_value(self, return_type: Any, result: Any) -> Any:  # type: ignore[override]
        if return_type.name == "Date":
            return str(result)
        return super().complete_leaf_value(return_type, result)


class TextUnchecked(MeteredExecutor):
    def complete_leaf_value(self, return_type: Any, result: Any) -> Any:  # type: ignore[override]
        if return_type.name in ("ID", "String"):
            return result
        return super().complete_leaf_value(return_type, result)


class AnyTypeOfObject(MeteredExecutor):
    def complete_object_value(
        self, type: Any, details: Any, info: Any, path: Any, result: Any, context: Any
    ) -> Any:
        return self.collect_and_execute_subfields(type, details, path, result, context)


class ExceptionsAreValues(MeteredExecutor):
    def complete_value(self, type: Any, details: Any, info: Any, path: Any, *rest: Any) -> Any:
        value = str(rest[0]) if isinstance(rest[0], Exception) else rest[0]
        return super().complete_value(type, details, info, path, value, *rest[1:])


class ReadTwice(MeteredExecutor):
    """What an attribute spends of the budget, it spends twice."""

    def execute_field(self, parent_type: Any, source: Any, *rest: Any) -> Any:
        if parent_type.name == "Team":
            getattr(source, "projects", None)
        return super().execute_field(parent_type, source, *rest)


class OneAfterTheOther(MeteredExecutor):
    """Awaits objects of a list in turn, not together."""

    def complete_iterable_value(
        self, type: Any, details: Any, info: Any, path: Any, items: Any, context: Any
    ) -> Any:
        items = list(items)
        complete = super().complete_iterable_value
        if not any(map(is_awaitable, items)):
            return complete(type, details, info, path, items, context)

        async def in_turn() -> Any:
            ready = [await each if is_awaitable(each) else each for each in items]
            return complete(type, details, info, path, ready, context)

        return in_turn()


SABOTAGES = [each for each in MeteredExecutor.__subclasses__() if each.__module__ == __name__]


@settings(
    max_examples=300,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(cases())
def look_for(left: set[type[MeteredExecutor]], cases: list[Case]) -> None:
    """Takes away what these requests tell from graphql-core."""
    document = prepared(cases[0].request)
    for case in cases if left else ():
        usual = see(case, document, fast_path=False)
        for wrong in {*left}:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(schema.execution, "FastExecutor", wrong)
                if see(case, document, fast_path=True) != usual:
                    left.remove(wrong)


def test_whatever_is_wrong_is_found_within_a_short_run() -> None:
    left = {*SABOTAGES}
    look_for(left)
    assert left == set()
    assert len(SABOTAGES) == 15
