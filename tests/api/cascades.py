"""An owner `x` with its assignments, and others that have nothing to do with it."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from data.entities import Assignment, Entity
from data.expressions import Item, s
from data.store import Store
from tests.api.samples import assignment, project, resource
from tests.api_client import put

__all__ = ["TYPES", "booked", "marked", "others", "owner", "seed"]

TYPES = ("Resource", "Project")


def booked(type: str, count: int) -> list[Assignment]:
    """Assignments of the owner `x`, from the past over today to the future, all of the other
    type's owners; every tenth is longer than 62 days."""
    return [
        assignment(
            date(2000, 1, 1) + timedelta(days=n * 300),
            100 if n % 10 == 0 else 3,
            id=f"a{n:03}",
            resource="x" if type == "Resource" else f"r{n % 2}",
            project="x" if type == "Project" else f"p{n % 2}",
        )
        for n in range(count)
    ]


def others() -> list[Entity]:
    """Owners and an assignment that have nothing to do with `x`, and some that are named alike."""
    return [
        *(resource(id) for id in ("r0", "r1", "xx")),
        *(project(id) for id in ("p0", "p1", "xx")),
        assignment("2024-01-10", 3, id="other", resource="xx", project="xx"),
        assignment("2024-01-10", 3, id="x", resource="r0", project="p0"),
    ]


async def seed(store: Store, team: str, items: Sequence[Entity | Item]) -> None:
    await asyncio.gather(*(put(store, team, [each]) for each in items))


def owner(type: str) -> Entity:
    return resource("x") if type == "Resource" else project("x")


def marked(type: str, seconds_ago: float) -> Item:
    """The owner `x`, whose deletion `user-0` began so long ago."""
    sk, more = ("RES#x", {}) if type == "Resource" else ("PRJ#x", {"color": s("#336699")})
    return {
        "sk": s(sk),
        "EntityType": s(type),
        "id": s("x"),
        "name": s("Ada"),
        "version": {"N": "1"},
        "deletingAt": s(_moment(seconds_ago)),
        "updatedBy": s("user-0"),
        **more,
    }


def _moment(seconds_ago: float) -> str:
    then = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")
