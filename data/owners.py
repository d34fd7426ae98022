"""Writing resources and projects: access patterns #5, #6 and their updates."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from data.clock import new_id
from data.contention import pauses
from data.decoding import decode_as
from data.entities import Project, Resource
from data.errors import Refused, conflict, not_found
from data.expressions import Item
from data.guards import IS_NEW, check_version, update
from data.items import encode, table_key
from data.keys import project_sk, resource_sk
from data.stamps import changed, content, created
from data.store import ConditionFailed, Store, TransactionCanceled

__all__ = ["Owners"]

Kind = TypeVar("Kind", Resource, Project)


class Owners(Generic[Kind]):
    """The resources, or the projects, of one team, as written by one user (None: an operator)."""

    def __init__(
        self, store: Store, team_id: str, kind: type[Kind], *, by: str | None = None
    ) -> None:
        self._store = store
        self._team_id = team_id
        self._by = by
        self._kind: type[Kind] = kind

    async def create(self, owner: Kind) -> Kind:
        """Stores a new owner (version 1) and returns it. The same content under the same id again
        returns what is stored; other content is refused (CONFLICT)."""
        new = created(owner, by=self._by)
        try:
            await self._store.put(encode(self._team_id, new), IS_NEW)
        except ConditionFailed as failed:
            there = decode_as(failed.item, self._kind)
            if there is None or content(there) != content(owner):
                raise Refused(conflict("something else has this id", "id")) from None
            return there
        return new

    async def update(
        self, id: str, change: Callable[[Kind], Kind], *, expected_version: int | None
    ) -> Kind:
        """Applies `change` to the stored owner and returns what it became. Only the attributes
        that differ are written, on condition that nobody wrote meanwhile; else it is read and
        changed again. Raises Refused (NOT_FOUND, CONFLICT, or what `change` raises)."""
        for pause in pauses():
            await asyncio.sleep(pause)
            item, old = await self._stored(id)
            check_version(old.version, expected_version)
            wanted = change(old)
            if wanted == old:
                return old
            new = changed(wanted, by=self._by)
            action = update(item, encode(self._team_id, new), version=old.version)
            try:
                await self._store.transact([action], token=new_id())
            except TransactionCanceled:
                continue
            return new
        raise Refused(conflict("others keep changing it; try again"))

    async def get(self, id: str) -> Kind:
        """The stored owner, strongly consistent. Raises Refused (NOT_FOUND), also when it is
        being deleted."""
        return (await self._stored(id))[1]

    async def _stored(self, id: str) -> tuple[Item, Kind]:
        sk = resource_sk(id) if self._kind is Resource else project_sk(id)
        item = await self._store.get(table_key(self._team_id, sk))
        owner = decode_as(item, self._kind)
        if item is None or owner is None or owner.deleting_at:
            raise Refused(not_found(f"there is no such {self._kind.__name__.lower()}", "id"))
        return item, owner
