"""Writing teams and their members: what an operator does, not a client."""

from dataclasses import replace

from data.clock import now
from data.entities import Membership, Team
from data.errors import Refused, conflict
from data.guards import IS_NEW
from data.items import encode
from data.stamps import created
from data.store import ConditionFailed, Store

__all__ = ["add_member", "create_team"]


async def create_team(store: Store, team: Team) -> Team:
    """Stores a new team. Raises Refused (CONFLICT) when there is one with this id."""
    new = created(team)
    try:
        await store.put(encode(team.id, new), IS_NEW)
    except ConditionFailed as failed:
        # After a lost answer it is this very item.
        if failed.item != encode(team.id, new):
            raise Refused(conflict(f"there is a team {team.id} already", "id")) from None
    return new


async def add_member(store: Store, member: Membership) -> Membership:
    """Stores a membership; one that is there gets the new role."""
    new = replace(member, joined_at=member.joined_at or now())
    await store.put(encode(member.team_id, new), None)
    return new
