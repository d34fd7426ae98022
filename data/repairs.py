"""Carrying out repairs of stored items, each on condition that nobody wrote meanwhile."""

from collections.abc import AsyncIterator

from data.derived import absent
from data.expressions import Item, KeyQuery, s
from data.keys import team_pk
from data.store import ConditionFailed, Store
from data.transactions import Update

__all__ = ["apply", "lacking"]


async def apply(store: Store, update: Update) -> bool:
    """Sends the update; returns whether the item is now as it says. If not, somebody else wrote
    since it was read, and it has to be looked at again."""
    try:
        await store.update(update.key, update.expression, update.condition)
    except ConditionFailed as failed:
        # After a lost answer it is done already.
        there = failed.item or {}
        return bool(there) and all(
            there.get(name) == value
            for name, value in {**dict.fromkeys(update.remove), **update.set}.items()
        )
    return True


async def lacking(store: Store, team_id: str) -> AsyncIterator[tuple[list[Item], list[Update]]]:
    """The items of a team's own partition, page by page and strongly consistent, with the updates
    that add what they lack."""
    query = KeyQuery("#pk = :pk", {":pk": s(team_pk(team_id))})
    async for page in store.pages(query, consistent=True):
        yield page, [update for item in page if (update := absent(item))]
