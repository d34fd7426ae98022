"""From the headers of a request to the session it carries: a user in a team, with a role.

    strategy   user                   team and role
    jwt        the token's claim      its claims; PLANNER_MEMBERSHIP=table: the membership, if any
    database   the session's item     the user's only membership; so with jwt and no team claim

Whatever is wrong with a token is answered with one and the same message; a good token without a
good team is another matter, and says so. See docs/adr/0014-memberships.md.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from starlette.datastructures import Headers

from data.entities import Membership
from data.errors import Forbidden, Unauthenticated, Unavailable
from data.members import find_membership, memberships_of
from data.sessions import find_session
from data.store import Store
from resolvers.session import Session
from server.authjs import InvalidToken, cookie_name
from server.cache import BriefCache
from server.claims import TokenReader
from server.session_token import session_token
from server.settings import MembershipSource, Settings

__all__ = ["NO_TEAM", "SEVERAL_TEAMS", "UNAUTHENTICATED", "Authenticator"]

UNAUTHENTICATED: Final = "Sign in: this request carries no valid session."
# The same for a team that is not there: a session can't find out which teams exist.
NO_TEAM: Final = "You belong to no team, or not to the one that this session names."
SEVERAL_TEAMS: Final = "You belong to several teams, and this session names none of them."


class Authenticator:
    """Reads sessions. With the strategy `jwt` and a trusted team claim it is pure computation;
    otherwise it asks the store, and remembers memberships for some seconds, but never sessions."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        tokens: TokenReader | None,
        *,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """`tokens` reads those of the strategy `jwt`; None for `database`. `clock` gives epoch
        seconds, and `ticks` the seconds that memberships are remembered by."""
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._cookie_name = cookie_name(secure=settings.secure_cookies)
        # Without a token that names a team, it is always the table that says who belongs to it.
        self._table_decides = settings.membership is MembershipSource.TABLE or tokens is None
        self._asks_table = settings.membership is MembershipSource.TABLE
        seconds = settings.membership_seconds
        self._memberships = BriefCache[tuple[str, str], Membership](seconds, clock=ticks)
        self._only = BriefCache[str, Membership](seconds, clock=ticks)

    async def authenticate(self, headers: Headers) -> Session:
        """The session of a request with these headers.

        Raises Unauthenticated, with one message for every reason, where there is no valid token;
        Forbidden where a valid one leads to no team; Unavailable where the store can't be asked.
        """
        try:
            token = session_token(headers, self._cookie_name)
            if self._tokens is None:
                return await self._by_membership(await self._user_of(token))
            claims = self._tokens.read(token)
        except InvalidToken as error:
            raise Unauthenticated(UNAUTHENTICATED) from error
        if claims.team_id is None:
            return await self._by_membership(claims.user_id)
        if self._asks_table:
            return _session(await self._membership(claims.team_id, claims.user_id))
        return Session(user_id=claims.user_id, team_id=claims.team_id, role=claims.role)

    async def knows(self, headers: Headers) -> bool:
        """Whether the headers have a session that may be used."""
        try:
            await self.authenticate(headers)
        except (Unauthenticated, Forbidden):
            return False
        return True

    async def still_belongs(self, team_id: str, user_id: str) -> bool:
        """Whether somebody who was in the team is so still, as far as the table decides that. It
        is remembered as memberships of sessions are. Raises Unavailable."""
        if not self._table_decides:
            return True
        try:
            await self._membership(team_id, user_id)
        except Forbidden:
            return False
        return True

    async def until_it_ends(self, headers: Headers, session: Session, *, every: float) -> str:
        """Waits until the session that the headers carried is there no more, or is another, and
        says which. It is looked at `every` so many seconds; a store that can't be asked ends
        nothing."""
        while True:
            await asyncio.sleep(every)
            with suppress(Unavailable):
                try:
                    if await self.authenticate(headers) != session:
                        return "The team, the user or the role of this session has changed"
                except (Unauthenticated, Forbidden):
                    return "This session has ended"

    async def _user_of(self, token: str) -> str:
        """The user of a token of the strategy `database`. Looked up each time, so that signing
        out counts at once."""
        session = await find_session(self._store, token)
        if session is None or session.expires <= self._clock():
            raise InvalidToken("no such session, or expired")
        return session.user_id

    async def _by_membership(self, user_id: str) -> Session:
        """The session of a user in their only team."""
        return _session(await self._only.get(user_id, lambda: self._find_only(user_id)))

    async def _find_only(self, user_id: str) -> Membership:
        match (await memberships_of(self._store, user_id)).members:
            case []:
                raise Forbidden(NO_TEAM)
            case [only] if self._asks_table:
                # The index may still have what is gone from the table.
                return await self._find(only.team_id, user_id)
            case [only]:
                return only
        raise Forbidden(SEVERAL_TEAMS)

    async def _membership(self, team_id: str, user_id: str) -> Membership:
        key = (team_id, user_id)
        return await self._memberships.get(key, lambda: self._find(team_id, user_id))

    async def _find(self, team_id: str, user_id: str) -> Membership:
        found = await find_membership(self._store, team_id, user_id)
        if found is None:
            raise Forbidden(NO_TEAM)
        return found


def _session(membership: Membership) -> Session:
    return Session(user_id=membership.user_id, team_id=membership.team_id, role=membership.role)
