"""What can be listened to."""

from collections.abc import AsyncGenerator
from typing import Annotated, cast

import strawberry

from resolvers import changes
from resolvers.context import RequestContext
from schema.changes import TeamChanges

__all__ = ["Subscription"]

Since = Annotated[
    str | None,
    strawberry.argument(
        description="A cursor of an earlier subscription, of any server: what happened since comes "
        "first. Left out, it begins now."
    ),
]


@strawberry.type(description="What can be listened to, over WebSocket or server-sent events.")
class Subscription:
    @strawberry.subscription(
        description="Every change of the team of the session: each version of each object at most "
        "once, and none twice. The first answer comes at once; it may have no changes, as one may "
        "that brings a newer cursor."
    )
    async def team_changed(
        self, info: strawberry.Info[RequestContext, None], since: Since = None
    ) -> AsyncGenerator[TeamChanges, None]:
        return cast("AsyncGenerator[TeamChanges, None]", await changes.to_come(info.context, since))
