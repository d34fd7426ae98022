"""Sessions without Auth.js, for development: what `planner dev` signs in with, and what
`planner token` prints."""

import time
from datetime import timedelta

from data.errors import Refused, invalid
from data.members import find_membership, memberships_of
from data.sessions import start_session
from data.store import Store
from server.authjs import cookie_name, mint
from server.settings import Settings

__all__ = ["issue_stored", "issue_token"]


def issue_token(
    settings: Settings, secret: str, *, user_id: str, team_id: str, role: str, lifetime: timedelta
) -> str:
    """A token of the strategy `jwt`, as the server with these settings reads it."""
    return mint(
        secret,
        cookie_name=cookie_name(secure=settings.secure_cookies),
        user_id=user_id,
        team_id=team_id,
        role=role,
        lifetime=lifetime,
        now=time.time(),
        team_claim=settings.team_claim,
    )


async def issue_stored(store: Store, *, user_id: str, team_id: str, lifetime: timedelta) -> str:
    """Starts a session of the strategy `database` and returns its token. It names no team, so
    raises Refused unless this is the only one that the user belongs to."""
    teams = {each.team_id for each in (await memberships_of(store, user_id)).members}
    # The index may not have yet what was stored a moment ago; the table has it.
    if teams - {team_id} or not await find_membership(store, team_id, user_id):
        raise Refused(
            invalid(
                f"{user_id} has to belong to {team_id} and to no other team, since a session of "
                "the strategy `database` names none; `planner member add` makes members"
            )
        )
    return await start_session(store, user_id, expires=time.time() + lifetime.total_seconds())
