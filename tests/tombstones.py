"""What deletions leave behind, for the tests of all that deletes."""

from datetime import datetime

from data.decoding import decode
from data.entities import Deletion
from data.expressions import Item
from data.keys import DELETION
from data.rows import row_of
from data.store import Store
from tests.api_client import everything

__all__ = ["Deleted", "deletions", "remaining"]

DAYS_30 = 30 * 24 * 3600

Deleted = tuple[str, str, int, str | None]
"""The type and id of what was deleted, the version of its deletion, and who deleted it."""


async def remaining(store: Store, team: str) -> list[Item]:
    """All items of a team's partition, in the order of their keys, but for the tombstones."""
    return [item for item in await everything(store, team) if not is_tombstone(item)]


async def deletions(store: Store, team: str) -> list[Deleted]:
    """What the team's tombstones say, sorted; each of them is whole, and goes after 30 days."""
    found: list[Deleted] = []
    for item in filter(is_tombstone, await everything(store, team)):
        entity = decode(row_of(item))
        assert isinstance(entity, Deletion)
        then = datetime.fromisoformat(entity.updated_at).timestamp()
        assert item["expires"] == {"N": str(int(then) + DAYS_30)}
        said = (str(entity.entity_type), entity.entity_id, entity.version, entity.updated_by)
        found.append(said)
    return sorted(found, key=str)


def is_tombstone(item: Item) -> bool:
    return item["sk"]["S"].startswith(DELETION)
