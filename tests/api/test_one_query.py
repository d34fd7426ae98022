"""Whatever a read asks for, it costs at most one Query on the table; #4 adds one on an index. Of a
large team, windows and single assignments are read apart from what else is wanted."""

from typing import Any, NamedTuple

import httpx
import pytest

from data.entities import Team
from data.recent import Recent
from data.store import Store
from tests.api.samples import assignment, gid, project, resource
from tests.api_client import Api, Capture, put

TEAM = "one-query"
IDS = {
    "team": gid("Team", TEAM),
    "r": gid("Resource", "r1"),
    "p": gid("Project", "p1"),
    "a": gid("Assignment", "a1"),
    "m": gid("Membership", f"{TEAM}#user-1"),
    "none": gid("Resource", "nobody"),
}
JANUARY: dict[str, Any] = {"from": "2024-01-01", "to": "2024-01-31"}


class Shape(NamedTuple):
    """A document, how many Queries it costs on the table, and on which indexes; and those on the
    table and on `byLongEnd` of a large team, where they are others."""

    document: str
    table: int = 1
    indexes: tuple[str, ...] = ()
    variables: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    large: tuple[int, int] | None = None


SHAPES = {
    "nothing but __typename": Shape("{ __typename }", 0),
    "the viewer": Shape("{ viewer { id role } }", 0),
    "the viewer's teams": Shape("{ viewer { teams { id role isCurrent } } }", 0, ("GSI1",)),
    "the viewer's teams beside the team": Shape(
        """{ team { resources { id } } viewer { teams { id joinedAt } }
        again: viewer { mine: teams { role } same: teams { role } } }""",
        indexes=("GSI1",),
    ),
    "the members": Shape("{ team { members { id userId role joinedAt } } }"),
    "members and the name": Shape("{ team { name members { userId } } }"),
    "members and the whole timeline": Shape(
        """{ team { members { userId } resources { id } projects { id }
        assignments(from: "2024-01-01") { id } } }""",
        large=(2, 1),
    ),
    "node of a member": Shape(
        f"""{{ node(id: "{IDS["m"]}") {{ ... on Membership {{ userId role }} }} }}"""
    ),
    "node of a member of another team": Shape(
        f"""{{ node(id: "{gid("Membership", "x#user-1")}") {{ id }} }}""", 0
    ),
    "the team's id": Shape("{ team { id __typename } }", 0),
    "another team's id as a node": Shape(f'{{ node(id: "{gid("Team", "x")}") {{ id }} }}', 0),
    "the team's name": Shape("{ team { name version createdAt updatedAt } }"),
    "#1 the whole timeline": Shape(
        """{ team { id name resources { id name } projects { id name color }
        assignments { id startDate endDate resource { name } project { name } } } viewer { id } }"""
    ),
    "#1 with a window": Shape(
        """query($from: Date, $to: Date) { team { resources { id } projects { id }
        assignments(from: $from, to: $to) { id } } }""",
        variables=JANUARY,
        large=(2, 1),
    ),
    "#2 resources": Shape("{ team { resources { id name version } } }"),
    "#3 projects": Shape("{ team { projects { id tags links { url } } } }"),
    "#4 all assignments": Shape("{ team { assignments { id resourceId note } } }"),
    "#4 a window": Shape(
        '{ team { assignments(from: "2024-01-01", to: "2024-01-31") { id } } }',
        indexes=("byLongEnd",),
    ),
    "#4 from a day on": Shape(
        '{ team { assignments(from: "2024-01-01") { id } } }', indexes=("byLongEnd",)
    ),
    "#4 up to a day": Shape('{ team { assignments(to: "2024-01-31") { id } } }'),
    "#4 from the first of all days": Shape('{ team { assignments(from: "0001-01-01") { id } } }'),
    "#4 aliases with several windows": Shape(
        """{ team { jan: assignments(from: "2024-01-01", to: "2024-01-31") { id }
        feb: assignments(from: "2024-02-01", to: "2024-02-29") { id startDate } } }""",
        indexes=("byLongEnd",),
    ),
    "#4 aliases, one of them open": Shape(
        """{ team { jan: assignments(from: "2024-01-01", to: "2024-01-31") { id }
        all: assignments { id } } }"""
    ),
    "overlaps in a window": Shape(
        """{ team { overlaps(from: "2024-01-01", to: "2024-01-31") { startDate resource { name }
        assignments { id project { name } } } } }""",
        large=(2, 1),
    ),
    "projects and resources": Shape("{ team { projects { id } resources { id } } }"),
    "resources and assignments": Shape(
        '{ team { resources { id } assignments(from: "2024-01-01") { id } } }', large=(2, 1)
    ),
    "name and assignments": Shape(
        '{ team { name assignments(from: "2024-01-01") { id } } }', large=(2, 1)
    ),
    "two team fields": Shape("{ team { resources { id } } team { projects { id } } }"),
    "two team fields with aliases and windows": Shape(
        """{ a: team { assignments(from: "2024-01-01", to: "2024-01-02") { id } }
        b: team { assignments(from: "2024-03-01") { id project { name } } } }""",
        large=(2, 1),
    ),
    "fragments, nested and inline": Shape(
        """query { ...Root } fragment Root on Query { team { ...People ... on Team { ...Jobs }
        ... on Node { id } ... { assignments { id } } } }
        fragment People on Team { resources { ...Named } } fragment Named on Resource { name }
        fragment Jobs on Team { projects { id ... on Node { id } } }"""
    ),
    "@include(false) of all that is stored": Shape(
        """query($all: Boolean!) { team { id resources @include(if: $all) { id }
        ... @include(if: $all) { projects { id } } ...More @include(if: $all) } }
        fragment More on Team { name }""",
        0,
        variables={"all": False},
    ),
    "@include(true) of all that is stored": Shape(
        """query($all: Boolean!) { team { id resources @include(if: $all) { id }
        ... @include(if: $all) { projects { id } } ...More @include(if: $all) } }
        fragment More on Team { name }""",
        variables={"all": True},
    ),
    "@skip(true) leaves #4": Shape(
        """query($bare: Boolean = true) { team { assignments(from: "2024-01-01") { id
        resource @skip(if: $bare) { name } } } }""",
        indexes=("byLongEnd",),
    ),
    "@skip(false) asks for the resources too": Shape(
        """query($bare: Boolean = true) { team { assignments(from: "2024-01-01") { id
        resource @skip(if: $bare) { name } } } }""",
        variables={"bare": False},
        large=(2, 1),
    ),
    "@skip of the team": Shape("query { team @skip(if: true) { name } viewer { id } }", 0),
    "resource.assignments with windows": Shape(
        """{ team { resources { name a: assignments(from: "2024-01-01", to: "2024-01-31") { id }
        b: assignments(from: "2024-02-01") { id note } } } }""",
        large=(2, 1),
    ),
    "project.assignments with windows": Shape(
        """query($to: Date) { team { projects { name assignments(to: $to) { id } } } }""",
        variables={"to": "2024-01-31"},
        large=(2, 0),
    ),
    "nested both ways": Shape(
        """{ team { resources { assignments { project { name assignments(from: "2024-01-01") {
        resource { name } } } } } projects { assignments(to: "2024-12-31") { resource { name
        assignments { project { color } } } } } } }"""
    ),
    "node of the team": Shape(
        f"""{{ node(id: "{IDS["team"]}") {{ id ... on Team {{ name resources {{ id }} }} }} }}"""
    ),
    "node of a resource": Shape(
        f"""{{ node(id: "{IDS["r"]}") {{ id ... on Resource {{ name }} }} }}"""
    ),
    "node of a resource with its plan": Shape(
        f"""{{ node(id: "{IDS["r"]}") {{ ... on Resource {{ name
        assignments(from: "2024-01-01") {{ project {{ name }} }} }} }} }}""",
        large=(2, 1),
    ),
    "node of a project": Shape(
        f"""{{ node(id: "{IDS["p"]}") {{ __typename ... on Project {{ color }} }} }}"""
    ),
    "node of an assignment": Shape(
        f"""{{ node(id: "{IDS["a"]}") {{ ... on Assignment {{ startDate resource {{ name }}
        project {{ name }} }} }} }}""",
        indexes=("byId",),
        large=(2, 0),
    ),
    "node of an assignment that never was, looked for again in an index that may lag": Shape(
        f"""{{ node(id: "{gid("Assignment", "never")}") {{ id }} }}""",
        0,
        ("byId", "byId", "byId"),
    ),
    "node that is no id": Shape('{ node(id: "never made") { id } }', 0),
    "node of nobody": Shape(f'{{ node(id: "{IDS["none"]}") {{ id }} }}'),
    "nodes of each type, and the team": Shape(
        f"""{{ nodes(ids: ["{IDS["team"]}", "{IDS["r"]}", "{IDS["p"]}", "{IDS["a"]}"]) {{ id
        ... on Resource {{ name assignments {{ id }} }} ... on Team {{ name }} }}
        team {{ projects {{ id }} }} viewer {{ id }} }}""",
        indexes=("byId",),
    ),
    "no nodes": Shape("{ nodes(ids: []) { id } }", 0),
}


