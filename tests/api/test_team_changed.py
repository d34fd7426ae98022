"""`subscription { teamChanged }`: what is told of each write, from the stream of the table."""

import asyncio
import uuid
from typing import Any

import pytest
from starlette.applications import Starlette

from data.entities import Membership, Role
from data.errors import Unavailable
from data.members import add_member, remove_member
from data.store import Store
from resolvers.context import RequestContext
from schema.execution import Answer
from schema.streaming import SharedAnswers
from server.settings import Settings
from tests.api.listening import CHANGES, answer_to, listening_to
from tests.api.samples import gid
from tests.api_client import Api, Capture


def said(changes: list[dict[str, Any]]) -> list[tuple[str, str, str, int]]:
    return [(e["kind"], e["entityType"], e["entityId"], e["version"]) for e in changes]


async def test_each_write_is_told_with_the_whole_object(
    app: Starlette, settings: Settings, api: Api
) -> None:
    async with listening_to(app, settings, api.team) as listener:
        resource, project = await api.resource(), await api.project()
        id = await api.assignment(resource, project, "2024-01-01", "2024-01-03", note="On site")
        told = await listener.changes(3)
    assert said(told) == [
        ("CREATED", "RESOURCE", resource, 1),
        ("CREATED", "PROJECT", project, 1),
        ("CREATED", "ASSIGNMENT", id, 1),
    ]
    assert {each["changedBy"] for each in told} == {"user-1"}
    assert told[2]["entity"] == {
        "__typename": "Assignment",
        "id": id,
        "startDate": "2024-01-01",
        "endDate": "2024-01-03",
        "note": "On site",
        "resourceId": resource,
        "projectId": project,
        "version": 1,
    }


async def test_a_move_to_another_day_is_one_update_of_the_same_object(
    app: Starlette, settings: Settings, api: Api
) -> None:
    async with listening_to(app, settings, api.team) as listener:
        resource, project = await api.resource(), await api.project()
        id = await api.assignment(resource, project, "2024-01-01", "2024-01-03")
        await listener.changes(3)
        await api.mutate("updateAssignment", "errors { code }", id=id, startDate="2023-12-01")
        await api.mutate("updateAssignment", "errors { code }", id=id, note="Moved")
        told = await listener.changes(2)
    assert said(told) == [("UPDATED", "ASSIGNMENT", id, 2), ("UPDATED", "ASSIGNMENT", id, 3)]
    assert [each["entity"]["startDate"] for each in told] == ["2023-12-01"] * 2


async def test_a_deletion_is_told_by_its_id_and_a_cascade_by_all_of_them(
    app: Starlette, settings: Settings, api: Api
) -> None:
    """The mark that begins a cascade is told to nobody: the owner is told of when it is gone."""
    async with listening_to(app, settings, api.team) as listener:
        resource, project = await api.resource(), await api.project()
        one, two, three = [
            await api.assignment(resource, project, f"2024-01-0{day}", f"2024-01-0{day}")
            for day in (1, 2, 3)
        ]
        await listener.changes(5)
        await api.mutate("deleteAssignment", "errors { code }", id=one)
        await api.mutate("deleteProject", "errors { code }", id=project)
        told = await listener.changes(4)
    assert said(told[:1]) == [("DELETED", "ASSIGNMENT", one, 2)]
    assert sorted(said(told[1:])) == sorted(
        [
            ("DELETED", "ASSIGNMENT", two, 2),
            ("DELETED", "ASSIGNMENT", three, 2),
            ("DELETED", "PROJECT", project, 2),
        ]
    )
    assert {each["entity"] for each in told} == {None}


async def test_what_changes_nothing_is_not_told(
    app: Starlette, settings: Settings, api: Api
) -> None:
    async with listening_to(app, settings, api.team) as listener:
        resource = await api.resource("Ada")
        await listener.changes(1)
        await api.mutate("updateResource", "errors { code }", id=resource, name="Ada")
        await api.mutate("updateResource", "errors { code }", id=resource, name="Bo")
        (told,) = await listener.changes(1)
    assert (told["version"], told["entity"]["name"]) == (2, "Bo")


async def test_members_come_and_go(
    app: Starlette, settings: Settings, api: Api, store: Store
) -> None:
    async with listening_to(app, settings, api.team) as listener:
        member = Membership(team_id=api.team, user_id="user-2", role=Role.VIEWER)
        await add_member(store, member)
        await remove_member(store, api.team, "user-2")
        came, went = await listener.changes(2)
    id = gid("Membership", f"{api.team}#user-2")
    assert said([came, went]) == [
        ("CREATED", "MEMBERSHIP", id, 0),
        ("DELETED", "MEMBERSHIP", id, 1),
    ]
    assert came["entity"]["role"] == "VIEWER"


