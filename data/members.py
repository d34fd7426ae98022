"""Teams and their members: who belongs where, and what an operator writes."""

from collections.abc import AsyncIterator

from msgspec.structs import replace

from data.clock import new_id, now
from data.entities import EntityType, Membership, Team
from data.errors import Refused, conflict, not_found
from data.expressions import KeyQuery, s
from data.guards import EXISTS, IS_NEW
from data.items import encode, table_key
from data.keys import META, TEAM, TEAMS, membership_sk, team_in, user_pk
from data.partition import Partition, split
from data.stamps import created
from data.store import ConditionFailed, Store, TransactionCanceled
from data.tombstones import tombstone, was_done
from data.transactions import Action, Delete

__all__ = [
    "add_member",
    "create_team",
    "find_membership",
    "find_team",
    "memberships_of",
    "remove_member",
    "team_ids",
]


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
    """Stores a membership; one that is there gets the new role, and keeps when it began."""
    moment = now()
    there = await find_membership(store, member.team_id, member.user_id)
    joined_at = member.joined_at or (there.joined_at if there else moment)
    new = replace(member, joined_at=joined_at, updated_at=moment)
    await store.put(encode(member.team_id, new), None)
    return new


async def remove_member(store: Store, team_id: str, user_id: str) -> None:
    """Deletes a membership. Raises Refused (NOT_FOUND) when there is none."""
    actions: list[Action] = [
        Delete(table_key(team_id, membership_sk(user_id)), EXISTS),
        tombstone(team_id, EntityType.MEMBERSHIP, user_id, version=0, by=None),
    ]
    try:
        await store.transact(actions, token=new_id())
    except TransactionCanceled as canceled:
        if not was_done(actions, canceled.reasons):
            raise Refused(not_found(f"{user_id} is no member of {team_id}", "user")) from None


async def find_membership(store: Store, team_id: str, user_id: str) -> Membership | None:
    """The user's membership in the team, strongly consistent; None where there is none that can
    be read."""
    item = await store.get(table_key(team_id, membership_sk(user_id)))
    return next(iter(split([item] if item else []).members), None)


async def memberships_of(store: Store, user_id: str) -> Partition:
    """All teams that a user belongs to, in the order of their ids: `members`, and what was
    `skipped`. Read from the index `GSI1`, which lags behind the table.

    An Auth.js adapter has items of the user's in the same index partition when the id is also
    somebody's e-mail address; their sort key is another.
    """
    query = KeyQuery(
        "#GSI1PK = :user AND begins_with(#GSI1SK, :teams)",
        {":user": s(user_pk(user_id)), ":teams": s(TEAM)},
        index="GSI1",
    )
    return split(await store.query(query))


async def find_team(store: Store, team_id: str) -> Partition:
    """The team's own item, strongly consistent: `teams` has it, or `skipped` counts it."""
    item = await store.get(table_key(team_id, META))
    return split([item] if item else [])


async def team_ids(store: Store) -> AsyncIterator[str]:
    """The ids of all teams, in their order, for operators: what `GSI1` lists, which lags behind the
    table, and lacks teams whose item was written elsewhere until `planner backfill` was there."""
    query = KeyQuery("#GSI1PK = :teams", {":teams": s(TEAMS)}, index="GSI1")
    async for page in store.pages(query):
        for item in page:
            if (team_id := team_in(item["pk"]["S"])) is not None:
                yield team_id
