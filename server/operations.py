"""Carrying out one operation, by whatever way it came: what is between its envelope and its
answer."""

from contextlib import ExitStack

from graphql import GraphQLError, OperationDefinitionNode, OperationType

from data.cascade import Cascades
from data.errors import LimitExceeded
from data.live import LiveFeed
from data.store import Store
from resolvers.budget import Budget
from resolvers.context import RequestContext
from resolvers.session import Session
from schema.execution import Answer, Document, carry_out, prepare
from schema.streaming import ResponseStream, SharedAnswers, subscribe
from server.answers import problem
from server.envelope import Envelope, RequestRefused
from server.live_connections import LiveConnections
from server.observation import Observation
from server.settings import Settings
from server.trusted_documents import TrustedDocuments

__all__ = ["Operations", "is_subscription"]


class Operations:
    """Carries out operations with the limits of the settings. `live` is where subscriptions come
    from; None where there are none."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        cascades: Cascades,
        trusted: TrustedDocuments | None,
        connections: LiveConnections,
        *,
        live: LiveFeed | None,
    ) -> None:
        self.live = live
        self._connections = connections
        self._shared = SharedAnswers()
        self._settings = settings
        self._limits = settings.limits
        self._store = store
        self._cascades = cascades
        self._trusted = trusted

    def budget(self) -> Budget:
        """What one answer may take, from now on."""
        return Budget(objects=self._limits.objects, seconds=self._limits.seconds)

    def document(self, envelope: Envelope) -> Document:
        """The document that the envelope has or names. Raises RequestRefused where it may not be
        carried out here, whatever is in it."""
        if self._trusted is not None:
            known = self._trusted.find(envelope.query, envelope.document_id)
            if known is None:
                raise RequestRefused(
                    400, "This server carries out trusted documents only; this is none of them."
                )
            return known
        if envelope.query is None:
            raise RequestRefused(400, "This server has no trusted documents: send `query`.")
        try:
            # A lone surrogate is no text; graphql-core would trip over it in some places.
            envelope.query.encode()
        except UnicodeEncodeError:
            return Document(None, (GraphQLError("the document has a lone surrogate"),))
        return prepare(
            envelope.query,
            limits=self._limits,
            introspection=self._settings.introspection,
        )

    async def carry_out(
        self,
        document: Document,
        envelope: Envelope,
        session: Session,
        budget: Budget,
        seen: Observation,
    ) -> Answer:
        """The answer to a query, a mutation, or what is neither."""
        context = self._context(session, budget, seen)
        with seen.carrying_out(document.operation(envelope.operation_name), context) as answered:
            try:
                answer = await carry_out(
                    document,
                    context,
                    variables=envelope.variables,
                    operation_name=envelope.operation_name,
                    correlation_id=seen.correlation_id,
                    limits=self._limits,
                    suggestions=self._settings.introspection,
                    fast_path=self._settings.fast_path,
                )
            finally:
                context.release()
            answered(answer)
        return answer

    async def subscribe(
        self,
        document: Document,
        envelope: Envelope,
        session: Session,
        seen: Observation,
        until_it_ends: ExitStack,
    ) -> Answer | ResponseStream:
        """The answers to a subscription, or the one that refuses it. It counts as one of the team's
        until the stack is closed."""

        def next_context() -> RequestContext:
            context = self._context(session, self.budget(), seen)
            seen.goes_on(context)
            return context

        first = self._context(session, self.budget(), seen)
        with seen.carrying_out(document.operation(envelope.operation_name), first) as answered:
            try:
                until_it_ends.enter_context(self._connections.subscription(session.team_id))
                found = await subscribe(
                    document,
                    next_context,
                    variables=envelope.variables,
                    operation_name=envelope.operation_name,
                    correlation_id=seen.correlation_id,
                    limits=self._limits,
                    shared=self._shared,
                    suggestions=self._settings.introspection,
                )
            except LimitExceeded as error:
                found = Answer(problem(error.message, error.code), False)
            if isinstance(found, Answer):
                answered(found)
        return found

    def _context(self, session: Session, budget: Budget, seen: Observation) -> RequestContext:
        settings = self._settings
        return RequestContext(
            session,
            self._store.metered(seen.meter),
            self._cascades,
            budget,
            max_feeds=settings.max_calendar_feeds if settings.calendar else 0,
            live=self.live,
        )


def is_subscription(operation: OperationDefinitionNode | None) -> bool:
    """Whether the operation has answers without an end."""
    return operation is not None and operation.operation is OperationType.SUBSCRIPTION
