"""Teams go out into files and come in again: the same items, each once, and nothing replaced."""

import json
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest

from data.archive import Archive
from data.changes import ChangeKind
from data.clock import ago, now
from data.entities import (
    Assignment,
    Deletion,
    Entity,
    EntityType,
    Link,
    Membership,
    Project,
    Resource,
    Role,
    Team,
)
from data.exports import export_teams
from data.expressions import Expression, Item, KeyQuery, n, s
from data.guards import EXISTS, claim_item
from data.items import encode, key_in
from data.keys import team_partitions
from data.stamps import created
from data.store import Store
from data.streams import open_streams
from server.engines import DUMMY_CREDENTIALS
from tests.api_client import Capture
from tests.streams.clients import Client, feed_on
from tests.transfer.commands import planner
from tests.transfer.files import items_in, sorted_items, write_items, write_s3_export

DAY = date(2024, 1, 10)


def plan(team: str, assignments: int = 40) -> list[Entity]:
    """A team with all kinds of items."""
    return [
        created(Team(id=team, name="Örtliche Bauleitung")),
        Membership(team_id=team, user_id=f"user-of-{team}", role=Role.ADMIN, joined_at="j"),
        *(created(Resource(id=f"r{number}", name=f"山田 {number}")) for number in range(3)),
        created(
            Project(
                id="p0",
                name="Bridge",
                color="#336699",
                tags=("b", "a"),
                links=(Link("Plan", "https://plan.example"),),
            )
        ),
        *(
            created(
                Assignment(
                    id=f"a{number}",
                    resource_id=f"r{number % 3}",
                    project_id="p0",
                    start_date=DAY + timedelta(days=number),
                    end_date_exclusive=DAY + timedelta(days=number + 1 + 80 * (number % 2)),
                )
            )
            for number in range(assignments)
        ),
        deletion("d1", now()),
    ]


def deletion(id: str, moment: str) -> Deletion:
    """What remembers that an assignment was deleted then."""
    return Deletion(
        id=id,
        entity_type=EntityType.ASSIGNMENT,
        entity_id="gone",
        version=3,
        updated_at=moment,
        updated_by="u1",
    )


async def seed(store: Store, team: str, more: Sequence[Item] = ()) -> list[Item]:
    """Writes the plan and a claim besides; returns all items."""
    items = [encode(team, entity) for entity in plan(team)]
    items.append(claim_item(team, "ASN#a1", "ASN#2024-01-11#a1"))
    items += more
    for item in items:
        await store.put(item, None)
    return items


async def contents(store: Store, team: str) -> list[Item]:
    found: list[Item] = []
    for pk in team_partitions(team):
        found += await store.query(KeyQuery("#pk = :pk", {":pk": s(pk)}))
    return sorted_items(found)


async def clear(store: Store, team: str) -> None:
    for item in await contents(store, team):
        await store.delete(key_in(item), EXISTS)


def exported(folder: Path) -> list[Item]:
    return sorted_items(items_in(*sorted(folder.glob("*.jsonl"))))


async def test_each_type_has_its_file_and_all_of_a_team_is_in_them(
    store: Store, team: str, tmp_path: Path
) -> None:
    foreign: Item = {"pk": s(f"TEAM#{team}"), "sk": s("XYZ#1"), "cost": {"N": "1.5"}}
    items = await seed(store, team, [foreign])
    run = await planner(store, "export", tmp_path / "out", "--team", team)
    assert (run.code, run.err) == (0, "")
    files = {path.name: items_in(path) for path in (tmp_path / "out").glob("*.jsonl")}
    assert {name: len(found) for name, found in files.items()} == {
        "Assignment.jsonl": 40,
        "Claim.jsonl": 1,
        "Deletion.jsonl": 1,
        "Membership.jsonl": 1,
        "Project.jsonl": 1,
        "Resource.jsonl": 3,
        "Team.jsonl": 1,
        "Unknown.jsonl": 1,
    }
    assert exported(tmp_path / "out") == sorted_items(items)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["source"] == f"table {store.table}: {team}"
    assert {name: each["items"] for name, each in manifest["files"].items()} == {
        name: len(found) for name, found in files.items()
    }


