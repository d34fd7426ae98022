"""Ids, items and documents that several modules of these tests use."""

import base64
import hashlib
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date, timedelta
from typing import Any

from data.entities import Assignment, CalendarFeed, Project, Resource
from data.expressions import Item
from data.store import Store
from tests.api_client import everything

__all__ = [
    "ERRORS",
    "TIMELINE",
    "assignment",
    "feed",
    "gid",
    "ids",
    "input_type",
    "nothing_written",
    "partitions",
    "project",
    "raw",
    "resource",
]

TIMELINE = """{ team {
  resources { id name version createdAt updatedAt }
  projects { id name color description tags links { label url } version }
  assignments { id resourceId projectId startDate endDate endDateExclusive note version }
} }"""

ERRORS = "errors { code message field }"


def gid(type: str, id: str) -> str:
    """The global id of an object; built here anew, since clients keep them for years."""
    return base64.urlsafe_b64encode(f"{type}:{id}".encode()).rstrip(b"=").decode()


def raw(global_id: str) -> str:
    """The stored id behind a global id."""
    padded = global_id + "=" * (-len(global_id) % 4)
    return base64.urlsafe_b64decode(padded).decode().partition(":")[2]


def ids(objects: Sequence[dict[str, Any]]) -> list[str]:
    """The stored ids of the objects of an answer."""
    return [raw(each["id"]) for each in objects]


def resource(id: str, name: str = "Ada") -> Resource:
    return Resource(id=id, name=name, version=1)


def project(id: str, name: str = "Bridge") -> Project:
    return Project(id=id, name=name, color="#336699", version=1)


def assignment(
    start: date | str,
    days: int = 1,
    *,
    id: str | None = None,
    resource: str = "r",
    project: str = "p",
) -> Assignment:
    """An assignment of so many days to put into the table."""
    first = date.fromisoformat(start) if isinstance(start, str) else start
    return Assignment(
        id=id or str(uuid.uuid4()),
        resource_id=resource,
        project_id=project,
        start_date=first,
        end_date_exclusive=first + timedelta(days=days),
        version=1,
    )


def feed(
    team: str,
    id: str,
    *,
    resource: str | None = None,
    project: str | None = None,
    user: str = "user-1",
    token: str | None = None,
) -> CalendarFeed:
    """A calendar feed to put into the table, made by the user that `Api` is."""
    return CalendarFeed(
        id=id,
        team_id=team,
        user_id=user,
        token_hash=hashlib.sha256((token or id).encode()).hexdigest(),
        resource_id=resource,
        project_id=project,
    )


def partitions(team: str) -> list[str]:
    """The team's partition and those beside it, as `everything` names them."""
    return [team, f"{team}#CLAIMS", f"{team}#FEEDS"]


def input_type(mutation: str) -> str:
    """The name of a mutation's input type."""
    if mutation.startswith("delete"):
        return "DeleteInput"
    return mutation[0].upper() + mutation[1:] + "Input"


@asynccontextmanager
async def nothing_written(store: Store, *teams: str) -> AsyncIterator[None]:
    """Fails unless all partitions of the teams are the same afterwards, to the last byte."""
    names = [name for team in teams for name in partitions(team)]
    before: list[list[Item]] = [await everything(store, each) for each in names]
    yield
    assert [await everything(store, each) for each in names] == before
