"""Deleting an owner with all its assignments: chunks, races, and a crash at any point."""

import asyncio
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from data.cascade import Cascades, delete_owner
from data.decoding import decode
from data.entities import Assignment, Deletion, Owner, Project, Resource
from data.errors import ProblemCode, Refused
from data.expressions import AttributeValue, Item, s
from data.items import encode
from data.keys import DELETION
from data.partition import split
from data.rows import row_of
from data.transactions import Delete, Put
from tests.unit.data.memory_store import TEAM, Crash, MemoryStore

OWNER, OTHER = Resource(id="r1", name="Ada"), Resource(id="r10", name="Bo")
PROJECT = Project(id="p1", name="Site", color="#000000")


def assignment(number: int, *, resource: str = "r1", project: str = "p1") -> Assignment:
    start = date(2024, 1, 1) + timedelta(number % 7)
    return Assignment(
        id=f"a{number:04}",
        resource_id=resource,
        project_id=project,
        start_date=start,
        end_date_exclusive=start + timedelta(1),
    )


def store_with(count: int) -> MemoryStore:
    """An owner with that many assignments, and others that must stay."""
    return MemoryStore(
        OWNER,
        OTHER,
        PROJECT,
        *(assignment(number) for number in range(count)),
        *(assignment(number, resource="r10", project="p10") for number in range(9_000, 9_003)),
    )


def tombstones(store: MemoryStore) -> list[Deletion]:
    """What remembers deletions, by what was deleted."""
    found = [decode(row_of(item)) for sk, item in store.items.items() if sk.startswith(DELETION)]
    deletions = [each for each in found if isinstance(each, Deletion)]
    assert len(deletions) == len(found)
    return sorted(deletions, key=lambda each: (each.entity_type, each.entity_id))


def said(store: MemoryStore) -> list[tuple[str, str, int, str | None]]:
    return [
        (each.entity_type, each.entity_id, each.version, each.updated_by)
        for each in tombstones(store)
    ]


def remaining(store: MemoryStore) -> dict[str, Item]:
    """All that is there but what remembers deletions."""
    return {sk: item for sk, item in store.items.items() if not sk.startswith(DELETION)}


def ids(store: MemoryStore, resource: str) -> set[str]:
    """The assignments that the table has of the resource."""
    return {
        item["id"]["S"]
        for item in store.items.values()
        if item.get("resourceId") == {"S": resource}
    }


async def delete(store: MemoryStore, type: type[Owner] = Resource, id: str = "r1") -> set[str]:
    deleted = await delete_owner(store.as_store, TEAM, type, id, by="u1")
    assert len(set(deleted)) == len(deleted)
    return set(deleted)


@pytest.mark.parametrize(
    ("count", "chunks"),
    [
        (0, [2]),
        (1, [4]),
        (49, [100]),
        (50, [99, 4]),
        (51, [99, 6]),
        (98, [99, 100]),
        (100, [99, 99, 6]),
        (150, [99, 99, 99, 8]),
    ],
)
async def test_assignments_go_in_chunks_and_their_owner_in_the_last_one(
    count: int, chunks: list[int]
) -> None:
    store = store_with(count)
    assert await delete(store) == {f"a{number:04}" for number in range(count)}
    assert [len(actions) for actions in store.transactions] == chunks
    owner = [
        (at, place)
        for at, actions in enumerate(store.transactions)
        for place, action in enumerate(actions)
        if isinstance(action, Delete) and action.key["sk"] == {"S": "RES#r1"}
    ]
    assert owner == [(len(chunks) - 1, 0)]
    assert "RES#r1" not in store.items
    assert ids(store, "r1") == set()


async def test_what_belongs_to_others_is_not_touched() -> None:
    store = store_with(3)
    others = {sk: item for sk, item in store_with(0).items.items() if sk != "RES#r1"}
    await delete(store)
    assert remaining(store) == others