async def test_what_went_out_comes_in_again_and_a_second_time_nothing_is_written(
    store: Store, team: str, tmp_path: Path
) -> None:
    items = await seed(store, team)
    await planner(store, "export", tmp_path / "out", "--team", team)
    await clear(store, team)
    dry = await planner(store, "import", tmp_path / "out", "--dry-run")
    assert (dry.code, dry.out) == (0, f"{len(items)} would be written, 0 there already\n")
    assert await contents(store, team) == []
    for written in (len(items), 0):
        run = await planner(store, "import", tmp_path / "out")
        there = len(items) - written
        assert (run.code, run.out) == (0, f"{written} written, {there} there already\n")
        assert await contents(store, team) == sorted_items(items)
    doctor = await planner(store, "doctor", "--team", team)
    assert (doctor.code, "nothing is wrong" in doctor.out) == (0, True)


@pytest.mark.engines("local")
async def test_many_teams_are_in_the_files_in_the_order_in_which_they_are_named(
    store: Store, team: str, tmp_path: Path
) -> None:
    teams = [f"{team}-{number}" for number in (3, 1, 2)]
    items = [item for each in teams for item in await seed(store, each)]
    (tmp_path / "teams").write_text("\n".join([*teams[1:], "", teams[1]]))
    run = await planner(
        store, "export", tmp_path / "out", "--team", teams[0], "--teams-file", tmp_path / "teams",
        "--at-once", "2",
    )  # fmt: skip
    assert run.code == 0
    assert exported(tmp_path / "out") == sorted_items(items)
    order = [item["id"]["S"] for item in items_in(tmp_path / "out" / "Team.jsonl")]
    assert order == teams
    for each in teams:
        await clear(store, each)
    run = await planner(store, "import", tmp_path / "out", "--team", teams[2])
    assert f"left out, since they belong to other teams: {2 * len(items) // 3} items" in run.err
    assert await contents(store, teams[2]) == sorted_items(items[2 * len(items) // 3 :])
    assert await contents(store, teams[0]) == []


async def test_what_is_there_and_differs_is_a_conflict_and_stays(
    store: Store, team: str, tmp_path: Path
) -> None:
    await seed(store, team)
    await planner(store, "export", tmp_path / "out", "--team", team)
    renamed = Expression("SET #name = :name", {":name": s("Grace")})
    await store.update({"pk": s(f"TEAM#{team}"), "sk": s("RES#r1")}, renamed, EXISTS)
    note = Expression("SET #note = :note", {":note": s("Late")})
    await store.update({"pk": s(f"TEAM#{team}"), "sk": s("ASN#2024-01-11#a1")}, note, EXISTS)
    await store.delete({"pk": s(f"TEAM#{team}"), "sk": s("ASN#2024-01-12#a2")}, EXISTS)
    before = await contents(store, team)
    for option in (["--dry-run"], []):
        run = await planner(store, "import", tmp_path / "out", *option)
        assert run.code == 1
        assert run.out.startswith("1 w"), "what is missing comes in all the same"
        assert f"conflict: TEAM#{team} RES#r1" in run.err
        assert f"conflict: TEAM#{team} ASN#2024-01-11#a1" in run.err
        assert "not written, since something else is there: 2 items" in run.err
    after = await contents(store, team)
    assert [item for item in after if item["sk"] != s("ASN#2024-01-12#a2")] == before


@pytest.mark.engines("local")
async def test_assignment_that_was_moved_since_does_not_come_in_a_second_time(
    store: Store, team: str, tmp_path: Path
) -> None:
    await seed(store, team)
    await planner(store, "export", tmp_path / "out", "--team", team)
    old = {"pk": s(f"TEAM#{team}"), "sk": s("ASN#2024-01-12#a2")}
    item = await store.get(old)
    assert item
    await store.delete(old, EXISTS)
    moved = {**item, "sk": s("ASN#2024-02-20#a2"), "startDate": s("2024-02-20")}
    await store.put(moved | {"endDateExclusive": s("2024-02-21")}, None)
    before = await contents(store, team)
    run = await planner(store, "import", tmp_path / "out")
    assert run.code == 1
    assert "ASN#2024-01-12#a2: its id is that of ASN#2024-02-20#a2" in run.err
    assert await contents(store, team) == before


async def test_no_assignment_comes_in_without_its_owners_or_while_they_are_deleted(
    store: Store, team: str, tmp_path: Path
) -> None:
    items = await seed(store, team)
    await planner(store, "export", tmp_path / "out", "--team", team)
    await clear(store, team)
    (tmp_path / "out" / "manifest.json").unlink()
    kept = [item for item in items_in(tmp_path / "out" / "Resource.jsonl") if item["id"] != s("r0")]
    kept[0]["deletingAt"] = s("2024-01-01T00:00:00.000Z")
    write_items(tmp_path / "out" / "Resource.jsonl", kept)
    run = await planner(store, "import", tmp_path / "out")
    assert run.code == 1
    there = [item for item in await contents(store, team) if item["EntityType"] == s("Assignment")]
    assert {item["resourceId"]["S"] for item in there} == {"r2"}
    assert len(there) == len([i for i in items if i.get("resourceId") == s("r2")]) == 13
    assert f"orphaned: TEAM#{team} ASN#2024-01-10#a0: RES#r0 is not there" in run.err
    assert "not written, since their resource or project is not: 27 items" in run.err


@pytest.mark.engines("local")
async def test_team_can_be_imported_under_another_id_without_its_members(
    store: Store, team: str, tmp_path: Path
) -> None:
    items = await seed(store, team)
    await planner(store, "export", tmp_path / "out", "--team", team)
    copy = f"{team}-copy"
    run = await planner(store, "import", tmp_path / "out", "--team", team, "--as", copy)
    assert run.code == 0
    assert "left out, since they do not go into a copy: 3 items" in run.err
    assert await contents(store, team) == sorted_items(items), "the team itself stays"
    expected = [
        encode(copy, entity)
        for entity in plan(copy)
        if not isinstance(entity, Membership | Deletion)
    ]
    stamps = ("createdAt", "updatedAt")
    assert [
        {k: v for k, v in item.items() if k not in stamps} for item in await contents(store, copy)
    ] == [{k: v for k, v in item.items() if k not in stamps} for item in sorted_items(expected)]


@pytest.mark.engines("local")
async def test_claims_and_tombstones_whose_time_is_over_do_not_come_in(
    store: Store, team: str, tmp_path: Path
) -> None:
    old = claim_item(team, "ASN#a1", "ASN#2024-01-11#a1") | {"expires": n(1_700_000_000)}
    write_items(tmp_path / "in" / "Claim.jsonl", [old, claim_item(team, "ASN#a2", "t")])
    forgotten = deletion("d1", ago(31 * 24 * 3600)), deletion("d2", ago(29 * 24 * 3600))
    write_items(tmp_path / "in" / "Deletion.jsonl", [encode(team, each) for each in forgotten])
    run = await planner(store, "import", tmp_path / "in")
    assert (run.code, run.out) == (0, "2 written, 0 there already\n2 items out of date\n")
    left = [item["sk"]["S"] for item in await contents(store, team)]
    assert left == ["!DEL#d2", "ASN#a2"]


async def test_what_was_made_anew_under_its_id_is_there_in_the_end_for_who_listens(
    store: Store, team: str, tmp_path: Path, engine: str
) -> None:
    anew = created(Resource(id="r0", name="Ada"))
    gone = Deletion(
        id="d0",
        entity_type=EntityType.RESOURCE,
        entity_id="r0",
        version=3,
        updated_at=ago(60),
        updated_by="u1",
    )
    for entity in (anew, gone):
        await store.put(encode(team, entity), None)
    await planner(store, "export", tmp_path / "out", "--team", team)
    await clear(store, team)
    client = Client(team)
    async with (
        open_streams(store, endpoint_url=engine, credentials=DUMMY_CREDENTIALS) as streams,
        feed_on(streams) as feed,
    ):
        await client.connect(feed)
        run = await planner(store, "import", tmp_path / "out")
        assert (run.code, run.out) == (0, "2 written, 0 there already\n")
        await client.until("r0", 1)
        await client.until("r0", 3)
    assert [change.kind for change in client.changes] == [ChangeKind.DELETED, ChangeKind.CREATED]


@pytest.mark.engines("local")
async def test_assignment_that_is_moved_while_the_team_is_read_is_in_the_export_once(
    store: Store, team: str, tmp_path: Path
) -> None:
    await seed(store, team)
    small = _small_pages(store)
    moved: list[str] = []

    async def move_to_the_front() -> None:
        # From where the pages have not been yet to where they have.
        key = {"pk": s(f"TEAM#{team}"), "sk": s("ASN#2024-02-18#a39")}
        if moved or not (item := await store.get(key)):
            return
        moved.append("a39")
        await store.delete(key, EXISTS)
        change: Item = {"sk": s("ASN#2024-01-01#a39"), "startDate": s("2024-01-01")}
        stamp = created(Team(id="x", name="x")).updated_at or ""
        await store.put({**item, **change, "updatedAt": s(stamp)}, None)

    original = small.pages
    calls = 0

    async def pages(query: KeyQuery, *, consistent: bool | None = None):  # type: ignore[no-untyped-def]
        nonlocal calls
        async for page in original(query, consistent=consistent):
            calls += 1
            yield page
            if calls == 2:
                await move_to_the_front()

    small.pages = pages  # type: ignore[method-assign]
    with Archive(tmp_path / "out", "x") as archive:
        await export_teams(small, archive, [team], on_items=bool, on_team=bool)
        assert archive.units("moving") == []
        archive.finish()
    assert moved
    found = [i["id"]["S"] for i in items_in(tmp_path / "out" / "Assignment.jsonl")]
    assert sorted(found) == sorted(f"a{number}" for number in range(40))


def _small_pages(store: Store) -> Store:
    return Store(store.client, store.transport, store.table, page_size=7)


@pytest.mark.engines("local")
async def test_nothing_is_scanned_and_every_look_at_the_table_is_consistent(
    store: Store, team: str, tmp_path: Path
) -> None:
    await seed(store, team)
    capture = Capture(store)
    with Archive(tmp_path / "out", "x") as archive:
        await export_teams(store, archive, [team], on_items=bool, on_team=bool)
    capture.stop()
    assert {*capture.operations} == {"Query"}
    assert all(query["ConsistentRead"] for query in capture.table_queries)
    values = [q["ExpressionAttributeValues"][":pk"]["S"] for q in capture.table_queries]
    assert values == list(team_partitions(team))


def lines(*items: Item) -> bytes:
    return "".join(json.dumps({"Item": item}) + "\n" for item in items).encode()


def manifest(**sums: str) -> bytes:
    files = {f"{name}.jsonl": {"sha256": sum} for name, sum in sums.items()}
    return json.dumps({"format": "resource-planner-export", "version": 1, "files": files}).encode()


KEYS: Item = {"pk": s("TEAM#t"), "sk": s("RES#1")}
ODD = {**KEYS, "a": {"S": 1}}
RESOURCE: Item = {**KEYS, "EntityType": s("Resource")}

BROKEN: list[tuple[dict[str, bytes], str]] = [
    ({"Resource.jsonl": lines(KEYS)[:-3]}, "Resource.jsonl, line 1: not an item"),
    ({"Resource.jsonl": b"\n" + lines(KEYS)}, "Resource.jsonl, line 2: the item is of the type N"),
    ({"Project.jsonl": lines(RESOURCE)}, "Project.jsonl, line 1: the item is of the type Resource"),
    ({"Unknown.jsonl": lines(KEYS, ODD)}, "Unknown.jsonl, line 2: 'a' is no value"),  # type: ignore[arg-type]
    ({"Claim.jsonl": b"\xff\n"}, "Claim.jsonl, line 1: not an item"),
    ({"Team.jsonl": b"", "progress.jsonl": b"{}\n"}, "unfinished export"),
    ({"Team.jsonl": b"", "manifest.json": b"{}"}, "no manifest"),
    ({"Team.jsonl": b"", "manifest.json": manifest(Team="0")}, "Team.jsonl is not as manifest"),
    ({"Team.jsonl": b"", "manifest.json": manifest()}, "Team.jsonl is not as manifest.json says"),
]


@pytest.mark.parametrize(("change", "said"), BROKEN)
@pytest.mark.engines("embedded")
async def test_broken_files_are_named_and_nothing_is_written(
    store: Store, team: str, tmp_path: Path, change: dict[str, bytes], said: str
) -> None:
    good = encode(team, plan(team)[0])
    write_items(tmp_path / "in" / "Team.jsonl", [good])
    for name, content in change.items():
        (tmp_path / "in" / name).write_bytes(content)
    run = await planner(store, "import", tmp_path / "in")
    assert run.code == 1
    assert said in run.err
    assert len(run.err.strip().splitlines()) == 1
    assert await contents(store, team) == []


@pytest.mark.engines("embedded")
async def test_export_to_s3_is_split_by_type_and_its_lines_stay_as_they_are(
    store: Store, team: str, tmp_path: Path
) -> None:
    items = [encode(each, entity) for each in ("a", "b") for entity in plan(each, 5)]
    items.append({"pk": s("USER#u"), "sk": s("SESSION#1"), "type": s("SESSION")})
    items.append(claim_item("a", "ASN#1", "x"))
    lines = [json.dumps({"Item": item}, ensure_ascii=False) for item in items]
    half = len(lines) // 2
    files = ["\n".join(part).encode() for part in (lines[:half], lines[half:])]
    write_s3_export(tmp_path / "s3", files, [half, len(lines) - half])
    run = await planner(None, "export", tmp_path / "all", "--from-s3-export", tmp_path / "s3")
    assert (run.code, run.err) == (0, "")
    assert exported(tmp_path / "all") == sorted_items(items)
    written = b"".join(path.read_bytes() for path in (tmp_path / "all").glob("*.jsonl"))
    assert sorted(written.decode().splitlines()) == sorted(lines)
    assert items_in(tmp_path / "all" / "Unknown.jsonl")[0]["type"] == s("SESSION")

    one = await planner(
        None, "export", tmp_path / "one", "--from-s3-export", tmp_path / "s3", "--team", "a"
    )
    assert one.code == 0
    assert {item["pk"]["S"] for item in exported(tmp_path / "one")} == {"TEAM#a", "TEAM#a#CLAIMS"}
    # What came from S3 goes into a table like what was exported.
    back = await planner(store, "import", tmp_path / "all", "--team", "b", "--as", team)
    assert (back.code, back.out) == (0, "10 written, 0 there already\n")


@pytest.mark.engines("embedded")
@pytest.mark.parametrize(
    "arguments",
    [
        ["doctor"],
        ["backfill"],
        ["backfill", "--write"],
        ["export", "{folder}/out"],
        ["export", "{folder}/out", "--from-s3-export", "{folder}/s3"],
        ["import", "{folder}/there"],
        ["import", "{folder}/there", "--dry-run"],
    ],
    ids=" ".join,
)
async def test_team_of_which_there_is_nothing_is_named_beside_one_that_is_there(
    store: Store, team: str, tmp_path: Path, arguments: list[str]
) -> None:
    items = await seed(store, team)
    assert (await planner(store, "export", tmp_path / "there", "--team", team)).code == 0
    write_s3_export(tmp_path / "s3", [lines(*items)], [len(items)])
    given = [each.format(folder=tmp_path) for each in arguments]
    run = await planner(store, *given, "--team", f"{team}-slip", "--team", team)
    assert (run.code, run.err.splitlines()[-1]) == (1, f"There is nothing of team {team}-slip.")
    assert f"team {team}." not in run.err


@pytest.mark.engines("embedded")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["import", "{folder}", "--as", "x"], "exactly one --team"),
        (["import", "{folder}", "--as", "x", "--team", "a", "--team", "b"], "exactly one --team"),
        (["import", "{folder}", "--as", "a#b", "--team", "a"], "team id"),
        (["import", "{folder}/none"], "none of the files"),
        (["export", "{folder}/x", "--team", "a#b"], "team id"),
        (
            ["export", "{folder}/x", "--teams-file", "{folder}/none"],
            "--teams-file {folder}/none: No such file or directory\n",
        ),
        (["export", "{folder}/x", "--teams-file", "{folder}"], "{folder}: Is a directory\n"),
        (["export", "{folder}/x", "--user", "nobody-at-all"], "belongs to no team"),
        (["export", "{folder}/x", "--team", "nothing-of-it"], "There is nothing of team"),
        (["export", "{folder}/x", "--from-s3-export", "{folder}/none"], "manifest-summary.json"),
        (["export", "{folder}/x", "--from-s3-export", "{folder}", "--user", "u"], "--team"),
        (["backfill", "--teams-file", "{folder}/empty"], "names no team"),
        (["backfill", "--teams-file", "{folder}/latin"], "no text in UTF-8"),
    ],
)  # fmt: skip
async def test_what_is_wrong_with_the_arguments_is_one_line(
    store: Store, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    run = await planner(store, *(each.format(folder=tmp_path) for each in arguments))
    assert run.code == 1
    assert said.format(folder=tmp_path) in run.err
    assert len(run.err.strip().splitlines()) == 1
