"""Who is asking: the object types of the viewer."""

import strawberry

from resolvers import viewer
from schema.types import CREATED, JOINED, Role

__all__ = ["CalendarFeed", "Viewer", "ViewerTeam"]


@strawberry.type(description="A team that the viewer belongs to.")
class ViewerTeam:
    id: strawberry.ID = strawberry.field(
        description="Opaque and stable; of this entry, not of its team."
    )
    team_id: strawberry.ID = strawberry.field(description="The id of the team: that of its `Team`.")
    joined_at: str | None = strawberry.field(description=JOINED)
    is_current: bool = strawberry.field(description="Whether it is the team of this session.")

    @strawberry.field(description="What the viewer may do in it.")
    @staticmethod
    def role(parent: strawberry.Parent[viewer.ViewerTeam]) -> Role:
        return Role.of(parent.role)

    @strawberry.field(description="What people call it; its id when it has never been named.")
    @staticmethod
    async def name(parent: strawberry.Parent[viewer.ViewerTeam]) -> str:
        return await parent.name()


@strawberry.type(
    description="That whoever has its address may read one calendar, until it is deleted."
)
class CalendarFeed:
    id: strawberry.ID = strawberry.field(description="Opaque and stable; never changes.")
    subject_id: strawberry.ID = strawberry.field(
        description="The id of the resource or project whose calendar it is. It may be gone."
    )
    user_id: strawberry.ID = strawberry.field(description="Who made it, as sessions have it.")
    created_at: str | None = strawberry.field(description=CREATED)


@strawberry.type(description="Who is asking.")
class Viewer:
    id: strawberry.ID = strawberry.field(description="The user id of the session.")

    @strawberry.field(description="What this user may do in the team of the session.")
    @staticmethod
    def role(parent: strawberry.Parent[viewer.Viewer]) -> Role:
        return Role.of(parent.role)

    @strawberry.field(
        description="The teams that this user belongs to, by id. That of the session is always "
        "among them, with the role that counts in it; the others are those whose membership is "
        "stored, and a new one shows a moment late."
    )
    @staticmethod
    async def teams(parent: strawberry.Parent[viewer.Viewer]) -> list[ViewerTeam]:
        return await parent.teams()  # type: ignore[return-value]

    @strawberry.field(
        description="The calendar feeds that this user made in the team of the session, in the "
        "order of their creation; to an admin, those of all its users. Their addresses are not "
        "known any more."
    )
    @staticmethod
    async def calendar_feeds(parent: strawberry.Parent[viewer.Viewer]) -> list[CalendarFeed]:
        return await parent.calendar_feeds()  # type: ignore[return-value]