@pytest.fixture(scope="module")
async def planned(http: httpx.AsyncClient, store: Store) -> Api:
    await put(
        store,
        TEAM,
        [
            Team(id=TEAM, name="One", version=1),
            *(resource(f"r{n}") for n in (1, 2)),
            *(project(f"p{n}") for n in (1, 2)),
            assignment("2024-01-10", 3, id="a1", resource="r1", project="p1"),
            assignment("2023-06-01", 300, id="a2", resource="r1", project="p2"),
            assignment("2024-02-01", 30, id="a3", resource="r2", project="p1"),
        ],
    )
    return Api(http, TEAM)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
async def test_any_read_costs_at_most_one_query_on_the_table(
    planned: Api, captured: Capture, shape: Shape
) -> None:
    await planned.data(shape.document, **shape.variables)
    assert len(captured.table_queries) == shape.table
    assert tuple(query["IndexName"] for query in captured.index_queries) == shape.indexes
    assert len(captured.requests) == shape.table + len(shape.indexes)
    assert all(query["ConsistentRead"] is True for query in captured.table_queries)
    assert not any("Limit" in query for _, query in captured.requests)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
async def test_a_large_team_is_asked_for_its_windows_and_its_owners_at_the_same_time(
    planned: Api, captured: Capture, shape: Shape
) -> None:
    small = await planned.data(shape.document, **shape.variables)
    captured.clear()
    captured.store.large_teams.add(TEAM)
    try:
        assert await planned.data(shape.document, **shape.variables) == small
    finally:
        captured.store.large_teams = Recent()
    on_indexes = [query["IndexName"] for query in captured.index_queries]
    table, long = shape.large or (shape.table, shape.indexes.count("byLongEnd"))
    assert len(captured.table_queries) == table
    assert on_indexes.count("byLongEnd") == long
    assert len(on_indexes) == long + len([each for each in shape.indexes if each != "byLongEnd"])
    assert all(query["ConsistentRead"] is True for query in captured.table_queries)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
async def test_pages_are_the_same_query_continued_until_no_key_is_left(
    planned: Api, captured: Capture, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    whole = await planned.data(SHAPES["#1 the whole timeline"].document)
    captured.clear()
    monkeypatch.setattr(captured.store, "_page_size", size)
    assert await planned.data(SHAPES["#1 the whole timeline"].document) == whole
    first, *others = captured.table_queries
    # 8 items. DynamoDB gives a key with a full last page too, moto does not.
    assert len(others) in {7 // size, 8 // size}
    assert captured.operations == ["Query"] * (1 + len(others))
    for query in others:
        assert query.pop("ExclusiveStartKey")["pk"] == {"S": f"TEAM#{TEAM}"}
        assert query == first


async def test_a_read_is_one_query_however_much_it_finds(
    planned: Api, captured: Capture, store: Store
) -> None:
    await put(
        store,
        TEAM,
        [resource(f"more-{n}") for n in range(20)]
        + [assignment("2025-05-05", id=f"m{n}", resource=f"more-{n}") for n in range(20)],
    )
    answer = await planned.data(
        "{ team { resources { name assignments { project { name } resource { name } } } } }"
    )
    assert len(answer["team"]["resources"]) >= 20
    assert captured.operations == ["Query"]
