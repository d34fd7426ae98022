"""`Team.recentChanges`: what happened, by whom and when, newest first, page by page."""

import base64
import json
from itertools import pairwise
from typing import Any

import httpx
import pytest

from data.cursors import seal
from data.entities import Membership, Role, Team
from data.expressions import n, s
from data.members import add_member, create_team, remove_member
from data.store import Store
from resolvers.changes import MAX_LISTS
from tests.api_client import Api, Capture, put

FIELDS = "kind entityType entityId version changedAt changedBy entity { __typename id }"
CHANGES = f"""query($first: Int, $after: String, $type: EntityType) {{ team {{
  recentChanges(first: $first, after: $after, entityType: $type) {{
    edges {{ cursor node {{ {FIELDS} }} }}
    pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}
  }} }} }}"""


async def page(api: Api, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await api.data(CHANGES, **arguments))["team"]["recentChanges"]
    return found


async def all_pages(api: Api, *, first: int, **arguments: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = None
    while True:
        one = await page(api, first=first, after=after, **arguments)
        assert len(one["edges"]) <= first
        found += one["edges"]
        info = one["pageInfo"]
        assert info["endCursor"] == (one["edges"][-1]["cursor"] if one["edges"] else None)
        if not info["hasNextPage"]:
            return found
        after = info["endCursor"]


def said(edges: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(e["node"]["kind"], e["node"]["entityType"], e["node"]["entityId"]) for e in edges]


def stamped(number: int, *, name: str = "Ada") -> dict[str, Any]:
    """A resource that was changed at a moment of its own: the lower, the older."""
    moment = s(f"2024-01-01T00:{number // 60:02}:{number % 60:02}.000Z")
    return {
        "sk": s(f"RES#r{number:04}"),
        "EntityType": s("Resource"),
        "id": s(f"r{number:04}"),
        "name": s(name),
        "version": n(1),
        "createdAt": moment,
        "updatedAt": moment,
        "updatedBy": s("user-9"),
    }


async def test_each_change_says_what_happened_to_what_by_whom_and_when(api: Api) -> None:
    resource, project = await api.resource(), await api.project()
    first = await api.assignment(resource, project, "2024-01-01", "2024-01-03")
    second = await api.assignment(resource, project, "2024-02-01", "2024-02-03")
    await api.mutate("updateAssignment", "errors { code }", id=first, startDate="2023-12-30")
    await api.mutate("updateResource", "errors { code }", id=resource, name="Bo")
    await api.mutate("deleteAssignment", "errors { code }", id=second)
    edges = (await page(api))["edges"]
    assert said(edges) == [
        ("DELETED", "ASSIGNMENT", second),
        ("UPDATED", "RESOURCE", resource),
        ("UPDATED", "ASSIGNMENT", first),
        ("CREATED", "PROJECT", project),
    ]
    assert [edge["node"]["version"] for edge in edges] == [2, 2, 2, 1]
    assert {edge["node"]["changedBy"] for edge in edges} == {"user-1"}
    moments = [edge["node"]["changedAt"] for edge in edges]
    assert all(newer > older for newer, older in pairwise(moments))
    assert edges[0]["node"]["entity"] is None
    assert edges[1]["node"]["entity"] == {"__typename": "Resource", "id": resource}


async def test_a_cascade_shows_as_the_deletion_of_each(api: Api) -> None:
    resource, project = await api.resource(), await api.project()
    ids = [
        await api.assignment(resource, project, day, day) for day in ("2024-01-01", "2024-01-02")
    ]
    await api.mutate("deleteProject", "errors { code }", id=project)
    deleted = [each for each in said((await page(api))["edges"]) if each[0] == "DELETED"]
    assert sorted(deleted) == sorted(
        [("DELETED", "PROJECT", project), *(("DELETED", "ASSIGNMENT", id) for id in ids)]
    )


async def test_the_whole_object_comes_along_with_its_relations(
    api: Api, store: Store, captured: Capture
) -> None:
    """Whatever is selected of the objects is read with the plan, in one Query."""
    resource, project = await api.resource(), await api.project()
    id = await api.assignment(resource, project, "2024-01-01", "2024-01-03", note="On site")
    captured.clear()
    data = await api.data(
        """{ team { recentChanges(first: 1) { edges { node { entity { ... on Assignment {
          id note startDate resource { name } project { id color }
        } ... on Team { name } } } } } } }"""
    )
    (edge,) = data["team"]["recentChanges"]["edges"]
    assert edge["node"]["entity"] == {
        "id": id,
        "note": "On site",
        "startDate": "2024-01-01",
        "resource": {"name": "Ada"},
        "project": {"id": project, "color": "#336699"},
    }
    assert len(captured.table_queries) == 1
    assert [each["IndexName"] for each in captured.index_queries] == ["byUpdatedAt"]


async def test_changes_alone_cost_no_read_of_the_table(
    api: Api, store: Store, captured: Capture
) -> None:
    await api.resource()
    captured.clear()
    await page(api)
    assert captured.table_queries == []
    (query,) = captured.index_queries
    assert query["ScanIndexForward"] is False
    assert query["Limit"] == 21


async def test_a_filter_is_made_of_placeholders_and_brings_deletions_along(
    api: Api, store: Store, captured: Capture
) -> None:
    resource, project = await api.resource(), await api.project()
    gone = await api.resource("Cy")
    await api.mutate("deleteResource", "errors { code }", id=gone)
    captured.clear()
    edges = (await page(api, type="RESOURCE"))["edges"]
    assert said(edges) == [("DELETED", "RESOURCE", gone), ("CREATED", "RESOURCE", resource)]
    (query, *_) = captured.index_queries
    assert query["FilterExpression"] == "#EntityType = :type OR #deletedType = :type"
    assert query["ExpressionAttributeValues"][":type"] == s("Resource")
    assert said((await page(api, type="PROJECT"))["edges"]) == [("CREATED", "PROJECT", project)]


@pytest.mark.parametrize("first", [1, 2, 7, 100])
async def test_pages_have_everything_once_and_in_order(api: Api, store: Store, first: int) -> None:
    await put(store, api.team, [stamped(number) for number in range(40)])
    edges = await all_pages(api, first=first)
    assert len(edges) == 40
    moments = [edge["node"]["changedAt"] for edge in edges]
    assert moments == sorted(moments, reverse=True)
    assert len({edge["cursor"] for edge in edges}) == 40


async def test_changes_of_one_moment_are_not_lost_between_pages(api: Api, store: Store) -> None:
    same = [{**stamped(number), "updatedAt": s("2024-01-01T00:00:00.000Z")} for number in range(9)]
    await put(store, api.team, same)
    found = [edge["node"]["entityId"] for edge in await all_pages(api, first=2)]
    assert len(set(found)) == len(found) == 9


async def test_pages_that_the_filter_leaves_empty_are_read_on(
    api: Api, store: Store, captured: Capture
) -> None:
    """D-01: the limit counts what was looked at, not what was found."""
    rare = {**stamped(0), "sk": s("PRJ#p"), "EntityType": s("Project"), "id": s("p")}
    rare["color"] = s("#336699")
    await put(store, api.team, [rare, *(stamped(number) for number in range(1, 300))])
    captured.clear()
    one = await page(api, first=1, type="PROJECT")
    assert [edge["node"]["entityType"] for edge in one["edges"]] == ["PROJECT"]
    assert one["pageInfo"]["hasNextPage"] is False
    # In steps that grow: 2, 4, 8 … items, and not one request for each two of them.
    limits = [each["Limit"] for each in captured.index_queries]
    assert limits == [2 * 2**step for step in range(len(limits))]
    assert len(limits) <= 9


async def test_what_cannot_be_read_is_left_out_and_counted(api: Api, store: Store) -> None:
    broken = {**stamped(3), "name": n(7)}
    await put(store, api.team, [stamped(1), stamped(2), broken, stamped(4)])
    answer = await api.run(CHANGES, first=3)
    edges = answer["data"]["team"]["recentChanges"]["edges"]
    assert [edge["node"]["changedAt"][17:19] for edge in edges] == ["04", "02", "01"]
    assert answer["extensions"]["warnings"] == [{"code": "MALFORMED_ITEM", "count": 1}]


async def test_an_owner_that_is_being_deleted_does_not_show(api: Api, store: Store) -> None:
    going = {**stamped(2), "deletingAt": s("2024-01-01T00:00:02.000Z")}
    await put(store, api.team, [stamped(1), going, stamped(3)])
    seconds = [edge["node"]["changedAt"][17:19] for edge in (await page(api))["edges"]]
    assert seconds == ["03", "01"]


async def test_memberships_and_the_team_change_too(api: Api, store: Store) -> None:
    await create_team(store, Team(id=api.team, name="Bridges"))
    member = Membership(team_id=api.team, user_id="user-2", role=Role.VIEWER)
    await add_member(store, member)
    await remove_member(store, api.team, "user-2")
    edges = (await page(api))["edges"]
    assert [each[:2] for each in said(edges)] == [("DELETED", "MEMBERSHIP"), ("CREATED", "TEAM")]
    assert {edge["node"]["changedBy"] for edge in edges} == {None}


async def refusal(api: Api, **arguments: Any) -> tuple[str, list[str]]:
    answer = await api.run(CHANGES, **arguments)
    assert answer["data"] is None or answer["data"]["team"] is None
    (error,) = answer["errors"]
    return error["extensions"]["code"], error["extensions"].get("field", [])


@pytest.mark.parametrize("first", [0, -1, 101, 2**31 - 1])
async def test_a_page_has_from_1_to_100(
    api: Api, store: Store, first: int, captured: Capture
) -> None:
    captured.clear()
    assert await refusal(api, first=first) == ("BAD_USER_INPUT", ["first"])
    assert captured.requests == []


async def test_an_operation_has_ten_lists_and_no_more(api: Api, captured: Capture) -> None:
    """Each is a read of its own, which aliases must not multiply."""
    lists = "".join(f"a{n}: recentChanges {{ edges {{ cursor }} }}\n" for n in range(MAX_LISTS))
    assert len((await api.data(f"{{ team {{ {lists} }} }}"))["team"]) == MAX_LISTS
    captured.clear()
    answer = await api.run(f"{{ team {{ {lists} more: recentChanges {{ edges {{ cursor }} }} }} }}")
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"LIMIT_EXCEEDED"}
    assert captured.index_queries == []


