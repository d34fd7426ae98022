"""What the fast path takes over of graphql-core, which promises nothing about it: a new version
that has changed it fails here first, and not in an answer."""

import inspect

import pytest
from graphql import Executor, GraphQLObjectType

from schema import schema
from schema.fast_path import FastExecutor, _attribute
from schema.metered import MeteredExecutor

_COMPLETE = "(self, return_type, field_details_list, info, path, result, position_context)"
TAKEN_OVER: dict[str, str] = {
    "collect_subfields": "(self, return_type, field_details_list)",
    "complete_leaf_value": "(return_type, result)",
    "complete_list_value": _COMPLETE,
    "complete_object_value": _COMPLETE,
}
"""The methods of graphql-core's Executor that the fast path overrides or calls, and their
parameters."""


def parameters(method: str) -> str:
    found = inspect.signature(getattr(Executor, method))
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


@pytest.mark.parametrize("method", TAKEN_OVER)
def test_a_method_that_is_taken_over_has_the_parameters_that_it_had(method: str) -> None:
    assert parameters(method) == TAKEN_OVER[method]


def test_nothing_else_is_taken_over() -> None:
    own = vars(FastExecutor).keys() | vars(MeteredExecutor).keys()
    overridden = {name for name in own if hasattr(Executor, name) and not name.startswith("__")}
    assert overridden <= {*TAKEN_OVER}


def test_a_plain_field_has_the_mark_that_strawberry_gives_it() -> None:
    """Without it nothing would be fast any more."""
    project = schema._schema.type_map["Project"]
    assert isinstance(project, GraphQLObjectType)
    plain = {name for name in project.fields if _attribute(project, name)}
    assert plain == project.fields.keys() - {"assignments"}


def test_what_is_remembered_of_fields_is_bounded() -> None:
    assert _attribute.cache_parameters()["maxsize"] == 1_000
