"""Carrying out one operation: parse, validate, execute; and what the answer holds.

Knows GraphQL and no HTTP. A document is parsed and validated once and remembered, bounded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import isawaitable
from typing import Any, Final

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    NoSchemaIntrospectionCustomRule,
    OperationType,
    execute,
    get_operation_ast,
    parse,
    specified_rules,
    validate,
)

from resolvers.context import RequestContext
from schema import schema
from schema.errors import Places, answer_error, request_error

__all__ = ["Answer", "Document", "carry_out", "prepare", "refused"]

_CORE: Final = schema._schema
# A frontend has some dozens of documents of a few kB. A parsed one takes a hundred times its text:
# this many of the longest are some tens of MB. What is longer is nobody's daily work.
_REMEMBERED_DOCUMENTS: Final = 128
_LONGEST_REMEMBERED: Final = 4_000
_CLOSED_RULES: Final = (*specified_rules, NoSchemaIntrospectionCustomRule)


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was parsed and validated. With errors it can't be carried out."""

    node: DocumentNode | None
    errors: tuple[GraphQLError, ...] = ()

    def operation_type(self, name: str | None) -> OperationType | None:
        """Query or mutation; None when the name does not pick one operation of the document."""
        operation = get_operation_ast(self.node, name) if self.node else None
        return operation.operation if operation else None


@dataclass(frozen=True, slots=True)
class Answer:
    """The response map. `executed` is False for a request error: there is no `data` at all."""

    body: dict[str, Any]
    executed: bool


def prepare(query: str, *, max_tokens: int, introspection: bool) -> Document:
    """Parses and validates a document. Without introspection, errors suggest no names either."""
    if len(query) > _LONGEST_REMEMBERED:
        return _prepared(query, max_tokens, introspection)
    return _remembered(query, max_tokens, introspection)


def _prepared(query: str, max_tokens: int, introspection: bool) -> Document:
    try:
        node = parse(query, max_tokens=max_tokens)
        errors = validate(
            _CORE,
            node,
            specified_rules if introspection else _CLOSED_RULES,
            hide_suggestions=not introspection,
        )
    except GraphQLError as error:
        return Document(None, (error,))
    except RecursionError:
        return Document(None, (GraphQLError("the document is nested too deeply"),))
    return Document(node, tuple(errors))


_remembered = lru_cache(_REMEMBERED_DOCUMENTS)(_prepared)


def refused(errors: tuple[GraphQLError, ...], document: DocumentNode | None = None) -> Answer:
    """The answer to a request whose document or variables are at fault."""
    places = Places(document)
    return Answer({"errors": [request_error(error, places) for error in errors]}, False)


async def carry_out(
    document: Document,
    context: RequestContext,
    *,
    variables: Mapping[str, Any] | None,
    operation_name: str | None,
    correlation_id: str,
) -> Answer:
    """Executes the operation of a document that has no errors of its own."""
    if document.node is None or document.errors:
        return refused(document.errors, document.node)
    if document.operation_type(operation_name) is None:
        message = (
            "Must provide operation name if query contains multiple operations."
            if operation_name is None
            else "The document has no operation of this name."
        )
        return refused((GraphQLError(message),))
    executed = execute(
        _CORE,
        document.node,
        context_value=context,
        variable_values=dict(variables or {}),
        operation_name=operation_name,
    )
    result: ExecutionResult = await executed if isawaitable(executed) else executed
    errors = result.errors or []
    if result.data is None and errors and all(error.path is None for error in errors):
        return refused(tuple(errors), document.node)
    body: dict[str, Any] = {"data": result.data}
    if errors:
        places = Places(document.node)
        body["errors"] = [answer_error(error, correlation_id, places) for error in errors]
    if warnings := context.warnings:
        body["extensions"] = {"warnings": warnings}
    return Answer(body, True)
