"""From an assignment's id to its item: through the index `byId`, which lags behind the table."""

import asyncio
from typing import Final

from data.decoding import decode_as
from data.entities import Assignment
from data.expressions import Item, KeyQuery, s
from data.items import table_key
from data.keys import ASSIGNMENT, is_id, team_pk
from data.store import Store

__all__ = ["find", "find_keys", "look", "sort_keys"]

# An index follows the table, mostly within milliseconds.
_LOOKS: Final = (0.0, 0.03)


async def find(store: Store, team_id: str, id: str) -> tuple[Item, Assignment] | None:
    """The assignment with this id, and its item; None when there is none, for certain: what the
    index does not know may be a lag, and then the table itself is asked."""
    if not is_id(id):
        return None
    for pause in _LOOKS:
        await asyncio.sleep(pause)
        if found := await look(store, team_id, id):
            return found
    # Twice: one that moves while the pages are read can be in none of them.
    return await _search(store, team_id, id) or await _search(store, team_id, id)


async def _search(store: Store, team_id: str, id: str) -> tuple[Item, Assignment] | None:
    """What `find` does, in the table: strongly consistent, for the price of reading all the
    team's assignments."""
    query = KeyQuery(
        "#pk = :pk AND begins_with(#sk, :assignments)",
        {":pk": s(team_pk(team_id)), ":assignments": s(ASSIGNMENT), ":id": s(id)},
        filter="#id = :id",
    )
    async for page in store.pages(query, consistent=True):
        for item in page:
            if assignment := decode_as(item, Assignment):
                return item, assignment
    return None


async def find_keys(store: Store, team_id: str, id: str) -> list[str]:
    """The sort keys that `byId` has for an assignment's id; a miss is looked at again, briefly."""
    for pause in (*_LOOKS, 0.1) if is_id(id) else ():
        await asyncio.sleep(pause)
        if keys := await sort_keys(store, team_id, id):
            return keys
    return []


async def look(store: Store, team_id: str, id: str) -> tuple[Item, Assignment] | None:
    """What the index leads to, by one look."""
    for sk in await sort_keys(store, team_id, id):
        item = await store.get(table_key(team_id, sk))
        if item and (assignment := decode_as(item, Assignment)):
            return item, assignment
    return None


async def sort_keys(store: Store, team_id: str, id: str) -> list[str]:
    """The sort keys that `byId` has for an assignment's id: one, or two or none while it moves.
    Nothing is read from the table."""
    query = KeyQuery(
        "#id = :id AND #pk = :pk", {":id": s(id), ":pk": s(team_pk(team_id))}, index="byId"
    )
    keys = [item["sk"]["S"] for item in await store.query(query)]
    # The index holds keys only; a resource or project may have the same id.
    return [key for key in keys if key.startswith(ASSIGNMENT)]