async def test_a_cursor_is_bound_to_the_team_and_to_the_type(
    api: Api, http: httpx.AsyncClient, store: Store, captured: Capture
) -> None:
    other = Api(http, f"{api.team}-other")
    for each in (api, other):
        await put(store, each.team, [stamped(number) for number in range(5)])
    cursor = (await page(api, first=2))["pageInfo"]["endCursor"]
    assert len((await page(api, first=9, after=cursor))["edges"]) == 3
    captured.clear()
    assert await refusal(other, after=cursor) == ("BAD_USER_INPUT", ["after"])
    assert await refusal(api, after=cursor, type="RESOURCE") == ("BAD_USER_INPUT", ["after"])
    assert captured.requests == []


async def test_a_cursor_that_was_tampered_with_is_none(
    api: Api, store: Store, captured: Capture
) -> None:
    await put(store, api.team, [stamped(number) for number in range(3)])
    cursor = (await page(api, first=1))["pageInfo"]["endCursor"]
    changed = [
        cursor[:at] + ("A" if cursor[at] != "A" else "B") + cursor[at + 1 :] for at in (0, 9, -2)
    ]
    place = base64.urlsafe_b64encode(json.dumps(["2024", "RES#r0001"]).encode()).decode()
    captured.clear()
    for bad in [
        "",
        " ",
        "A",
        "é",
        "\u0000",
        place,
        cursor + "=",
        cursor + "A",
        cursor[:-1],
        *changed,
    ]:
        assert await refusal(api, after=bad) == ("BAD_USER_INPUT", ["after"]), bad
    assert captured.requests == []


@pytest.mark.parametrize(
    "place", ["", "[]", '["", "RES#1"]', '["2024", ""]', '["a", "b", "c"]', "[1, 2]"]
)
async def test_a_cursor_of_no_place_is_none(api: Api, place: str) -> None:
    """Whoever makes one up with a right digest gets no further."""
    cursor = seal(place.encode(), "recentChanges", api.team, "")
    assert await refusal(api, after=cursor) == ("BAD_USER_INPUT", ["after"])
