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

# An index follows the table within milliseconds; an id that never was is looked for no longer.
_LOOKS: Final = (0.0, 0.03, 0.1)


async def find(store: Store, team_id: str, id: str) -> tuple[Item, Assignment] | None:
    """The assignment with this id, and its item; None when there is none. A miss may be a lag, so
    it is looked for a few times, briefly."""
    for pause in _LOOKS if is_id(id) else ():
        await asyncio.sleep(pause)
        if found := await look(store, team_id, id):
            return found
    return None


async def find_keys(store: Store, team_id: str, id: str) -> list[str]:
    """The sort keys that `byId` has for an assignment's id, looked for as `find` does."""
    for pause in _LOOKS if is_id(id) else ():
        await asyncio.sleep(pause)
        if keys := await sort_keys(store, team_id, id):
            return keys
    return []


async def look(store: Store, team_id: str, id: str) -> tuple[Item, Assignment] | None:
    """What `find` does, once."""
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
