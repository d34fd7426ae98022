"""Making, listing and revoking calendar feeds."""

import hashlib
import re
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from data.expressions import s
from data.store import Store
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api.samples import (
    ERRORS,
    assignment,
    feed,
    gid,
    nothing_written,
    project,
    raw,
    resource,
)
from tests.api_client import Api, Capture, everything, put, token

CREATED = f"calendarFeed {{ id subjectId userId createdAt }} path {ERRORS}"
FEEDS = "{ viewer { calendarFeeds { id subjectId userId createdAt } } }"


def as_user(http: httpx.AsyncClient, team: str, user: str, role: str = "member") -> Api:
    api = Api(http, team)
    api.headers = {"Authorization": f"Bearer {token(team, user=user, role=role)}"}
    return api


async def create(api: Api, subject: str) -> dict[str, Any]:
    return await api.mutate("createCalendarFeed", CREATED, subjectId=subject)


async def feeds(api: Api) -> list[str]:
    """The ids of the feeds that the viewer is shown."""
    return [each["id"] for each in (await api.data(FEEDS))["viewer"]["calendarFeeds"]]


@pytest.mark.parametrize("type", ["Resource", "Project"])
async def test_a_feed_is_made_of_a_resource_or_a_project_and_listed(
    api: Api, store: Store, type: str
) -> None:
    await put(store, api.team, [resource("x"), project("x")])
    subject = gid(type, "x")
    payload = await create(api, subject)
    made, path = payload.pop("calendarFeed"), payload.pop("path")
    assert payload == {"errors": []}
    assert (made["subjectId"], made["userId"]) == (subject, "user-1")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", made["createdAt"])
    assert re.fullmatch(r"/calendar/[\w-]{43}\.ics", path)
    assert (await api.data(FEEDS))["viewer"]["calendarFeeds"] == [made]


async def test_the_table_has_the_hash_of_a_token_and_the_token_nowhere(
    api: Api, store: Store, captured: Capture
) -> None:
    await put(store, api.team, [resource("r")])
    path = (await create(api, gid("Resource", "r")))["path"]
    secret = path.removeprefix("/calendar/").removesuffix(".ics")
    [item] = await everything(store, f"{api.team}#FEEDS")
    key = s(f"FEED#{hashlib.sha256(secret.encode()).hexdigest()}")
    assert (item["GSI1PK"], item["GSI1SK"], item["EntityType"]) == (key, key, s("CalendarFeed"))
    assert secret not in str(captured.requests)
    assert path not in str(await api.data(FEEDS))


async def test_each_feed_has_an_address_of_its_own(api: Api, store: Store) -> None:
    """There is no `id` of the client's: the same call again makes another."""
    await put(store, api.team, [resource("r")])
    made = [await create(api, gid("Resource", "r")) for _ in range(3)]
    assert len({each["path"] for each in made}) == 3
    assert await feeds(api) == [each["calendarFeed"]["id"] for each in made]


async def test_a_timeline_neither_reads_feeds_nor_says_anything_of_them(
    api: Api, store: Store, captured: Capture
) -> None:
    await put(store, api.team, [resource("r")])
    await create(api, gid("Resource", "r"))
    captured.clear()
    answer = await api.run("{ team { resources { id } projects { id } assignments { id } } }")
    assert answer.keys() == {"data"}
    [(_, request)] = captured.requests
    assert request["ExpressionAttributeValues"][":pk"] == s(f"TEAM#{api.team}")


async def test_a_feed_in_the_teams_own_partition_is_skipped_with_a_warning(
    api: Api, store: Store
) -> None:
    await put(store, api.team, [resource("r"), feed(api.team, "f", resource="r")])
    [item] = await everything(store, f"{api.team}#FEEDS")
    await put(store, api.team, [{**item, "pk": s(f"TEAM#{api.team}")}])
    answer = await api.run("{ team { resources { id } projects { id } assignments { id } } }")
    assert [each["id"] for each in answer["data"]["team"]["resources"]] == [gid("Resource", "r")]
    assert answer["extensions"] == {"warnings": [{"code": "MALFORMED_ITEM", "count": 1}]}


async def test_what_can_not_be_read_of_the_feeds_is_reported(api: Api, store: Store) -> None:
    await put(store, api.team, [feed(api.team, "f", resource="r")])
    bad = {"pk": s(f"TEAM#{api.team}#FEEDS"), "sk": s("FEED#g"), "userId": s("user-1")}
    await put(store, api.team, [bad])
    answer = await api.run(FEEDS)
    found = answer["data"]["viewer"]["calendarFeeds"]
    assert [each["id"] for each in found] == [gid("CalendarFeed", "f")]
    assert answer["extensions"] == {"warnings": [{"code": "MISSING_ENTITY_TYPE", "count": 1}]}


@pytest.mark.parametrize(
    "subject",
    [
        gid("Resource", "nobody"),
        gid("Project", "nobody"),
        gid("Assignment", "a"),
        gid("Team", "t"),
        "r",
        "",
    ],
)
async def test_what_is_no_resource_or_project_is_not_found(
    api: Api, store: Store, subject: str
) -> None:
    await put(store, api.team, [resource("r"), project("p"), assignment("2024-01-10", id="a")])
    async with nothing_written(store, api.team):
        payload = await create(api, subject)
    [error] = payload.pop("errors")
    assert payload == {"calendarFeed": None, "path": None}
    assert (error["code"], error["field"]) == ("NOT_FOUND", ["subjectId"])


