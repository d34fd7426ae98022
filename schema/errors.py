"""Errors as clients see them: the one place where an exception becomes part of an answer.

What the planner raises on purpose keeps its message and code. What GraphQL itself says of a
document or of variables is BAD_USER_INPUT. Everything else is masked: INTERNAL, with a correlation
id that the log has too. No text of any other exception is ever part of an answer.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import structlog
from graphql import (
    ArgumentNode,
    DocumentNode,
    GraphQLError,
    Node,
    ObjectFieldNode,
    SelectionSetNode,
    ValueNode,
)

from data.errors import BadInput, LimitExceeded, PlannerError
from schema.nodes import children

__all__ = ["Places", "answer_error", "request_error"]

log = structlog.get_logger(__name__)

_AT_VARIABLE = re.compile(r"^Variable '\$(\w+)' has invalid value(?: at ([\w.\[\]]+))?:")
_WORD = re.compile(r"\w+")
_NAMED = re.compile(r"(?:required|unknown) field '(\w+)'|^Argument '(\w+)'")
_LONGEST_MESSAGE = 500
# Fewer selection sets can't exhaust Python's stack, however they are nested.
_SHALLOW = 20


class Places:
    """Where the nodes of a document stand below its arguments and input fields. The document is
    walked once for all its errors, and not at all when there is none to place."""

    def __init__(self, document: DocumentNode | None) -> None:
        self._document = document

    def of(self, node: Node) -> list[str]:
        """The names of arguments and input fields on the way to the node, outermost first."""
        return list(self._paths.get(id(node), ()))

    @property
    def may_be_deep(self) -> bool:
        """Whether the document has so many selection sets that they can be nested too deeply."""
        return sum(isinstance(node, SelectionSetNode) for node, _ in self._nodes()) >= _SHALLOW

    @cached_property
    def _paths(self) -> dict[int, tuple[str, ...]]:
        return {id(node): path for node, path in self._nodes() if path}

    def _nodes(self) -> Iterator[tuple[Node, tuple[str, ...]]]:
        """Every node with its path."""
        # A stack of our own: a document may be nested deeper than Python's.
        left: list[tuple[Node, tuple[str, ...]]] = [(self._document, ())] if self._document else []
        while left:
            node, path = left.pop()
            if isinstance(node, ArgumentNode | ObjectFieldNode):
                path = (*path, node.name.value)
            yield node, path
            left += ((each, path) for each in children(node))


def request_error(error: GraphQLError, places: Places) -> dict[str, Any]:
    """A fault of the request: its document, its variables, or a limit that they exceed.
    `extensions.field` is the path of the argument or input field, where there is one. Raises what
    is a fault of ours after all: an exception of a scalar that is none about the value."""
    code, message = BadInput.code, error.message
    match cause := _cause(error):
        case None:
            pass
        case PlannerError():
            code, message = cause.code, cause.message
        case ValueError():
            message = "a value can't be read"  # Such as a number of 5,000 digits.
        case _:
            raise RuntimeError("a value of the request could not be read") from cause
    extensions: dict[str, Any] = {"code": code}
    field = _field(error, places)
    if field:
        extensions["field"] = [name[:_LONGEST_MESSAGE] for name in field]
    return _formatted(error, message, extensions)


def answer_error(error: GraphQLError, correlation_id: str, places: Places) -> dict[str, Any]:
    """A fault met while the operation was carried out."""
    cause = _cause(error)
    if isinstance(cause, PlannerError):
        extensions: dict[str, Any] = {"code": cause.code}
        if isinstance(cause, BadInput) and cause.field:
            extensions["field"] = list(cause.field)
        return _formatted(error, cause.message, extensions)
    if isinstance(cause, RecursionError) and places.may_be_deep:
        return _formatted(error, "the operation is nested too deeply", {"code": LimitExceeded.code})
    # Arguments are coerced while a field is carried out, yet are the client's words: GraphQL then
    # points to the value in the document, and to the field when anything else is wrong.
    if cause is None and error.nodes and isinstance(error.nodes[0], ValueNode):
        return request_error(error, places)
    log.error(
        "operation failed",
        correlation_id=correlation_id,
        path=error.path,
        reason=error.message,
        exc_info=cause or error,
    )
    extensions = {"code": PlannerError.code, "correlationId": correlation_id}
    return _formatted(error, "Internal error", extensions)


def _formatted(error: GraphQLError, message: str, extensions: dict[str, Any]) -> dict[str, Any]:
    formatted: dict[str, Any] = {"message": message[:_LONGEST_MESSAGE]}
    if error.locations:
        formatted["locations"] = [location.formatted for location in error.locations]
    if error.path:
        formatted["path"] = error.path
    return formatted | {"extensions": extensions}


def _cause(error: GraphQLError) -> Exception | None:
    """The exception below any number of GraphQLErrors that carry it."""
    cause: Exception | None = error.original_error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    return cause


def _field(error: GraphQLError, places: Places) -> list[str]:
    path = _path(error, places)
    # Some messages name what is missing, or was not expected, below the place they point to.
    named = _NAMED.search(error.message)
    return [*path, named[1] or named[2]] if named else path


def _path(error: GraphQLError, places: Places) -> list[str]:
    if match := _AT_VARIABLE.match(error.message):
        variable, at = match.groups()
        return [variable, *_WORD.findall(at or "")]
    return places.of(error.nodes[0]) if error.nodes else []
