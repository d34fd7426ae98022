"""Who is asking, the teams they belong to, and their calendar feeds. The teams are the one read
that leaves the session's team, for the caller's own memberships and the names of those teams."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from data.decoding import SkipCode
from data.entities import CalendarFeed, EntityType, Role
from data.feeds import feeds_of
from data.members import find_team, memberships_of
from data.store import Store
from resolvers.global_ids import membership_id, to_global_id
from resolvers.session import Session

__all__ = ["CalendarFeedNode", "Viewer", "ViewerTeam", "feed_node"]


@dataclass(slots=True, eq=False, kw_only=True)
class ViewerTeam:
    """A team of the viewer's. Its name is read when it is asked for. Its id is not that of the
    team: clients that cache by id alone would take the two for one object."""

    id: str
    team_id: str
    role: Role
    joined_at: str | None
    is_current: bool
    name: Callable[[], Awaitable[str]]


@dataclass(slots=True, eq=False, kw_only=True)
class CalendarFeedNode:
    """A feed as clients see it. `subject_id` is the global id of its resource or project."""

    id: str
    subject_id: str
    user_id: str
    created_at: str | None


def feed_node(feed: CalendarFeed) -> CalendarFeedNode:
    """The node of a stored feed."""
    if feed.resource_id is not None:
        subject_id = to_global_id(EntityType.RESOURCE, feed.resource_id)
    else:
        subject_id = to_global_id(EntityType.PROJECT, feed.project_id or "")
    return CalendarFeedNode(
        id=to_global_id(EntityType.CALENDAR_FEED, feed.id),
        subject_id=subject_id,
        user_id=feed.user_id,
        created_at=feed.created_at,
    )


class Viewer:
    """The session's user. Belongs to one request, and reads a thing once however often it is
    selected. `skipped` counts the items that could not be read so far."""

    def __init__(self, session: Session, store: Store) -> None:
        self.id = session.user_id
        self.role = session.role
        self.skipped: Counter[SkipCode] = Counter()
        self._session = session
        self._store = store
        self._teams: asyncio.Task[list[ViewerTeam]] | None = None
        self._names: dict[str, asyncio.Task[str]] = {}
        self._feeds: asyncio.Task[list[CalendarFeedNode]] | None = None

    async def teams(self) -> list[ViewerTeam]:
        """The teams by id. The session's own is always among them: it may come from a claim, and
        a new membership reaches the index a moment late. Its role is the one that counts now."""
        if self._teams is None:
            self._teams = asyncio.ensure_future(self._load_teams())
        return await self._teams

    async def calendar_feeds(self) -> list[CalendarFeedNode]:
        """The feeds that the user made in the session's team, to an admin all of the team; in the
        order of their creation."""
        if self._feeds is None:
            self._feeds = asyncio.ensure_future(self._load_feeds())
        return await self._feeds

    async def _load_feeds(self) -> list[CalendarFeedNode]:
        user_id = None if self.role is Role.ADMIN else self.id
        found = await feeds_of(self._store, self._session.team_id, user_id=user_id)
        self.skipped += found.skipped
        return list(map(feed_node, found.feeds))

    async def _load_teams(self) -> list[ViewerTeam]:
        found = await memberships_of(self._store, self.id)
        self.skipped += found.skipped
        current = self._session.team_id
        joined = {each.team_id: each.joined_at for each in found.members}
        roles = {each.team_id: each.role for each in found.members} | {current: self.role}
        return [
            ViewerTeam(
                id=to_global_id("ViewerTeam", membership_id(team_id, self.id)),
                team_id=to_global_id(EntityType.TEAM, team_id),
                role=roles[team_id],
                joined_at=joined.get(team_id),
                is_current=team_id == current,
                name=partial(self._name, team_id),
            )
            for team_id in sorted(roles)
        ]

    async def _name(self, team_id: str) -> str:
        if team_id not in self._names:
            self._names[team_id] = asyncio.ensure_future(self._load_name(team_id))
        return await self._names[team_id]

    async def _load_name(self, team_id: str) -> str:
        found = await find_team(self._store, team_id)
        self.skipped += found.skipped
        return found.teams[0].name if found.teams else team_id
