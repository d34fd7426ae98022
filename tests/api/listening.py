"""A subscriber of the application's own feed, without a wire."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette

from data.entities import Role
from resolvers.budget import Budget
from resolvers.context import RequestContext
from resolvers.session import Session
from schema.execution import Answer, prepare
from schema.streaming import ResponseStream, SharedAnswers, subscribe
from server.operations import Operations
from server.settings import Settings

__all__ = ["CHANGES", "Listener", "answer_to", "listening_to"]

CHANGES = """subscription($since: String) { teamChanged(since: $since) { cursor changes {
  kind entityType entityId version changedBy changedAt
  entity { __typename id
    ... on Assignment { startDate endDate note resourceId projectId version }
    ... on Resource { name } ... on Project { name color } ... on Membership { userId role }
  }
} } }"""

_PATIENCE = 20.0


class Listener:
    """What is told, answer by answer."""

    def __init__(self, stream: ResponseStream) -> None:
        self.stream = stream
        self.cursor = ""

    async def answer(self) -> dict[str, Any]:
        """The next answer."""
        async with asyncio.timeout(_PATIENCE):
            answer: dict[str, Any] = json.loads(await anext(self.stream))
        return answer

    async def changes(self, count: int) -> list[dict[str, Any]]:
        """The next changes, so many of them and no more."""
        found: list[dict[str, Any]] = []
        while len(found) < count:
            told = (await self.answer())["data"]["teamChanged"]
            found += told["changes"]
            self.cursor = told.get("cursor", "")
        assert len(found) == count, found
        return found


async def answer_to(
    app: Starlette,
    settings: Settings,
    team: str,
    query: str = CHANGES,
    *,
    shared: SharedAnswers | None = None,
    made: list[RequestContext] | None = None,
    **variables: Any,
) -> Answer | ResponseStream:
    """What subscribing comes to. Each context that is made for an answer is put into `made`."""
    operations: Operations = app.state.operations
    session = Session(user_id="user-1", team_id=team, role=Role.VIEWER)

    def context() -> RequestContext:
        limits = settings.limits
        new = RequestContext(
            session,
            app.state.store,
            app.state.cascades,
            Budget(objects=limits.objects, seconds=limits.seconds),
            live=operations.live,
        )
        if made is not None:
            made.append(new)
        return new

    given: Mapping[str, Any] = variables
    return await subscribe(
        prepare(query, limits=settings.limits, introspection=True),
        context,
        variables=given,
        operation_name=None,
        correlation_id="c",
        limits=settings.limits,
        shared=shared or SharedAnswers(),
    )


@asynccontextmanager
async def listening_to(
    app: Starlette, settings: Settings, team: str, query: str = CHANGES, **options: Any
) -> AsyncIterator[Listener]:
    """A subscriber that has had its first answer."""
    stream = await answer_to(app, settings, team, query, **options)
    assert isinstance(stream, ResponseStream), stream
    listener = Listener(stream)
    try:
        if "since" not in options:
            first = await listener.answer()
            assert first["data"]["teamChanged"].get("changes", []) == []
            listener.cursor = first["data"]["teamChanged"].get("cursor", "")
        yield listener
    finally:
        await stream.aclose()