async def test_a_project_takes_the_assignments_of_all_its_resources() -> None:
    store = store_with(2)
    store.add(assignment(5, resource="r10"), assignment(6, project="p2"))
    assert await delete(store, Project, "p1") == {"a0000", "a0001", "a0005"}
    assert "PRJ#p1" not in store.items
    assert "RES#r1" in store.items
    assert ids(store, "r1") == {"a0006"}


async def test_assignments_are_listed_from_the_table_and_strongly_consistent() -> None:
    store = store_with(3)
    await delete(store)
    [(query, consistent)] = store.queries
    assert query.index is None
    assert consistent is True
    assert query.projection == ("pk", "sk", "id", "version", "resourceId")
    assert query.values[":assignments"] == {"S": "ASN#"}


async def test_the_owner_is_marked_before_its_assignments_are_listed() -> None:
    store = store_with(3)
    store.crash_at = 1
    with pytest.raises(Crash):
        await delete(store)
    assert "deletingAt" in store.items["RES#r1"]
    assert store.queries == []


async def test_an_owner_that_does_not_exist_is_not_found_and_nothing_is_made() -> None:
    store = store_with(1)
    before = dict(store.items)
    for type, id in ((Resource, "r2"), (Project, "r1"), (Resource, "p1")):
        with pytest.raises(Refused) as refused:
            await delete(store, type, id)
        assert [problem.code for problem in refused.value.problems] == [ProblemCode.NOT_FOUND]
    assert store.items == before


async def test_deleting_again_is_not_found() -> None:
    store = store_with(1)
    await delete(store)
    with pytest.raises(Refused, match="no such resource"):
        await delete(store)


async def test_every_transaction_has_a_token_of_its_own() -> None:
    store = store_with(125)
    await delete(store)
    assert len(set(store.tokens)) == 3
    assert all(0 < len(token) <= 36 for token in store.tokens)


def once(store: MemoryStore, change: Callable[[], object]) -> None:
    """Somebody else's write, after the assignments were listed."""

    def before_transaction() -> None:
        store.before_transaction = lambda: None
        change()

    store.before_transaction = before_transaction


@pytest.mark.parametrize("count", [1, 25, 49, 50, 75])
async def test_an_assignment_that_was_moved_away_meanwhile_is_spared_and_not_reported(
    count: int,
) -> None:
    store = store_with(count)
    moved = assignment(0, resource="r10")
    once(store, lambda: store.add(moved))
    assert await delete(store) == {f"a{number:04}" for number in range(1, count)}
    assert "a0000" in ids(store, "r10")
    assert ids(store, "r1") == set()
    assert "RES#r1" not in store.items


@pytest.mark.parametrize("count", [1, 50, 51])
async def test_an_assignment_that_somebody_else_deleted_is_not_reported(count: int) -> None:
    store = store_with(count)
    once(store, lambda: store.items.pop("ASN#2024-01-01#a0000"))
    assert await delete(store) == {f"a{number:04}" for number in range(1, count)}
    assert "RES#r1" not in store.items


async def test_when_all_were_moved_away_the_owner_still_goes() -> None:
    store = store_with(100)
    once(store, lambda: store.add(*(assignment(n, resource="r10") for n in range(100))))
    assert await delete(store) == set()
    assert len(ids(store, "r10")) == 103
    assert "RES#r1" not in store.items


@pytest.mark.parametrize("count", [1, 49, 75])
async def test_an_owner_that_was_finished_and_made_anew_meanwhile_keeps_all_that_is_its_own(
    count: int,
) -> None:
    store = store_with(count)
    once(store, lambda: store.add(OWNER))
    assert await delete(store) == set()
    assert "deletingAt" not in store.items["RES#r1"]
    assert len(ids(store, "r1")) == count


async def test_two_deletions_at_once_both_end_well() -> None:
    store = store_with(3)
    once(store, lambda: [store.items.pop(sk) for sk in list(store.items) if "#a000" in sk])
    assert await delete(store) == set()
    assert "RES#r1" not in store.items


