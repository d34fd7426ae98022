"""Deleting an owner with all its assignments (access pattern #9, concern A3).

Three steps, each of which may be repeated: mark the owner, so that it and its assignments are gone
from reads and no writer adds to it; list its assignments from the table itself; delete them in
transactions, the owner in the last one. Each leaves a tombstone behind, in the same transaction.
See docs/adr/0005-cascade.md and 0021-changes.md.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from data.attributes import version_of
from data.clock import new_id, now
from data.entities import EntityType, Owner, Project, Resource
from data.errors import Refused, not_found
from data.expressions import Expression, Item, Key, KeyQuery, s
from data.guards import EXISTS
from data.items import key_in, table_key
from data.keys import ASSIGNMENT, is_id, project_sk, resource_sk, team_pk
from data.rows import row_of
from data.store import ConditionFailed, Store, TransactionCanceled
from data.tombstones import tombstone, was_done
from data.transactions import MAX_ACTIONS, Check, Delete, Put

__all__ = ["Cascades", "delete_owner", "finish_deletion"]

log = structlog.get_logger(__name__)

_PER_TRANSACTION: Final = (MAX_ACTIONS - 2) // 2
"""Each assignment needs a Delete and its tombstone; so does the owner, in the last one."""

_TYPES: Final = {Resource: EntityType.RESOURCE, Project: EntityType.PROJECT}

_MARKED: Final = Expression("attribute_exists(#sk) AND attribute_exists(#deletingAt)")


async def delete_owner(
    store: Store, team_id: str, type: type[Owner], id: str, *, by: str
) -> tuple[str, ...]:
    """Deletes a resource or project and its assignments, however many; returns the ids of the
    assignments that this call deleted. `by` is the user who asks for it. Raises Refused
    (NOT_FOUND). Ended midway, the owner stays marked, nothing of it shows where owners are read,
    and the same call finishes the work."""
    # Whoever marks it wrote last, and is who deletes it, however it is finished.
    mark = Expression(
        "SET #deletingAt = if_not_exists(#deletingAt, :now), #updatedBy = :by",
        {":now": s(now()), ":by": s(by)},
    )
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
    key = _key(team_id, type, id)
    owner = await store.get(key)
    if owner is None or "deletingAt" not in owner:
        return ()
    work = _Work(store, team_id, "resourceId" if type is Resource else "projectId", id, owner)
    items = await work.assignments()
    end = (Delete(key, _MARKED), work.tombstone(_TYPES[type], id, owner))
    deleted: list[str] = []
    for start in range(0, max(len(items), 1), _PER_TRANSACTION):
        chunk = items[start : start + _PER_TRANSACTION]
        is_last = start + _PER_TRANSACTION >= len(items)
        gone = await work.delete(chunk, end if is_last else (Check(key, _MARKED),))
        if gone is None:
            break
        deleted += gone
    return tuple(deleted)


def _key(team_id: str, type: type[Owner], id: str) -> Key:
    return table_key(team_id, resource_sk(id) if type is Resource else project_sk(id))


class _Work:
    """What one deletion has to do: `owner` is the marked item, and `attribute` names it in its
    assignments."""

    def __init__(self, store: Store, team_id: str, attribute: str, id: str, owner: Item) -> None:
        self._store, self._team_id = store, team_id
        self._attribute, self._owner_id = attribute, s(id)
        self._by = owner.get("updatedBy", {}).get("S")

    def tombstone(self, type: EntityType, id: str, item: Item) -> Put:
        return tombstone(self._team_id, type, id, version=_version_in(item), by=self._by)

    async def assignments(self) -> list[Item]:
        """The owner's assignments: what their deletion needs of them. From the table and strongly
        consistent, since an index may not have those that were written just before the mark."""
        query = KeyQuery(
            "#pk = :pk AND begins_with(#sk, :assignments)",
            {
                ":pk": s(team_pk(self._team_id)),
                ":assignments": s(ASSIGNMENT),
                ":type": s(EntityType.ASSIGNMENT),
                ":owner": self._owner_id,
            },
            filter=f"#EntityType = :type AND #{self._attribute} = :owner",
            projection=("pk", "sk", "id", "version", self._attribute),
        )
        # Page by page: the cap on what a client may read is none on what may be deleted.
        return [item async for page in self._store.pages(query, consistent=True) for item in page]

    async def delete(
        self, items: Sequence[Item], owner: Sequence[Check | Delete | Put]
    ) -> list[str] | None:
        """Deletes the items that still belong to the owner, in one transaction with the actions
        for it, the guard first; returns their ids, or None when the owner is no longer marked. One
        that was moved away or deleted by somebody else meanwhile is spared, and not returned."""
        left = list(items)
        while True:
            deletes = [Delete(key_in(each), self._unchanged(each)) for each in left]
            named = [(id, each) for each in left if (id := _id_in(each))]
            tombstones = [self.tombstone(EntityType.ASSIGNMENT, id, each) for id, each in named]
            actions = [*owner, *deletes, *tombstones]
            try:
                await self._store.transact(actions, token=new_id())
            except TransactionCanceled as canceled:
                if not was_done(actions, canceled.reasons):
                    if canceled.reasons[0].condition_failed:
                        return None
                    reasons = canceled.reasons[len(owner) :]
                    left = [
                        there
                        for item, reason in zip(left, reasons, strict=False)
                        if (there := reason.item if reason.condition_failed else item)
                        and there.get(self._attribute) == self._owner_id
                    ]
                    continue
            return [id for id, _ in named]

    def _unchanged(self, item: Item) -> Expression:
        """It belongs to the owner, and its tombstone will have the right version."""
        belongs = Expression(f"#{self._attribute} = :owner", {":owner": self._owner_id})
        if "version" not in item:
            return belongs & Expression("attribute_not_exists(#version)")
        return belongs & Expression("#version = :version", {":version": item["version"]})


def _id_in(item: Item) -> str | None:
    """The id of an assignment that readers may know; None for a row whose id is none, or is not
    that of its key: nobody ever saw it, and the id may be that of another one."""
    id = item.get("id", {}).get("S", "")
    return id if is_id(id) and item["sk"]["S"].endswith(f"#{id}") else None


def _version_in(item: Item) -> int:
    """The version that readers know; 0 also for an item whose version is none, which they skip."""
    try:
        return version_of(row_of(item).version)
    except ValueError:
        return 0


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
