"""Deleting an owner with all its assignments (access pattern #9, concern A3).

Three steps, each of which may be repeated: mark the owner, so that it and its assignments are gone
from reads and no writer adds to it; list its assignments from the table itself; delete them in
transactions, the owner in the last one. See docs/adr/0005-cascade.md.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from data.clock import new_id, now
from data.entities import EntityType, Owner, Resource
from data.errors import Refused, not_found
from data.expressions import Expression, Item, Key, KeyQuery, s
from data.guards import EXISTS
from data.items import key_in, table_key
from data.keys import ASSIGNMENT, project_sk, resource_sk, team_pk
from data.store import ConditionFailed, Store, TransactionCanceled
from data.transactions import MAX_ACTIONS, Check, Delete

__all__ = ["Cascades", "delete_owner", "finish_deletion"]

log = structlog.get_logger(__name__)

_MARKED: Final = Expression("attribute_exists(#sk) AND attribute_exists(#deletingAt)")


async def delete_owner(store: Store, team_id: str, type: type[Owner], id: str) -> tuple[str, ...]:
    """Deletes a resource or project and its assignments, however many; returns the ids of the
    assignments that this call deleted. Raises Refused (NOT_FOUND). Ended midway, the owner stays
    marked, nothing of it shows where owners are read, and the same call finishes the work."""
    mark = Expression("SET #deletingAt = if_not_exists(#deletingAt, :now)", {":now": s(now())})
    try:
        await store.update(_key(team_id, type, id), mark, EXISTS)
    except ConditionFailed:
        raise Refused(not_found(f"there is no such {type.__name__.lower()}", "id")) from None
    return await finish_deletion(store, team_id, type, id)


async def finish_deletion(
    store: Store, team_id: str, type: type[Owner], id: str
) -> tuple[str, ...]:
    """Deletes what is left of an owner that is marked, and returns the ids of its assignments that
    this call deleted. Nothing is deleted of one that is not marked, or no longer: somebody else
    may have finished, and the client made a new one under the same id."""
    attribute = "resourceId" if type is Resource else "projectId"
    belongs = Expression(f"#{attribute} = :owner", {":owner": s(id)})
    key = _key(team_id, type, id)
    items = await _assignments(store, team_id, belongs)
    deleted: list[str] = []
    # One action of each transaction is the owner's: the guard that it is still marked, and in the
    # last one its end.
    room = MAX_ACTIONS - 1
    for start in range(0, max(len(items), 1), room):
        chunk = items[start : start + room]
        is_last = start + room >= len(items)
        owner = Delete(key, _MARKED) if is_last else Check(key, _MARKED)
        gone = await _delete_chunk(store, chunk, belongs, owner)
        if gone is None:
            break
        deleted += gone
    return tuple(deleted)


def _key(team_id: str, type: type[Owner], id: str) -> Key:
    return table_key(team_id, resource_sk(id) if type is Resource else project_sk(id))


async def _assignments(store: Store, team_id: str, belongs: Expression) -> list[Item]:
    """The owner's assignments: keys and ids only. From the table and strongly consistent, since
    an index may not have those that were written just before the mark."""
    query = KeyQuery(
        "#pk = :pk AND begins_with(#sk, :assignments)",
        {
            ":pk": s(team_pk(team_id)),
            ":assignments": s(ASSIGNMENT),
            ":type": s(EntityType.ASSIGNMENT),
            **belongs.values,
        },
        filter=f"#EntityType = :type AND {belongs.text}",
        projection=("pk", "sk", "id"),
    )
    # Page by page: the cap on what a client may read is none on what may be deleted.
    return [item async for page in store.pages(query, consistent=True) for item in page]


async def _delete_chunk(
    store: Store, items: Sequence[Item], belongs: Expression, owner: Check | Delete
) -> list[str] | None:
    """Deletes the items that still belong to the owner, in one transaction; returns their ids, or
    None when the owner is no longer marked. One that was moved away or deleted by somebody else
    meanwhile is spared, and not returned."""
    left = list(items)
    while True:
        deletes = [Delete(key_in(each), belongs) for each in left]
        try:
            await store.transact([*deletes, owner], token=new_id())
        except TransactionCanceled as canceled:
            *failed, is_unmarked = [reason.condition_failed for reason in canceled.reasons]
            if is_unmarked:
                return None
            left = [item for item, gone in zip(left, failed, strict=True) if not gone]
        else:
            return [each["id"]["S"] for each in left if "S" in each.get("id", {})]


class Cascades:
    """Finishes deletions that were left behind, in the background, each one once at a time.
    `finished` and `failed` count how they ended so far."""

    def __init__(self, store: Store) -> None:
        self.finished = 0
        self.failed = 0
        self._store = store
        self._tasks: dict[tuple[str, type[Owner], str], asyncio.Task[None]] = {}

    def finish(self, team_id: str, owner: Owner) -> None:
        """Begins to finish the deletion of the owner, unless that is under way."""
        key = (team_id, type(owner), owner.id)
        if key not in self._tasks:
            task = asyncio.create_task(self._finish(team_id, owner))
            self._tasks[key] = task
            task.add_done_callback(lambda _: self._tasks.pop(key, None))

    @property
    def under_way(self) -> int:
        """How many deletions are being finished."""
        return len(self._tasks)

    async def aclose(self) -> None:
        """Waits for what is under way."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _finish(self, team_id: str, owner: Owner) -> None:
        try:
            deleted = await finish_deletion(self._store, team_id, type(owner), owner.id)
        except Exception:
            # It stays marked, so the next read that sees it begins again.
            self.failed += 1
            log.exception("deletion not finished", id=owner.id)
        else:
            self.finished += 1
            log.info("deletion finished", id=owner.id, assignments=len(deleted))
