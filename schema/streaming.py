"""Carrying out a subscription: one answer for each batch of changes that its source brings.

Subscribers of one team who ask the same share what is made of a batch: with two hundred browsers
on twenty teams, an answer is put together twenty times and not two hundred.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Final, cast

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLError,
    Node,
    OperationDefinitionNode,
    OperationType,
    VariableNode,
    create_source_event_stream,
)

from data.live import Batch, Subscription
from resolvers.context import RequestContext
from schema.errors import Places, answer_error
from schema.execution import Answer, Document, answer_of, build, refused
from schema.json_bytes import json_bytes
from schema.limits import Limits
from schema.nodes import children

__all__ = ["ResponseStream", "SharedAnswers", "subscribe"]

_NO_SUBSCRIPTION: Final = "this operation is no subscription"


class SharedAnswers:
    """Answers that several subscribers get, by what makes them equal. Only the latest, so many and
    of so many bytes: whoever is later makes their own."""

    def __init__(self, *, max_answers: int = 1_000, max_bytes: int = 16 * 1024 * 1024) -> None:
        self._max_answers = max_answers
        self._max_bytes = max_bytes
        self._bytes = 0
        self._answers: OrderedDict[Hashable, asyncio.Task[bytes]] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """The answer with this key, made if it is not there. It is made to its end even if who
        asked first goes away: others may wait for it."""
        task = self._answers.get(key)
        if task is None:
            task = self._answers[key] = asyncio.ensure_future(make())
            task.add_done_callback(lambda done: self._made(key, done))
        return await asyncio.shield(task)

    def _made(self, key: Hashable, task: asyncio.Task[bytes]) -> None:
        if task.cancelled() or task.exception():
            self._answers.pop(key, None)
        else:
            self._bytes += len(task.result())
        while self._bytes > self._max_bytes or len(self._answers) > self._max_answers:
            key, oldest = next(iter(self._answers.items()))
            if not oldest.done() or oldest.cancelled() or oldest.exception():
                break  # It makes room itself.
            self._bytes -= len(self._answers.pop(key).result())


@dataclass(frozen=True, slots=True)
class _Operation:
    """What is carried out for each batch, and how: all that decides about its answers."""

    document: Document
    values: dict[str, Any]
    name: str | None
    correlation_id: str
    suggestions: bool

    async def answer(self, batch: Batch, context: RequestContext) -> bytes:
        """The JSON of the answer to a batch."""
        try:
            executor = build(
                self.document,
                context,
                self.values,
                self.name,
                root_value=batch,
                suggestions=self.suggestions,
                fast_path=True,
            )
            if not isinstance(executor, Answer):
                executor = await answer_of(executor, self.document, self.correlation_id)
            return json_bytes(executor.body)
        finally:
            context.release()

    @property
    def key(self) -> Hashable:
        """Equal for operations whose answers to a batch are equal: the document is one that is
        remembered, and the arguments of the subscription itself are no part of it."""
        node = cast("DocumentNode", self.document.node)
        below = _variables_below(node)
        # One that is null is not one that is left out, which has its default.
        used = {name: self.values[name] for name in sorted(below & self.values.keys())}
        return _Identical(node), self.name, json_bytes(used)


class _Identical:
    """Equal to what stands for the same object, which lives as long as this does."""

    __slots__ = ("_object",)

    def __init__(self, object: object) -> None:
        self._object = object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identical) and other._object is self._object

    def __hash__(self) -> int:
        return id(self._object)


class ResponseStream:
    """The answers of a subscription, each the JSON of one response map. Raises what its source
    does: FellBehind, Unavailable."""

    def __init__(
        self,
        source: Subscription,
        operation: _Operation,
        make_context: Callable[[], RequestContext],
        shared: SharedAnswers,
    ) -> None:
        self._source = source
        self._operation = operation
        self._key = operation.key
        self._make_context = make_context
        self._shared = shared

    def __aiter__(self) -> "ResponseStream":
        return self

    async def __anext__(self) -> bytes:
        batch = await anext(self._source)
        return await self._shared.get(
            (batch.key, self._key), lambda: self._operation.answer(batch, self._make_context())
        )

    async def aclose(self) -> None:
        """Ends the subscription."""
        await self._source.aclose()


async def subscribe(
    document: Document,
    make_context: Callable[[], RequestContext],
    *,
    variables: Mapping[str, Any] | None,
    operation_name: str | None,
    correlation_id: str,
    limits: Limits,
    shared: SharedAnswers,
    suggestions: bool = False,
) -> Answer | ResponseStream:
    """Begins a subscription: its answers to come, or the one answer that says why not. Each answer
    has a context, and so a budget, of its own; `shared` has those of others."""
    values = dict(variables or {})
    if refusal := refused(document, operation_name, values, limits):
        return refusal
    definition = cast("OperationDefinitionNode", document.operation(operation_name))
    if definition.operation is not OperationType.SUBSCRIPTION:
        return _failed(GraphQLError(_NO_SUBSCRIPTION, definition), document, correlation_id)
    context = make_context()
    try:
        executor = build(
            document, context, values, operation_name, suggestions=suggestions, fast_path=True
        )
        if isinstance(executor, Answer):
            return executor
        try:
            stream = create_source_event_stream(executor)
            source = await stream if isawaitable(stream) else stream
        finally:
            executor.release()
    finally:
        context.release()
    if isinstance(source, ExecutionResult):
        return _failed((source.errors or [])[0], document, correlation_id)
    operation = _Operation(document, values, operation_name, correlation_id, suggestions)
    return ResponseStream(cast("Subscription", source), operation, make_context, shared)


def _failed(error: GraphQLError, document: Document, correlation_id: str) -> Answer:
    return Answer({"errors": [answer_error(error, correlation_id, Places(document.node))]}, False)


def _variables_below(document: DocumentNode) -> set[str]:
    """The variables that are used below the fields of the root, or decide about them. Those in the
    arguments of these fields are for the source alone."""
    left: list[Node] = []
    for definition in document.definitions:
        if not isinstance(definition, OperationDefinitionNode):
            left.append(definition)
            continue
        for selection in definition.selection_set.selections:
            if isinstance(selection, FieldNode):
                left += selection.directives or ()
                left += (selection.selection_set,) if selection.selection_set else ()
            else:
                left.append(selection)
    names: set[str] = set()
    while left:
        node = left.pop()
        if isinstance(node, VariableNode):
            names.add(node.name.value)
        left += children(node)
    return names