async def test_what_is_made_anew_under_the_same_id_is_told_though_its_versions_begin_again(
    app: Starlette, settings: Settings, api: Api, store: Store
) -> None:
    chosen = str(uuid.uuid4())
    id = gid("Resource", chosen)
    member = Membership(team_id=api.team, user_id="user-2", role=Role.VIEWER)
    async with listening_to(app, settings, api.team) as listener:
        for _ in range(2):
            await api.mutate("createResource", "errors { code }", id=chosen, name="Ada")
            await api.mutate("updateResource", "errors { code }", id=id, name="Bo")
            await api.mutate("deleteResource", "errors { code }", id=id)
        once = [("CREATED", 1), ("UPDATED", 2), ("DELETED", 3)]
        assert [(e["kind"], e["version"]) for e in await listener.changes(6)] == [*once, *once]
        for _ in range(2):
            await add_member(store, member)
            await remove_member(store, api.team, "user-2")
        kinds = [each["kind"] for each in await listener.changes(4)]
    assert kinds == ["CREATED", "DELETED"] * 2


async def test_no_team_hears_of_another(
    app: Starlette, settings: Settings, api: Api, stranger: Api
) -> None:
    async with (
        listening_to(app, settings, api.team) as own,
        listening_to(app, settings, stranger.team) as others,
    ):
        for number in range(3):
            await api.resource(f"Own {number}")
            await stranger.resource(f"Other {number}")
        names = [each["entity"]["name"] for each in await own.changes(3)]
        other_names = [each["entity"]["name"] for each in await others.changes(3)]
    assert names == [f"Own {number}" for number in range(3)]
    assert other_names == [f"Other {number}" for number in range(3)]


async def test_who_comes_back_with_a_cursor_has_missed_nothing(
    app: Starlette, settings: Settings, api: Api
) -> None:
    async with listening_to(app, settings, api.team) as listener:
        first = await api.resource("First")
        assert [each["entityId"] for each in await listener.changes(1)] == [first]
        cursor = listener.cursor
    second, third = await api.resource("Second"), await api.resource("Third")
    async with listening_to(app, settings, api.team, since=cursor) as again:
        assert [each["entityId"] for each in await again.changes(2)] == [second, third]
        fourth = await api.resource("Fourth")
        assert [each["entityId"] for each in await again.changes(1)] == [fourth]


@pytest.mark.parametrize("make", [lambda c: "nonsense", lambda c: c[:-2], lambda c: c + "AA"])
async def test_a_cursor_that_is_none_is_refused(
    app: Starlette, settings: Settings, api: Api, make: Any
) -> None:
    async with listening_to(app, settings, api.team) as listener:
        bad = make(listener.cursor)
    answer = await answer_to(app, settings, api.team, since=bad)
    assert isinstance(answer, Answer)
    (error,) = answer.body["errors"]
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": ["since"]}


async def test_a_cursor_of_another_team_is_refused(
    app: Starlette, settings: Settings, api: Api, stranger: Api
) -> None:
    async with listening_to(app, settings, stranger.team) as listener:
        cursor = listener.cursor
    answer = await answer_to(app, settings, api.team, since=cursor)
    assert isinstance(answer, Answer)
    assert answer.body["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_an_answer_reads_nothing_unless_relations_are_asked_for(
    app: Starlette, settings: Settings, api: Api, captured: Capture
) -> None:
    related = """subscription { teamChanged { changes { entity {
      ... on Assignment { resource { name } project { name } }
      ... on Team { name members { id } } } } } }"""
    async with (
        listening_to(app, settings, api.team) as plain,
        listening_to(app, settings, api.team, related) as linked,
    ):
        resource, project = await api.resource("Ada"), await api.project()
        await plain.changes(2)
        await linked.changes(2)
        captured.clear()
        await api.assignment(resource, project, "2024-01-01", "2024-01-03")
        await plain.changes(1)
        assert captured.table_queries == []
        answer = await linked.answer()
    entity = answer["data"]["teamChanged"]["changes"][0]["entity"]
    assert entity == {"resource": {"name": "Ada"}, "project": {"name": "Bridge"}}
    # Projects and resources: what a Team would need is not read for an assignment.
    (query,) = captured.table_queries
    assert query["ExpressionAttributeValues"][":low"] == {"S": "PRJ#"}


