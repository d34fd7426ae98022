"""Carrying out one operation: parse, validate, execute; and what the answer holds.

Knows GraphQL and no HTTP. A document is parsed and validated once and remembered, bounded.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import isawaitable
from typing import Any, Final, cast

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSyntaxError,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
    OperationType,
    get_operation_ast,
    parse,
    specified_rules,
    validate,
)
from graphql.validation.rules import overlapping_fields_can_be_merged
from graphql.validation.validate import ValidationAbortedError

from resolvers.budget import Overspent
from resolvers.context import RequestContext
from schema import schema
from schema.errors import Places, answer_error, request_error
from schema.fast_path import FastExecutor
from schema.limits import Limits, exceeded, exceeded_by_document, exceeded_by_variables
from schema.metered import MeteredExecutor

__all__ = ["Answer", "Document", "answer_of", "build", "carry_out", "prepare", "refused"]

_CORE: Final = schema._schema
# A frontend has some dozens of documents of a few kB. A parsed one takes a hundred times its text:
# this many of the longest are some tens of MB. What is longer is nobody's daily work.
_REMEMBERED_DOCUMENTS: Final = 128
_LONGEST_REMEMBERED: Final = 4_000
# Comparing fields that may overlap is quadratic. graphql-core gives up after so many steps, by a
# default that takes it a second; real operations need hundreds.
overlapping_fields_can_be_merged.MAX_COMPLEXITY_BUDGET = 20_000
# More help nobody; each is placed by counting the lines of the document, and may repeat a large
# value of it.
_MAX_ERRORS: Final = 10
_NO_STREAM: Final = (
    "A subscription has many answers: ask for it over WebSocket (graphql-transport-ws), or with "
    "`Accept: text/event-stream`."
)
_CHARACTERS_A_TOKEN: Final = 20
_PARSER_LIMIT: Final = re.compile("Document contains more than|Document is nested too deeply")
_CLOSED_RULES: Final = (*specified_rules, NoSchemaIntrospectionCustomRule)


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was parsed and validated. With errors it can't be carried out."""

    node: DocumentNode | None
    errors: tuple[GraphQLError, ...] = ()

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        """What would be carried out; None with errors, or when the name does not pick one."""
        return None if self.errors or not self.node else get_operation_ast(self.node, name)


@dataclass(frozen=True, slots=True)
class Answer:
    """The response map. `executed` is False for a request error: there is no `data` at all."""

    body: dict[str, Any]
    executed: bool


def prepare(query: str, *, limits: Limits, introspection: bool) -> Document:
    """Parses, measures and validates a document. Without introspection, errors suggest no names
    either."""
    if len(query) > _LONGEST_REMEMBERED:
        return _prepared(query, limits, introspection)
    return _remembered(query, limits, introspection)


def _prepared(query: str, limits: Limits, introspection: bool) -> Document:
    longest = limits.tokens * _CHARACTERS_A_TOKEN
    if len(query) > longest:
        # Each error is placed by counting the lines of the document.
        return Document(None, (exceeded(f"A document may have at most {longest} characters."),))
    try:
        node = parse(query, max_tokens=limits.tokens)
        if error := exceeded_by_document(_CORE, node, limits):
            return Document(node, (error,))
        errors = validate(
            _CORE,
            node,
            specified_rules if introspection else _CLOSED_RULES,
            max_errors=_MAX_ERRORS,
            hide_suggestions=not introspection,
        )
    except GraphQLError as error:
        return Document(None, (_refined(error),))
    except RecursionError:
        return Document(None, (exceeded("The document is nested too deeply."),))
    if not introspection:
        # One of GraphQL's rules suggests all the same.
        for found in errors:
            found.message = found.message.partition(" Did you mean ")[0]
    return Document(node, tuple(map(_refined, errors)))


def _refined(error: GraphQLError) -> GraphQLError:
    """The same error to remember: known as the limit that it is where it is one of graphql-core's
    own, and without the stack of the request that met it, which would stay in memory with all that
    the request had."""
    if isinstance(error, ValidationAbortedError):
        return exceeded("The document is too complex, or has too many errors, to be validated.")
    # The parser has no class for it.
    if isinstance(error, GraphQLSyntaxError) and _PARSER_LIMIT.search(error.message):
        return exceeded(error.message.removeprefix("Syntax Error: "))
    for each in (error, error.original_error):
        if each is not None:
            each.__traceback__ = each.__cause__ = each.__context__ = None
    return error


