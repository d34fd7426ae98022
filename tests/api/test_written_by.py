"""Each write says who wrote: the user of the session, on all that it wrote and on nothing else."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from data.store import Store
from tests.api.samples import ERRORS, raw
from tests.api_client import COOKIE, Api, everything, token


@dataclass(frozen=True)
class Ids:
    """Global ids of what `plan` makes."""

    resource: str
    other: str
    project: str
    first: str
    second: str


@pytest.fixture
def second(http: httpx.AsyncClient, team: str) -> Api:
    """The API, signed in as another member of the same team."""
    api = Api(http, team)
    api.headers = {"Cookie": f"{COOKIE}={token(team, user='user-2')}"}
    return api


async def plan(api: Api) -> Ids:
    resource, other, project = await api.resource(), await api.resource("Ben"), await api.project()
    days = "2024-01-10", "2024-01-12"
    made = [await api.assignment(resource, project, *days) for _ in range(2)]
    return Ids(resource, other, project, *made)


async def writers(store: Store, team: str) -> dict[str, str | None]:
    """Who wrote each item last, by its id."""
    return {
        item["id"]["S"]: item.get("updatedBy", {}).get("S")
        for item in await everything(store, team)
    }


async def test_whoever_creates_is_who_wrote(api: Api, store: Store) -> None:
    ids = await plan(api)
    made = map(raw, vars(ids).values())
    assert await writers(store, api.team) == dict.fromkeys(made, "user-1")


Write = Callable[[Api, Ids], Awaitable[dict[str, Any]]]

WRITES: dict[str, tuple[Write, tuple[str, ...]]] = {
    "rename a resource": (
        lambda api, ids: api.mutate("updateResource", ERRORS, id=ids.resource, name="Eve"),
        ("resource",),
    ),
    "change a project": (
        lambda api, ids: api.mutate("updateProject", ERRORS, id=ids.project, color="#000000"),
        ("project",),
    ),
    "note an assignment": (
        lambda api, ids: api.mutate("updateAssignment", ERRORS, id=ids.first, note="hi"),
        ("first",),
    ),
    "move an assignment": (
        lambda api, ids: api.mutate(
            "updateAssignment", ERRORS, id=ids.first, startDate="2024-01-09"
        ),
        ("first",),
    ),
    "hand an assignment over": (
        lambda api, ids: api.mutate("updateAssignment", ERRORS, id=ids.first, resourceId=ids.other),
        ("first",),
    ),
    "update several": (
        lambda api, ids: api.mutate(
            "updateAssignments",
            ERRORS,
            patches=[
                {"id": ids.first, "note": "hi"},
                {"id": ids.second, "startDate": "2024-01-09"},
            ],
        ),
        ("first", "second"),
    ),
    "shift a project": (
        lambda api, ids: api.mutate("shiftProject", ERRORS, id=ids.project, days=7),
        ("first", "second"),
    ),
    "write what is there already": (
        lambda api, ids: api.mutate("updateResource", ERRORS, id=ids.resource, name="Ada"),
        (),
    ),
}


@pytest.mark.parametrize("name", WRITES)
async def test_each_write_says_who_wrote_and_only_of_what_was_written(
    api: Api, second: Api, store: Store, name: str
) -> None:
    ids = await plan(api)
    before = await writers(store, api.team)
    write, written = WRITES[name]
    assert (await write(second, ids))["errors"] == []
    theirs = {raw(getattr(ids, each)): "user-2" for each in written}
    assert await writers(store, api.team) == before | theirs


async def test_the_same_create_again_stays_that_of_who_made_it(
    api: Api, second: Api, store: Store
) -> None:
    id = "01890000-0000-7000-8000-000000000001"
    for each in (api, second):
        payload = await each.mutate("createResource", ERRORS, id=id, name="Ada")
        assert payload["errors"] == []
    assert await writers(store, api.team) == {id: "user-1"}
