"""A calendar by its address: what is in it, who is told there is none, and what stays secret."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, MutableMapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx
import pytest
import vobject
from starlette.applications import Starlette
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

import server.calendar
from data.entities import Membership, Project, Role
from data.expressions import Item, s
from data.feeds import new_token
from data.items import encode
from data.members import add_member, remove_member
from data.metering import Operation
from data.store import Store
from data.transport import Sender
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import MembershipSource, SessionStrategy, Settings
from tests.api.http import is_refused
from tests.api.samples import ERRORS, assignment, feed, gid, project, raw, resource
from tests.api_client import Api, Capture, asking, everything, put
from tests.faults import Fault, faulty

TODAY = datetime.now(UTC).date()
Lines = list[MutableMapping[str, Any]]


def path_of(token: str) -> str:
    return f"/calendar/{token}.ics"


async def get(api: Api, path: str, **headers: str) -> httpx.Response:
    """The answer to a calendar program, which has no session; the audit knows the team."""
    before = asking.set(api.team)
    try:
        return await api.http.get(path, headers={k.replace("_", "-"): headers[k] for k in headers})
    finally:
        asking.reset(before)


async def events(api: Api, path: str) -> list[Any]:
    """The events as another library reads them."""
    response = await get(api, path)
    assert response.status_code == 200, response.text
    return list(vobject.readOne(response.text).contents.get("vevent", []))


async def subscribed(api: Api, store: Store, **subject: str) -> str:
    """The path of a new feed that is put into the table."""
    token = new_token()
    await put(store, api.team, [feed(api.team, f"f-{token}", token=token, **subject)])
    return path_of(token)


@asynccontextmanager
async def serving(
    settings: Settings, team: str, **changes: Any
) -> AsyncIterator[tuple[Api, Store]]:
    """Another application on the same table, with other settings."""
    app: Starlette = create_app(settings.model_copy(update=changes), credentials=DUMMY_CREDENTIALS)
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://planner.test") as http,
    ):
        yield Api(http, team), app.state.store


@pytest.fixture
def lines() -> Iterator[Lines]:
    with capture_logs(processors=[merge_contextvars]) as captured:
        yield captured


# What is in it


async def test_a_persons_calendar_has_their_projects_and_a_projects_its_people(api: Api) -> None:
    ada, ben = await api.resource("Ada, A."), await api.resource("Ben")
    bridge, tunnel = await api.project("Bridge"), await api.project("Tunnel")
    booked = await api.assignment(
        ada, bridge, TODAY, TODAY + timedelta(2), note="By train; 9:00\n2"
    )
    await api.assignment(ben, tunnel, TODAY, TODAY)
    other = await api.assignment(ada, tunnel, TODAY + timedelta(1), TODAY + timedelta(1))
    of_ada, of_tunnel = [
        (await api.mutate("createCalendarFeed", f"path {ERRORS}", subjectId=each))["path"]
        for each in (ada, tunnel)
    ]
    response = await get(api, of_ada)
    found = vobject.readOne(response.text)
    assert found.contents["x-wr-calname"][0].value == "Ada, A."
    first, second = found.vevent_list
    assert (first.summary.value, second.summary.value) == ("Bridge", "Tunnel")
    assert (first.uid.value, second.uid.value) == (raw(booked), raw(other))
    assert (first.dtstart.value, first.dtend.value) == (TODAY, TODAY + timedelta(3))
    assert first.description.value == "By train; 9:00\n2"
    assert [each.summary.value for each in await events(api, of_tunnel)] == ["Ben", "Ada, A."]


async def test_an_event_follows_its_assignment(api: Api) -> None:
    ada, bridge = await api.resource(), await api.project()
    booked = await api.assignment(ada, bridge, TODAY, TODAY)
    path = (await api.mutate("createCalendarFeed", f"path {ERRORS}", subjectId=ada))["path"]
    [before] = await events(api, path)
    await api.mutate(
        "updateAssignment",
        ERRORS,
        id=booked,
        startDate=str(TODAY + timedelta(7)),
        endDate=str(TODAY + timedelta(8)),
    )
    [after] = await events(api, path)
    assert after.uid.value == before.uid.value
    assert (before.sequence.value, after.sequence.value) == ("1", "2")
    assert after.dtend.value == TODAY + timedelta(9)
    await api.mutate("deleteAssignment", ERRORS, id=booked)
    assert await events(api, path) == []


@pytest.mark.engines("local")
async def test_an_event_says_when_it_or_what_it_is_called_by_was_changed_last(
    api: Api, store: Store
) -> None:
    old, new = "2024-01-01T00:00:00.000Z", "2025-06-01T12:00:00.000Z"
    job = Project(
        id="p", name="Bridge", color="#336699", tags=("steel", "a,b"), version=2, updated_at=new
    )
    booked = encode(api.team, assignment(TODAY, id="a"))
    await put(store, api.team, [resource("r"), job, {**booked, "updatedAt": s(old)}])
    [event] = await events(api, await subscribed(api, store, resource="r"))
    assert event.last_modified.value == datetime(2025, 6, 1, 12, tzinfo=UTC)
    assert event.categories.value == ["steel", "a,b"]


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.engines("local")
async def test_a_calendar_goes_a_year_back_and_has_no_end(
    api: Api, store: Store, app: Starlette, settings: Settings, is_large: bool
) -> None:
    """What still ran a year ago is in it, however long before it began (S-01)."""
    first = TODAY - timedelta(settings.calendar_days)
    days = {
        "ended the day before": (first - timedelta(3), 3),
        "ended on the day": (first - timedelta(3), 4),
        "began years before": (first - timedelta(900), 901),
        "is over": (first + timedelta(5), 1),
        "in a century": (TODAY + timedelta(36_500), 1),
    }
    booked = [assignment(start, length, id=id) for id, (start, length) in days.items()]
    await put(store, api.team, [resource("r"), project("p"), *booked])
    if is_large:
        app.state.store.large_teams.add(api.team)
    found = await events(api, await subscribed(api, store, resource="r"))
    assert [each.uid.value for each in found] == [
        "began years before",
        "ended on the day",
        "is over",
        "in a century",
    ]


@pytest.mark.engines("local")
async def test_how_far_it_goes_back_is_a_setting(
    api: Api, store: Store, settings: Settings
) -> None:
    booked = [assignment(TODAY - timedelta(days), id=f"a{days}") for days in (1, 0)]
    await put(store, api.team, [resource("r"), project("p"), *booked])
    path = await subscribed(api, store, resource="r")
    async with serving(settings, api.team, calendar_days=0) as (other, _):
        assert [each.uid.value for each in await events(other, path)] == ["a0"]


@pytest.mark.engines("local")
async def test_a_calendar_has_its_own_subjects_and_teams_assignments_alone(
    api: Api, stranger: Api, store: Store
) -> None:
    for team in (api.team, stranger.team):
        own = assignment(TODAY, id=f"own of {team}")
        other = assignment(TODAY, id=f"other of {team}", resource="r2", project="r")
        await put(store, team, [resource("r"), resource("r2"), project("p"), project("r")])
        await put(store, team, [own, other])
    [of_person] = await events(api, await subscribed(api, store, resource="r"))
    [of_project] = await events(api, await subscribed(api, store, project="r"))
    assert of_person.uid.value == f"own of {api.team}"
    assert of_project.uid.value == f"other of {api.team}"


@pytest.mark.engines("local")
async def test_an_assignment_whose_project_is_gone_is_there_without_a_name(
    api: Api, store: Store
) -> None:
    """Only a row written elsewhere can be (A3)."""
    await put(store, api.team, [resource("r"), assignment(TODAY, id="a", project="nobody")])
    [event] = await events(api, await subscribed(api, store, resource="r"))
    assert event.summary.value == "?"


@pytest.mark.engines("local")
async def test_what_cannot_be_read_is_left_out_counted_and_logged(
    api: Api, store: Store, app: Starlette, lines: Lines
) -> None:
    def skipped() -> float:
        code = {"code": "MALFORMED_ITEM"}
        found = app.state.metrics.registry.get_sample_value("planner_items_skipped_total", code)
        return float(found or 0)

    before = skipped()
    bad: Item = {"sk": s("ASN#2024-01-01#x"), "EntityType": s("Assignment")}
    await put(store, api.team, [resource("r"), project("p"), assignment(TODAY, id="a"), bad])
    assert len(await events(api, await subscribed(api, store, resource="r"))) == 1
    [line] = [each for each in lines if each["event"] == "calendar"]
    assert (line["items_skipped"], line["events"], line["status"]) == (1, 1, 200)
    assert skipped() == before + 1


async def test_a_calendar_costs_a_look_a_read_of_its_feed_and_one_query(
    api: Api, store: Store, captured: Capture
) -> None:
    await put(store, api.team, [resource("r"), project("p"), assignment(TODAY, id="a")])
    path = await subscribed(api, store, resource="r")
    captured.clear()
    await events(api, path)
    assert captured.operations == ["Query", "GetItem", "Query"]
    [look], [read] = captured.index_queries, captured.table_queries
    assert look["IndexName"] == "GSI1"
    assert read["ExpressionAttributeValues"] == {
        ":pk": s(f"TEAM#{api.team}"),
        ":deletions": s("!DEL$"),
    }


# As an answer of HTTP


@pytest.mark.engines("local")
async def test_it_is_a_calendar_that_nobody_between_keeps(api: Api, store: Store) -> None:
    await put(store, api.team, [resource("r")])
    path = await subscribed(api, store, resource="r")
    response = await get(api, path)
    headers = dict(response.headers)
    assert headers["content-type"] == "text/calendar; charset=utf-8"
    assert headers["cache-control"] == "private, no-cache"
    assert headers["content-disposition"] == 'inline; filename="calendar.ics"'
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert path.split("/")[-1].split(".")[0] not in str(headers) + response.text


@pytest.mark.engines("local")
async def test_who_has_it_already_is_told_so_until_it_changes(api: Api, store: Store) -> None:
    await put(store, api.team, [resource("r"), project("p"), assignment(TODAY, id="a")])
    path = await subscribed(api, store, resource="r")
    etag = (await get(api, path)).headers["etag"]
    for sent in (etag, f"W/{etag}", f'"x", {etag}', f'"x",W/{etag}', "*"):
        response = await get(api, path, If_None_Match=sent)
        assert (response.status_code, response.content) == (304, b""), sent
        assert response.headers["etag"] == etag
        assert response.headers["cache-control"] == "private, no-cache"
    for sent in ('"x"', etag.strip('"'), "", etag.upper().replace('"', "")):
        assert (await get(api, path, If_None_Match=sent)).status_code == 200, sent
    await put(store, api.team, [assignment(TODAY, id="b")])
    response = await get(api, path, If_None_Match=etag)
    assert response.status_code == 200
    assert response.headers["etag"] != etag


@pytest.mark.engines("local")
async def test_other_methods_are_refused(api: Api) -> None:
    response = await api.http.post(path_of(new_token()))
    assert is_refused(response, 405)
    assert response.headers["allow"] == "GET, HEAD"


# Who is told that there is none


def stable(response: httpx.Response) -> tuple[int, list[tuple[str, str]], bytes]:
    """All of an answer but its correlation id."""
    headers = [each for each in response.headers.items() if each[0] != "x-correlation-id"]
    return response.status_code, headers, response.content


@pytest.mark.engines("local")
async def test_whatever_is_wrong_with_an_address_is_answered_the_same(
    api: Api, store: Store, settings: Settings
) -> None:
    """An address that never was, is malformed, is revoked; whose subject is gone or going."""
    going = {"sk": s("RES#going"), "EntityType": s("Resource"), "id": s("going"), "name": s("x")}
    mark = {"deletingAt": s(datetime.now(UTC).isoformat())}
    await put(store, api.team, [resource("r"), {**going, **mark}])
    revoked = await subscribed(api, store, resource="r")
    [item] = await everything(store, f"{api.team}#FEEDS")
    assert (await get(api, revoked)).status_code == 200
    feed_id = gid("CalendarFeed", item["id"]["S"])
    assert await api.mutate("deleteCalendarFeed", ERRORS, id=feed_id) == {"errors": []}
    nowhere = stable(await get(api, "/nowhere"))
    assert nowhere[0] == 404
    for path in (
        revoked,
        path_of(new_token()),
        path_of("x"),
        path_of("x" * 5_000),
        path_of("%00"),
        path_of("é" * 43),
        path_of(new_token().replace("_", "-")[:-1] + "%0A"),
        await subscribed(api, store, resource="gone"),
        await subscribed(api, store, project="gone"),
        await subscribed(api, store, project="r"),
        await subscribed(api, store, resource="going"),
        "/calendar/",
        "/calendar/.ics",
        revoked.removesuffix(".ics"),
        f"{revoked}/",
    ):
        assert stable(await get(api, path)) == nowhere, path
    async with serving(settings, api.team, calendar=False) as (off, _):
        assert stable(await get(off, await subscribed(api, store, resource="r"))) == nowhere


@pytest.mark.engines("local")
async def test_what_can_be_no_token_asks_nobody(api: Api, captured: Capture) -> None:
    for token in ("x", "x" * 42, "x" * 44, "é" * 43, "x" * 42 + "="):
        assert (await get(api, path_of(token))).status_code == 404
    assert captured.requests == []
    await get(api, path_of("x" * 43))
    assert captured.operations == ["Query", "Query"]


class Index:
    """A transport whose `GSI1` answers as the list says, and the last of it for ever; None is
    what the table has."""

    def __init__(self, transport: Sender, *answers: list[Item] | None) -> None:
        self._transport = transport
        self._answers = list(answers)

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        if request.get("IndexName") == "GSI1":
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            if answer is not None:
                return json.dumps({"Items": answer, "Count": len(answer)}).encode()
        return await self._transport.send(operation, request)


@pytest.mark.engines("local")
async def test_a_revoked_feed_is_gone_at_once_though_the_index_still_has_it(
    api: Api, store: Store, app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, api.team, [resource("r")])
    path = await subscribed(api, store, resource="r")
    [item] = await everything(store, f"{api.team}#FEEDS")
    served = app.state.store
    monkeypatch.setattr(served, "transport", Index(served.transport, [item]))
    assert (await get(api, path)).status_code == 200
    await api.mutate("deleteCalendarFeed", ERRORS, id=gid("CalendarFeed", item["id"]["S"]))
    assert (await get(api, path)).status_code == 404
    # Nor does another feed under the same id open it.
    await put(store, api.team, [feed(api.team, item["id"]["S"], resource="r", token="another")])
    assert (await get(api, path)).status_code == 404


@pytest.mark.engines("local")
async def test_a_feed_that_the_index_does_not_have_yet_is_looked_for_again(
    api: Api, store: Store, app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, api.team, [resource("r")])
    path = await subscribed(api, store, resource="r")
    served = app.state.store
    monkeypatch.setattr(served, "transport", Index(served.transport, [], None))
    assert (await get(api, path)).status_code == 200


@pytest.mark.engines("local")
async def test_one_token_of_two_feeds_is_nobodys(api: Api, store: Store) -> None:
    """Made elsewhere, by copying rows: which of the two is meant would be a guess."""
    await put(store, api.team, [resource("r"), resource("r2")])
    token = new_token()
    await put(store, api.team, [feed(api.team, "f1", resource="r", token=token)])
    assert (await get(api, path_of(token))).status_code == 200
    await put(store, api.team, [feed(api.team, "f2", resource="r2", token=token)])
    assert (await get(api, path_of(token))).status_code == 404


MEMBERSHIPS: list[dict[str, Any]] = [
    {"membership": MembershipSource.TABLE},
    {"session_strategy": SessionStrategy.DATABASE},
]


@pytest.mark.parametrize("changes", MEMBERSHIPS, ids=lambda each: str(*each.values()))
@pytest.mark.engines("local")
async def test_a_feed_lasts_as_long_as_its_maker_is_a_member_where_the_table_decides(
    api: Api, store: Store, settings: Settings, changes: dict[str, Any]
) -> None:
    await put(store, api.team, [resource("r")])
    path = await subscribed(api, store, resource="r")
    # By its claim alone somebody is a member as long as nobody says otherwise.
    assert (await get(api, path)).status_code == 200
    async with serving(settings, api.team, membership_seconds=0, **changes) as (asked, _):
        assert (await get(asked, path)).status_code == 404
        await add_member(store, Membership(team_id=api.team, user_id="user-1", role=Role.VIEWER))
        assert (await get(asked, path)).status_code == 200
        await remove_member(store, api.team, "user-1")
        assert (await get(asked, path)).status_code == 404


# What fails


@pytest.mark.parametrize("failing", ["Query", "GetItem"])
@pytest.mark.engines("local")
async def test_a_store_that_fails_is_503_and_says_when_to_come_back(
    api: Api,
    store: Store,
    app: Starlette,
    monkeypatch: pytest.MonkeyPatch,
    lines: Lines,
    failing: str,
) -> None:
    await put(store, api.team, [resource("r")])
    path = await subscribed(api, store, resource="r")
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)
    with faulty(app.state.store, lambda _, name: Fault.THROTTLED if name == failing else None):
        response = await get(api, path)
    assert is_refused(response, 503, "UNAVAILABLE")
    assert response.headers["retry-after"] == "60"
    refused = [each for each in lines if each["event"] == "request refused"]
    assert [(each["status"], each["code"]) for each in refused] == [(503, "UNAVAILABLE")]


@pytest.mark.engines("local")
async def test_a_calendar_is_complete_or_refused(
    api: Api, store: Store, settings: Settings
) -> None:
    booked = [assignment(TODAY, id=f"a{n}") for n in range(3)]
    await put(store, api.team, [resource("r"), project("p"), *booked])
    path = await subscribed(api, store, resource="r")
    async with serving(settings, api.team, max_calendar_events=3) as (just, _):
        assert len(await events(just, path)) == 3
    for limit in ({"max_calendar_events": 2}, {"max_items": 4}):
        async with serving(settings, api.team, **limit) as (less, _):
            response = await get(less, path)
            assert is_refused(response, 503, "LIMIT_EXCEEDED")
            assert response.headers["retry-after"] == "60"


@pytest.mark.engines("local")
async def test_a_calendar_that_takes_too_long_is_503_and_its_seat_is_free(
    api: Api, store: Store, settings: Settings
) -> None:
    await put(store, api.team, [resource("r")])
    path = await subscribed(api, store, resource="r")
    async with serving(settings, api.team, max_seconds=0.2) as (slow, served):
        seats = served.seats.free
        hanging = asyncio.Event()

        class Hanging(Index):
            async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
                if "IndexName" not in request and operation == "Query":
                    await hanging.wait()
                return await super().send(operation, request)

        transport, served.transport = served.transport, Hanging(served.transport, None)
        assert is_refused(await get(slow, path), 503, "UNAVAILABLE")
        served.transport = transport
        assert served.seats.free == seats
        assert (await get(slow, path)).status_code == 200


@pytest.mark.engines("local")
async def test_a_large_calendar_takes_its_turn_and_gives_it_back(
    api: Api, store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 0018."""
    await put(store, api.team, [resource("r"), project("p"), assignment(TODAY, id="a")])
    path = await subscribed(api, store, resource="r")
    async with serving(settings, api.team, max_large_reads=1) as (large, served):
        served._page_size = 1
        taken: list[int] = []

        def rendered(_: object) -> bytes:
            taken.append(served.seats.free)
            return b""

        monkeypatch.setattr(server.calendar, "render", rendered)
        for _ in range(2):
            assert (await get(large, path)).status_code == 200
        assert taken == [0, 0]
        assert served.seats.free == 1