_remembered = lru_cache(_REMEMBERED_DOCUMENTS)(_prepared)


def _refused(errors: tuple[GraphQLError, ...], document: DocumentNode | None = None) -> Answer:
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
    limits: Limits,
    suggestions: bool = False,
    fast_path: bool = True,
) -> Answer:
    """Executes the query or mutation of a document that has no errors of its own. What is wrong
    with its variables suggests names of the schema only with `suggestions`. The answer is the same
    with and without `fast_path`. When it takes more than the context's budget it is stopped: a
    write may have been done, or done in part where it has parts, as after any lost answer."""
    values = dict(variables or {})
    if refusal := refused(document, operation_name, values, limits):
        return refusal
    operation = document.operation(operation_name)
    if operation and operation.operation is OperationType.SUBSCRIPTION:
        return _refused((GraphQLError(_NO_STREAM),))
    executor = build(
        document, context, values, operation_name, suggestions=suggestions, fast_path=fast_path
    )
    if isinstance(executor, Answer):
        return executor
    return await answer_of(executor, document, correlation_id)


def refused(
    document: Document, operation_name: str | None, values: Mapping[str, Any], limits: Limits
) -> Answer | None:
    """The answer to what can't be carried out, whatever it is: a document with errors, a name that
    picks no operation, or values beyond the limits. None for all else."""
    if document.node is None or document.errors:
        return _refused(document.errors, document.node)
    if document.operation(operation_name) is None:
        message = (
            "Must provide operation name if query contains multiple operations."
            if operation_name is None
            else "The document has no operation of this name."
        )
        return _refused((GraphQLError(message),))
    if error := exceeded_by_variables(values, limits):
        return _refused((error,))
    return None


def build(
    document: Document,
    context: RequestContext,
    values: dict[str, Any],
    operation_name: str | None,
    *,
    root_value: Any = None,
    suggestions: bool,
    fast_path: bool,
) -> MeteredExecutor | Answer:
    """The executor of an operation; or the answer to variables that the document does not take."""
    node = cast("DocumentNode", document.node)
    executor = (FastExecutor if fast_path else MeteredExecutor).build(
        _CORE,
        node,
        root_value=root_value,
        context_value=context,
        raw_variable_values=values,
        operation_name=operation_name,
        max_coercion_errors=_MAX_ERRORS,
        hide_suggestions=not suggestions,
    )
    if isinstance(executor, list):
        return _refused(tuple(executor), node)
    return cast("MeteredExecutor", executor)


async def answer_of(executor: MeteredExecutor, document: Document, correlation_id: str) -> Answer:
    """Executes, within the budget of the executor's context, and releases the executor."""
    context: RequestContext = executor.context_value
    try:
        async with asyncio.timeout(context.budget.seconds_left) as timeout:
            try:
                executed = executor.execute_operation()
                result = cast(
                    "ExecutionResult", await executed if isawaitable(executed) else executed
                )
            finally:
                executor.release()
    except TimeoutError:
        if not timeout.expired():
            raise
        return _stopped(context.budget.out_of_time())
    except Overspent as overspent:
        return _stopped(overspent)
    errors = result.errors or []
    if result.data is None and errors and all(error.path is None for error in errors):
        return _refused(tuple(errors), document.node)
    body: dict[str, Any] = {"data": result.data}
    if errors:
        places = Places(document.node)
        body["errors"] = [answer_error(error, correlation_id, places) for error in errors]
    if warnings := context.warnings:
        body["extensions"] = {"warnings": warnings}
    return Answer(body, True)


def _stopped(reason: Overspent) -> Answer:
    """The answer of an operation that was stopped in the middle: no data is better than a part
    that looks like the whole."""
    return Answer(
        {"data": None, "errors": [request_error(exceeded(reason.message), Places(None))]}, True
    )