def everybody(count: int) -> list[tuple[str, str, int, str | None]]:
    """What is remembered of `store_with` after the whole deletion."""
    deleted = (("Assignment", f"a{number:04}", 1, "u1") for number in range(count))
    return [*deleted, ("Resource", "r1", 1, "u1")]


async def requests_of(count: int) -> int:
    store = store_with(count)
    await delete(store)
    return store.requests


@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 125])
async def test_after_a_crash_at_any_point_nothing_of_it_shows_and_the_same_call_finishes(
    count: int,
) -> None:
    requests = await requests_of(count)
    assert requests > 2 + count // 49
    for crash_at in range(requests):
        store = store_with(count)
        store.crash_at = crash_at
        with pytest.raises(Crash):
            await delete(store)
        shown = split(store.items.values())
        if crash_at > 0:
            assert all(each.resource_id != "r1" for each in shown.assignments)
            assert "RES#r1" in store.items, "the owner goes last"
            assert shown.resources == [OTHER]
        left = ids(store, "r1")
        store.crash_at = None
        assert await delete(store) == left
        assert ids(store, "r1") == set()
        assert "RES#r1" not in store.items
        assert len(ids(store, "r10")) == 3
        # What the first call deleted, and what the second one did, is said once.
        assert said(store) == everybody(count)


# What a deletion leaves behind


@pytest.mark.parametrize("count", [0, 1, 49, 50, 98, 99])
async def test_each_deletion_is_remembered_once_with_the_version_after_its_last(
    count: int,
) -> None:
    store = store_with(0)
    store.add(replace(OWNER, version=4, updated_by="u2"))
    store.add(*(replace(assignment(number), version=number) for number in range(count)))
    await delete(store)
    assert said(store) == [
        *(("Assignment", f"a{number:04}", number + 1, "u1") for number in range(count)),
        ("Resource", "r1", 5, "u1"),
    ]
    for actions in store.transactions:
        deleted = sum(isinstance(action, Delete) for action in actions)
        assert deleted == sum(isinstance(action, Put) for action in actions), "in one transaction"


@pytest.mark.parametrize("version", [0, 6])
@pytest.mark.parametrize("count", [1, 49, 50])
async def test_one_that_was_changed_meanwhile_is_remembered_with_what_it_became(
    count: int, version: int
) -> None:
    store = store_with(count)
    store.add(replace(assignment(0), version=version))
    once(store, lambda: store.add(replace(assignment(0), version=7, note="new")))
    assert await delete(store) == {f"a{number:04}" for number in range(count)}
    versions = {each.entity_id: each.version for each in tombstones(store)}
    assert (versions.pop("a0000"), set(versions.values())) == (8, {1})


async def test_what_was_moved_away_or_deleted_by_others_is_not_remembered_here() -> None:
    store = store_with(3)

    def meanwhile() -> None:
        store.add(assignment(0, resource="r10"))
        del store.items["ASN#2024-01-02#a0001"]

    once(store, meanwhile)
    assert await delete(store) == {"a0002"}
    assert said(store) == [("Assignment", "a0002", 1, "u1"), ("Resource", "r1", 1, "u1")]


async def test_an_owner_that_another_call_finished_is_not_remembered_twice() -> None:
    store = store_with(1)
    once(store, lambda: store.items.pop("RES#r1"))
    assert await delete(store) == set()
    assert said(store) == []


@pytest.mark.parametrize(
    "attributes",
    [{}, {"id": s("")}, {"id": s("a#1")}, {"id": {"N": "1"}}, {"id": s("a9000")}],
    ids=["no id", "empty", "no id of ours", "a number", "that of another"],
)
async def test_a_row_that_nobody_could_read_goes_without_a_word(attributes: Item) -> None:
    """The id that it says may be that of one which is there."""
    store = store_with(1)
    row = encode(TEAM, assignment(5))
    del row["id"]
    store.add_items(row | attributes)
    assert await delete(store) == {"a0000"}
    assert ids(store, "r1") == set()
    assert [each.entity_id for each in tombstones(store)] == ["a0000", "r1"]