# What stays secret


@pytest.mark.engines("local")
async def test_no_line_of_the_log_and_no_metric_has_the_token(
    api: Api,
    store: Store,
    settings: Settings,
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Read, not changed, refused, failed in the store and by a fault of ours."""
    await put(store, api.team, [resource("r")])
    path = await subscribed(api, store, resource="r")
    secret = path.removeprefix("/calendar/").removesuffix(".ics")
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)
    async with serving(settings, api.team, metrics=True) as (traced, served):
        etag = (await get(traced, path)).headers["etag"]
        answers = [await get(traced, path, If_None_Match=etag), await get(traced, f"{path}x")]
        with faulty(served, lambda *_: Fault.BUSY):
            answers.append(await get(traced, path))
        with monkeypatch.context() as patch:
            patch.setattr(server.calendar, "render", lambda _: 1 // 0)
            answers.append(await get(traced, path))
        metrics = (await traced.http.get("/metrics")).text
    assert [each.status_code for each in answers] == [304, 404, 503, 500]
    assert {each["event"] for each in lines} >= {
        "calendar",
        "request refused",
        "request given up",
        "request failed",
    }
    said = repr(lines) + metrics + "".join(f"{each.headers}{each.text}" for each in answers)
    assert secret not in said
    assert 'planner_calendars_total{status="304"} 1.0' in metrics
    assert 'planner_calendars_total{status="200"} 1.0' in metrics


@pytest.mark.engines("local")
async def test_a_calendar_is_one_line_with_its_cost(api: Api, store: Store, lines: Lines) -> None:
    await put(store, api.team, [resource("r"), project("p"), assignment(TODAY, id="a")])
    path = await subscribed(api, store, resource="r")
    lines.clear()
    response = await get(api, path)
    [line] = lines
    assert line.pop("duration_ms") > 0
    assert line.pop("read_units") > 0
    assert len(line.pop("team")) == 12
    assert line == {
        "event": "calendar",
        "log_level": "info",
        "status": 200,
        "events": 1,
        "requests": 3,
        "pages": 2,
        "retries": 0,
        "items_skipped": 0,
        "correlation_id": response.headers["x-correlation-id"],
    }


def test_days_are_those_of_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Clock":
            return cls(2026, 3, 1, 0, 30, tzinfo=UTC).astimezone(tz)

    monkeypatch.setattr(server.calendar, "datetime", Clock)
    assert server.calendar._days_ago(1) == date(2026, 2, 28)