async def test_subscribers_who_ask_the_same_share_an_answer(
    app: Starlette, settings: Settings, api: Api
) -> None:
    shared = SharedAnswers()
    made: list[RequestContext] = []
    options: dict[str, Any] = {"shared": shared, "made": made}
    async with (
        listening_to(app, settings, api.team, **options) as one,
        listening_to(app, settings, api.team, **options) as two,
        listening_to(app, settings, api.team, CHANGES.replace("changedAt", ""), **options) as other,
    ):
        made.clear()
        await api.resource()
        (first,), (second,), (third,) = [await each.changes(1) for each in (one, two, other)]
    assert first == second
    assert "changedAt" not in third
    assert len(made) == 2


async def test_an_operation_with_other_variables_has_an_answer_of_its_own(
    app: Starlette, settings: Settings, api: Api
) -> None:
    query = """subscription($since: String, $with: Boolean!) { teamChanged(since: $since) {
      cursor changes { entityId version @include(if: $with) } } }"""
    shared = SharedAnswers()
    async with (
        listening_to(app, settings, api.team, query, shared=shared, **{"with": True}) as one,
        listening_to(app, settings, api.team, query, shared=shared, **{"with": False}) as two,
    ):
        await api.resource()
        (first,), (second,) = await one.changes(1), await two.changes(1)
    assert "version" in first
    assert "version" not in second


async def test_a_variable_that_is_null_is_another_one_than_one_left_out(
    app: Starlette, settings: Settings, api: Api
) -> None:
    query = """subscription($from: Date = "2999-01-01") { teamChanged { cursor changes {
      entity { ... on Resource { assignments(from: $from) { id } } } } } }"""
    shared = SharedAnswers()
    async with (
        listening_to(app, settings, api.team, query, shared=shared) as one,
        listening_to(app, settings, api.team, query, shared=shared, **{"from": None}) as two,
    ):
        resource, project = await api.resource(), await api.project()
        await api.assignment(resource, project, "2024-01-01", "2024-01-03")
        await api.mutate("updateResource", "resource { id }", id=resource, name="Bob")
        *_, first = await one.changes(4)
        *_, second = await two.changes(4)
    assert first["entity"]["assignments"] == []
    assert len(second["entity"]["assignments"]) == 1


async def test_a_fault_of_one_answer_is_masked_and_the_next_one_comes(
    app: Starlette, settings: Settings, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    related = """subscription { teamChanged { cursor changes { entityId entity {
      ... on Assignment { resource { name } } } } } }"""
    resource, project = await api.resource(), await api.project()
    fail = True
    send = Store._send

    async def failing(self: Store, operation: Any, *args: Any, **more: Any) -> Any:
        if fail and operation == "Query":
            raise Unavailable("the store is busy; try again")
        return await send(self, operation, *args, **more)

    async with listening_to(app, settings, api.team, related) as listener:
        await api.assignment(resource, project, "2024-01-01", "2024-01-03")
        monkeypatch.setattr(Store, "_send", failing)
        answer = await listener.answer()
        assert answer["data"] is None
        assert answer["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
        fail = False
        id = await api.assignment(resource, project, "2024-02-01", "2024-02-03")
        (told,) = await listener.changes(1)
    assert told["entityId"] == id


async def test_what_is_no_subscription_is_refused(
    app: Starlette, settings: Settings, api: Api
) -> None:
    for query in ("{ team { id } }", "subscription { nothing }", "subscription { a: teamChanged }"):
        answer = await answer_to(app, settings, api.team, query)
        assert isinstance(answer, Answer)
        assert "errors" in answer.body
        assert "data" not in answer.body


async def test_a_subscription_by_post_is_told_where_to_go(api: Api) -> None:
    answer = await api.run("subscription { teamChanged { cursor } }")
    (error,) = answer["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert "text/event-stream" in error["message"]


async def test_many_writes_at_once_are_told_in_order_of_version(
    app: Starlette, settings: Settings, api: Api
) -> None:
    day = "2024-01-01"
    async with listening_to(app, settings, api.team) as listener:
        resource, project = await api.resource(), await api.project()
        ids = [await api.assignment(resource, project, day, "2024-01-03") for _ in range(4)]
        await listener.changes(6)

        async def edit(id: str) -> None:
            for number in range(10):
                start = f"2024-01-0{1 + number % 3}"
                await api.mutate(
                    "updateAssignment", "errors { code }", id=id, startDate=start, note=f"{number}"
                )

        await asyncio.gather(*map(edit, ids))
        told = await listener.changes(40)
    for id in ids:
        assert [e["version"] for e in told if e["entityId"] == id] == [*range(2, 12)]