@pytest.mark.parametrize("version", [s("x"), {"N": "99999999999"}, {"N": "-1"}])
async def test_a_version_that_is_none_counts_as_none(version: AttributeValue) -> None:
    store = store_with(0)
    store.add_items(encode(TEAM, assignment(5)) | {"version": version})
    assert await delete(store) == {"a0005"}
    assert said(store)[0] == ("Assignment", "a0005", 1, "u1")


@pytest.mark.parametrize("lost", [0, 1])
async def test_an_answer_that_was_lost_is_a_success_also_where_no_token_is_kept(lost: int) -> None:
    store = store_with(60)
    store.lost_answer = lost
    assert await delete(store) == {f"a{number:04}" for number in range(60)}
    assert said(store) == everybody(60)
    assert len(store.transactions) == 2


async def test_the_first_mark_stays_when_a_deletion_is_begun_again() -> None:
    store = store_with(1)
    mark: AttributeValue = {"S": "2024-01-01T00:00:00.000Z"}
    store.items["RES#r1"]["deletingAt"] = mark
    store.crash_at = 1
    with pytest.raises(Crash):
        await delete(store)
    assert store.items["RES#r1"]["deletingAt"] == mark


# Deletions that were left behind


def left_behind(count: int) -> MemoryStore:
    store = store_with(count)
    store.items["RES#r1"] |= {"deletingAt": s("2024-01-01T00:00:00.000Z"), "updatedBy": s("u7")}
    return store


async def test_an_owner_that_is_not_marked_any_more_is_left_alone_with_its_assignments() -> None:
    store = store_with(3)
    cascades = Cascades(store.as_store)
    cascades.finish(TEAM, OWNER)
    await cascades.aclose()
    assert store.items == store_with(3).items
    assert store.marks == []


async def test_a_deletion_left_behind_is_finished_in_the_background_once() -> None:
    store = left_behind(3)
    cascades = Cascades(store.as_store)
    with capture_logs() as logs:
        for _ in range(5):
            cascades.finish(TEAM, OWNER)
        await cascades.aclose()
    assert "RES#r1" not in store.items
    assert ids(store, "r1") == set()
    assert len(store.transactions) == 1
    assert [(log["event"], log["assignments"]) for log in logs] == [("deletion finished", 3)]
    # Whoever began it deleted it.
    assert {each.updated_by for each in tombstones(store)} == {"u7"}
    assert len(tombstones(store)) == 4


async def test_a_failure_in_the_background_is_logged_and_the_next_read_may_try_again() -> None:
    store = left_behind(3)
    store.crash_at = 1
    cascades = Cascades(store.as_store)
    with capture_logs() as logs:
        cascades.finish(TEAM, OWNER)
        await cascades.aclose()
        await asyncio.sleep(0)
        store.crash_at = None
        cascades.finish(TEAM, OWNER)
        await cascades.aclose()
    assert [log["event"] for log in logs] == ["deletion not finished", "deletion finished"]
    assert "RES#r1" not in store.items


async def test_somebody_else_having_been_faster_is_no_failure() -> None:
    store = MemoryStore(OTHER)
    cascades = Cascades(store.as_store)
    with capture_logs() as logs:
        cascades.finish(TEAM, OWNER)
        await cascades.aclose()
    assert [(log["event"], log["assignments"]) for log in logs] == [("deletion finished", 0)]
    assert list(store.items) == ["RES#r10"]


async def test_owners_of_two_teams_with_one_id_are_two_deletions() -> None:
    store = store_with(0)
    cascades = Cascades(store.as_store)
    cascades.finish(TEAM, OWNER)
    cascades.finish("t2", OWNER)
    await cascades.aclose()
    teams = [key["pk"] for key in store.gets]
    assert teams == [{"S": "TEAM#t1"}, {"S": "TEAM#t2"}]
