"""From an assignment's id to its item: through the index `byId`, which lags behind the table."""

import asyncio
from collections.abc import Sequence
from typing import Final

from data.decoding import decode_as
from data.entities import Assignment
from data.expressions import Item, KeyQuery, s
from data.items import table_key
from data.keys import ASSIGNMENT, is_id, team_pk
from data.store import Store

__all__ = ["find", "find_all", "find_keys", "look", "sort_keys"]

# An index follows the table, mostly within milliseconds.
_LOOKS: Final = (0.0, 0.03)


async def find(store: Store, team_id: str, id: str) -> tuple[Item, Assignment] | None:
    """The assignment with this id, and its item; None when there is none, for certain: what the
    index does not know may be a lag, and then the table itself is asked."""
    [found] = await find_all(store, team_id, [id])
    return found


async def find_all(
    store: Store, team_id: str, ids: Sequence[str]
) -> list[tuple[Item, Assignment] | None]:
    """The same for several ids, at most 100, in their order: what the index does not know of them
    is looked for together."""
    wanted = [id for id in dict.fromkeys(ids) if is_id(id)]
    found: dict[str, tuple[Item, Assignment]] = {}
    for pause in _LOOKS:
        if missing := [id for id in wanted if id not in found]:
            await asyncio.sleep(pause)
            looks = await asyncio.gather(*(look(store, team_id, id) for id in missing))
            found |= {id: each for id, each in zip(missing, looks, strict=True) if each}
    # Twice: one that moves while the pages are read can be in none of them.
    for _ in range(2):
        if missing := [id for id in wanted if id not in found]:
            found |= await _search(store, team_id, missing)
    return [found.get(id) for id in ids]


async def _search(
    store: Store, team_id: str, ids: Sequence[str]
) -> dict[str, tuple[Item, Assignment]]:
    """What `find_all` does, in the table: strongly consistent, for the price of reading all the
    team's assignments."""
    values = {f":id{number}": s(id) for number, id in enumerate(ids)}
    query = KeyQuery(
        "#pk = :pk AND begins_with(#sk, :assignments)",
        {":pk": s(team_pk(team_id)), ":assignments": s(ASSIGNMENT), **values},
        filter=f"#id IN ({', '.join(values)})",
    )
    found: dict[str, tuple[Item, Assignment]] = {}
    async for page in store.pages(query, consistent=True):
        for item in page:
            if assignment := decode_as(item, Assignment):
                found[assignment.id] = (item, assignment)
        if len(found) == len(ids):
            break
    return found


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