@pytest.mark.parametrize("type", ["Resource", "Project"])
async def test_no_feed_is_made_of_what_is_being_deleted(api: Api, store: Store, type: str) -> None:
    doomed = {
        "Resource": {"sk": s("RES#x"), "EntityType": s("Resource"), "color": s("#000000")},
        "Project": {"sk": s("PRJ#x"), "EntityType": s("Project"), "color": s("#000000")},
    }[type]
    more = {"id": s("x"), "name": s("x"), "deletingAt": s("2024-01-01T00:00:00.000Z")}
    await put(store, api.team, [doomed | more])
    async with nothing_written(store, api.team):
        payload = await create(api, gid(type, "x"))
    assert [each["code"] for each in payload["errors"]] == ["NOT_FOUND"]


@pytest.mark.engines("local")
async def test_a_user_may_have_so_many_feeds_and_others_have_theirs(
    http: httpx.AsyncClient, store: Store, settings: Settings, team: str
) -> None:
    await put(store, team, [resource("r")])
    most = settings.max_calendar_feeds
    await put(store, team, [feed(team, f"f{n:02}", resource="r", user="u1") for n in range(most)])
    one, other = as_user(http, team, "u1"), as_user(http, team, "u2")
    async with nothing_written(store, team):
        payload = await create(one, gid("Resource", "r"))
    assert payload["errors"] == [
        {
            "code": "LIMIT_EXCEEDED",
            "message": f"you may have at most {most} calendar feeds",
            "field": None,
        }
    ]
    assert (await create(other, gid("Resource", "r")))["errors"] == []
    await one.mutate("deleteCalendarFeed", ERRORS, id=gid("CalendarFeed", "f00"))
    assert (await create(one, gid("Resource", "r")))["errors"] == []


async def test_users_see_their_own_feeds_and_an_admin_those_of_all(
    http: httpx.AsyncClient, store: Store, team: str
) -> None:
    await put(
        store,
        team,
        [
            feed(team, "f1", resource="r", user="u1"),
            feed(team, "f2", project="p", user="u2"),
            feed(team, "f3", project="p", user="u1"),
        ],
    )
    assert [*map(raw, await feeds(as_user(http, team, "u1")))] == ["f1", "f3"]
    assert [*map(raw, await feeds(as_user(http, team, "u2", "viewer")))] == ["f2"]
    assert await feeds(as_user(http, team, "u3")) == []
    assert [*map(raw, await feeds(as_user(http, team, "u3", "admin")))] == ["f1", "f2", "f3"]


async def test_feeds_are_read_once_and_only_when_they_are_asked_for(
    api: Api, captured: Capture
) -> None:
    await api.data("{ viewer { id role } }")
    assert captured.operations == []
    await api.data("{ a: viewer { calendarFeeds { id } b: calendarFeeds { id } } team { id } }")
    assert captured.operations == ["Query"]


async def test_a_feed_is_deleted_and_deleting_it_again_is_no_error(api: Api, store: Store) -> None:
    await put(
        store, api.team, [feed(api.team, "f", resource="r"), feed(api.team, "g", project="p")]
    )
    id = gid("CalendarFeed", "f")
    for _ in range(2):
        payload = await api.mutate("deleteCalendarFeed", f"deletedCalendarFeedId {ERRORS}", id=id)
        assert payload == {"deletedCalendarFeedId": id, "errors": []}
        assert [*map(raw, await feeds(api))] == ["g"]


async def test_only_an_admin_deletes_what_another_made(
    http: httpx.AsyncClient, store: Store, team: str
) -> None:
    await put(store, team, [feed(team, "f", resource="r", user="u1")])
    selection, id = f"deletedCalendarFeedId {ERRORS}", gid("CalendarFeed", "f")
    async with nothing_written(store, team):
        payload = await as_user(http, team, "u2").mutate("deleteCalendarFeed", selection, id=id)
    assert payload["deletedCalendarFeedId"] is None
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [("NOT_FOUND", ["id"])]
    admin = as_user(http, team, "u2", "admin")
    assert (await admin.mutate("deleteCalendarFeed", selection, id=id))["errors"] == []
    assert await everything(store, f"{team}#FEEDS") == []


async def test_the_id_of_something_else_is_no_feeds(api: Api, store: Store) -> None:
    await put(store, api.team, [resource("f")])
    async with nothing_written(store, api.team):
        payload = await api.mutate("deleteCalendarFeed", ERRORS, id=gid("Resource", "f"))
    assert payload["errors"] == [
        {"code": "NOT_FOUND", "message": "there is no such calendar feed", "field": ["id"]}
    ]


@pytest.mark.engines("local")
async def test_a_server_without_calendars_makes_no_feed_and_still_revokes(
    settings: Settings, store: Store, team: str
) -> None:
    off: Starlette = create_app(
        settings.model_copy(update={"calendar": False}), credentials=DUMMY_CREDENTIALS
    )
    await put(store, team, [resource("r"), feed(team, "f", resource="r")])
    transport = httpx.ASGITransport(app=off)
    async with (
        off.router.lifespan_context(off),
        httpx.AsyncClient(transport=transport, base_url="http://planner.test") as http,
    ):
        api = Api(http, team)
        async with nothing_written(store, team):
            answer = await api.run(
                "mutation($i: CreateCalendarFeedInput!) { createCalendarFeed(input: $i) { path } }",
                i={"subjectId": gid("Resource", "r")},
            )
        assert answer["data"] == {"createCalendarFeed": None}
        assert [each["extensions"]["code"] for each in answer["errors"]] == ["FORBIDDEN"]
        await api.mutate("deleteCalendarFeed", ERRORS, id=gid("CalendarFeed", "f"))
    assert await everything(store, f"{team}#FEEDS") == []
