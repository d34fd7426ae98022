"""A table of the first planner is readable after `planner backfill`, and nothing is lost."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from data.expressions import Item, KeyQuery, s
from data.guards import EXISTS
from data.store import Store
from tests.api.samples import ERRORS, gid
from tests.api_client import Api
from tests.transfer.commands import planner
from tests.transfer.files import items_in, legacy, sorted_items

TEAM, OTHER = "01HM0000000000000000000TM1", "01HM0000000000000000000TM2"
USER = "01HMUSERUSERUSERUSERUSERU1"
PARTITIONS = (f"TEAM#{TEAM}", f"TEAM#{OTHER}", f"USER#{USER}", "VT#ada@example.com")
TEAMS = ("--team", TEAM, "--team", OTHER)

DOCUMENT = """query($from: Date, $to: Date) { team { id name
  members { userId role }
  resources { id name }
  projects { id name color }
  assignments(from: $from, to: $to) {
    id startDate endDate note resource { name } project { name }
  }
} }"""


async def contents(store: Store) -> list[Item]:
    """All items of the table, partition by partition."""
    found: list[Item] = []
    for pk in PARTITIONS:
        found += await store.query(KeyQuery("#pk = :pk", {":pk": s(pk)}))
    return sorted_items(found)


@pytest.fixture
async def table(store: Store) -> Store:
    """The table as the first planner left it."""
    for item in legacy():
        await store.put(item, None)
    assert await contents(store) == sorted_items(legacy())
    return store


def names(objects: list[Mapping[str, Any]]) -> list[str]:
    return [each["name"] for each in objects]


async def test_table_of_the_first_planner_is_readable_after_a_backfill_and_nothing_is_lost(
    table: Store, http: httpx.AsyncClient
) -> None:
    api = Api(http, TEAM)
    assert (await api.data("{ team { resources { id } } }"))["team"]["resources"] == []

    dry = await planner(table, "backfill", *TEAMS)
    assert (dry.code, "--write" in dry.out) == (0, True)
    assert await contents(table) == sorted_items(legacy()), "a dry run writes nothing"

    done = await planner(table, "backfill", *TEAMS, "--write")
    assert (done.code, done.err) == (0, "")
    assert "EntityType: added to 15" in done.out
    assert "longEnd: added to 1\n" in done.out

    after = {(item["pk"]["S"], item["sk"]["S"]): item for item in await contents(table)}
    before = {(item["pk"]["S"], item["sk"]["S"]): item for item in sorted_items(legacy())}
    assert after.keys() == before.keys()
    added: set[str] = set()
    for key, item in before.items():
        assert {name: after[key][name] for name in item} == item, "what was there stays"
        added |= after[key].keys() - item.keys()
    assert added == {"EntityType", "longEnd", "GSI1PK", "GSI1SK", "teamId", "userId"}
    assert all(
        after[key] == item for key, item in before.items() if not key[0].startswith("TEAM#")
    ), "what Auth.js keeps is nobody's to touch"

    answer = await api.run(DOCUMENT)
    assert answer.keys() == {"data"}, "nothing was skipped"
    team = answer["data"]["team"]
    assert team["name"] == "設計部"
    assert [each["role"] for each in team["members"]] == ["ADMIN", "MEMBER"]
    assert names(team["resources"]) == ["佐藤 健", "Ada Brandt", "鈴木 さくら"]
    assert names(team["projects"]) == ["新社屋移転", "Harbour crossing"]
    assert len(team["assignments"]) == 5
    assert {each["note"] for each in team["assignments"]} == {None, "午前のみ"}
    assert all(each["resource"] and each["project"] for each in team["assignments"])

    # The long one began long before this window, and is found by its new longEnd.
    window = "query($from: Date!, $to: Date!) { team { assignments(from: $from, to: $to) { id } } }"
    late = await api.data(window, **{"from": "2024-05-01", "to": "2024-05-31"})
    assert len(late["team"]["assignments"]) == 1

    again = await planner(table, "backfill", *TEAMS, "--write")
    assert (again.code, "nothing is missing" in again.out) == (0, True)
    doctor = await planner(table, "doctor", *TEAMS)
    assert (doctor.code, "nothing is wrong" in doctor.out) == (0, True)


@pytest.mark.engines("local")
async def test_after_a_backfill_teams_are_listed_and_members_have_theirs(
    table: Store, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    nobody = await planner(table, "doctor")
    assert (nobody.code, "No team is listed" in nobody.err) == (1, True)
    await planner(table, "backfill", *TEAMS, "--write")
    listed = await planner(table, "export", tmp_path / "all")
    assert listed.code == 0
    teams = items_in(tmp_path / "all" / "Team.jsonl")
    assert [item["id"]["S"] for item in teams] == [TEAM, OTHER]
    of_user = await planner(table, "doctor", "--user", USER)
    assert (of_user.code, "of 1 team" in of_user.out) == (0, True)


async def test_rows_of_the_first_planner_go_out_and_in_again_untouched(
    table: Store, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    out = tmp_path / "untyped"
    assert (await planner(table, "export", out, *TEAMS)).code == 0
    ours = [item for item in legacy() if item["pk"]["S"].startswith("TEAM#")]
    assert [path.name for path in out.glob("*.jsonl")] == ["Unknown.jsonl"]
    assert sorted_items(items_in(out / "Unknown.jsonl")) == sorted_items(ours)

    for item in ours:
        await table.delete({"pk": item["pk"], "sk": item["sk"]}, EXISTS)
    back = await planner(table, "import", out)
    assert (back.code, back.out) == (0, "15 written, 0 there already\n")
    assert await contents(table) == sorted_items(legacy())

    await planner(table, "backfill", *TEAMS, "--write")
    api = Api(http, TEAM)
    payload = await api.mutate(
        "updateResource", ERRORS, id=gid("Resource", "01HMZ8Q2V5X0W3R7T9Y1K4B6NE"), name="Ken"
    )
    assert payload == {"errors": []}
    [changed] = [each for each in await contents(table) if each.get("name") == s("Ken")]
    assert changed["rate"] == {"N": "98765432109876543210.0123456789"}
    assert changed["skills"] == {"SS": ["crane", "survey"]}
