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

__all__ = ["Finder", "find_keys", "look", "sort_keys"]

# An index follows the table, mostly within milliseconds.
_LOOKS: Final = (0.0, 0.03)


class Finder:
    """Finds assignments of one team, for one request. What the index does not know may be a lag,
    and then the table itself is asked. That reads all the team's assignments, so a request with
    more than one write that finds nothing asks for all ids there are, and does so once."""

    def __init__(self, store: Store, team_id: str) -> None:
        self._store = store
        self._team_id = team_id
        self._searched_in_vain = False
        self._ids: set[str] | None = None

    async def find(self, id: str) -> tuple[Item, Assignment] | None:
        """The assignment with this id, and its item; None when there is none, for certain, at a
        moment of this request."""
        [found] = await self.find_all([id])
        return found

    async def find_all(self, ids: Sequence[str]) -> list[tuple[Item, Assignment] | None]:
        """The same for several ids, at most 100, in their order: what the index does not know of
        them is looked for together."""
        wanted = [id for id in dict.fromkeys(ids) if is_id(id)]
        found: dict[str, tuple[Item, Assignment]] = {}
        for pause in _LOOKS:
            if missing := [id for id in wanted if id not in found]:
                await asyncio.sleep(pause)
                looks = await asyncio.gather(
                    *(look(self._store, self._team_id, id) for id in missing)
                )
                found |= {id: each for id, each in zip(missing, looks, strict=True) if each}
        if missing := [id for id in wanted if id not in found]:
            found |= await self._search(missing)
        return [found.get(id) for id in ids]

    def expect(self, id: str) -> None:
        """From now on this id may be there: it is being created."""
        if self._ids is not None:
            self._ids.add(id)

    def removed(self, id: str) -> None:
        """This id is there no more, and comes back only by being created."""
        if self._ids is not None:
            self._ids.discard(id)

    async def _search(self, ids: Sequence[str]) -> dict[str, tuple[Item, Assignment]]:
        found: dict[str, tuple[Item, Assignment]] = {}
        # Twice, and all ids as well: one that moves while the pages are read can be in none.
        for again in (False, True):
            missing = [id for id in ids if id not in found]
            if again and missing and self._searched_in_vain and self._ids is None:
                there = [await _all_ids(self._store, self._team_id) for _ in range(2)]
                self._ids = there[0] | there[1]
            if self._ids is not None:
                missing = [id for id in missing if id in self._ids]
            if missing:
                found |= await _search(self._store, self._team_id, missing)
        self._searched_in_vain = self._searched_in_vain or len(found) < len(ids)
        return found


async def _search(
    store: Store, team_id: str, ids: Sequence[str]
) -> dict[str, tuple[Item, Assignment]]:
    """What the table has of these ids, strongly consistent, for the price of reading all the
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


async def _all_ids(store: Store, team_id: str) -> set[str]:
    """The ids of all assignments, strongly consistent, for the same price."""
    query = KeyQuery(
        "#pk = :pk AND begins_with(#sk, :assignments)",
        {":pk": s(team_pk(team_id)), ":assignments": s(ASSIGNMENT)},
        projection=("id",),
    )
    pages = store.pages(query, consistent=True)
    return {item["id"]["S"] async for page in pages for item in page if "S" in item.get("id", {})}


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
