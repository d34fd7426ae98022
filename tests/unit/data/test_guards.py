"""Guards, and the field-wise changes they guard."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import data.guards
from data.entities import Assignment, Entity, Project, Resource
from data.errors import ProblemCode, Refused
from data.expressions import Expression, Item, n, s
from data.guards import (
    IS_NEW,
    LIVE_OWNER,
    check_version,
    claim,
    difference,
    live,
    move,
    unchanged,
    update,
)
from data.items import encode
from data.transactions import Check, Delete, Put, Update
from tests.unit.data.condition_language import holds
from tests.unit.data.strategies import assignments, projects, resources

TEAM = "t1"
KEY = {"pk": s("TEAM#t1"), "sk": s("RES#r1")}
MOVED = Assignment(
    id="a1",
    resource_id="r1",
    project_id="p1",
    start_date=date(2024, 1, 1),
    end_date_exclusive=date(2024, 4, 1),
    note="x",
    version=3,
)


def applied(item: Item, changed: Item, removed: tuple[str, ...]) -> Item:
    return {name: value for name, value in item.items() if name not in removed} | changed


pairs: st.SearchStrategy[tuple[Entity, Entity]] = st.one_of(
    st.tuples(resources, resources),
    st.tuples(projects, projects),
    st.tuples(assignments(), assignments()),
)


@pytest.mark.deep
@settings(deadline=None)
@given(pairs)
def test_a_difference_turns_one_item_into_the_other(pair: tuple[Entity, Entity]) -> None:
    old, new = (encode(TEAM, entity) for entity in pair)
    changed, removed = difference(old, new)
    assert applied(old, changed, removed) == new


@pytest.mark.deep
@settings(deadline=None)
@given(pairs)
def test_a_difference_names_nothing_that_stays(pair: tuple[Entity, Entity]) -> None:
    old, new = (encode(TEAM, entity) for entity in pair)
    changed, removed = difference(old, new)
    assert all(old.get(name) != value for name, value in changed.items())
    assert removed == tuple(sorted(set(old) - set(new)))
    assert difference(new, new) == ({}, ())


def test_attributes_that_the_planner_does_not_know_stay() -> None:
    old, new = (encode(TEAM, Resource(id="r1", name=name)) for name in ("Ada", "Bo"))
    stored = old | {"expires": n(5), "note": s("not of a resource")}
    changed, removed = difference(stored, new)
    assert changed == {"name": s("Bo")}
    assert removed == ()


@pytest.mark.parametrize(
    ("stored", "changed", "removed"),
    [
        ({}, {"longEnd": s("2024-04-01")}, ()),
        ({"longEnd": s("2024-03-31")}, {"longEnd": s("2024-04-01")}, ()),
        ({"longEnd": s("2024-04-01")}, {}, ()),
        ({"longEnd": s("2024-04-01"), "note": s("x")}, {}, ("note",)),
    ],
)
def test_what_the_planner_derives_is_put_right_by_any_update(
    stored: Item, changed: Item, removed: tuple[str, ...]
) -> None:
    new = encode(TEAM, replace(MOVED, note=None))
    bare = {name: value for name, value in new.items() if name != "longEnd"}
    assert difference(bare | stored, new) == (changed, removed)


def test_an_update_sets_and_removes_only_what_differs() -> None:
    old = Project(id="p1", name="A", color="#000000", description="x", tags=("t",), version=3)
    new = replace(old, name="B", description=None, version=4, updated_at="u")
    assert update(encode(TEAM, old), encode(TEAM, new), version=3) == Update(
        {"pk": s("TEAM#t1"), "sk": s("PRJ#p1")},
        Expression(
            "((attribute_exists(#sk)) AND (#version = :version))"
            " AND (attribute_not_exists(#deletingAt))",
            {":version": n(3)},
        ),
        {"name": s("B"), "version": n(4), "updatedAt": s("u")},
        ("description",),
    )


@pytest.mark.parametrize(
    ("old_end", "new_end", "changed", "removed"),
    [
        ("2024-01-20", "2024-03-03", {"endDateExclusive": "2024-03-03"}, ()),
        (
            "2024-01-20",
            "2024-03-04",
            {"endDateExclusive": "2024-03-04", "longEnd": "2024-03-04"},
            (),
        ),
        (
            "2024-04-01",
            "2024-05-01",
            {"endDateExclusive": "2024-05-01", "longEnd": "2024-05-01"},
            (),
        ),
        ("2024-04-01", "2024-03-03", {"endDateExclusive": "2024-03-03"}, ("longEnd",)),
        ("2024-04-01", "2024-04-01", {}, ()),
    ],
)
def test_long_end_follows_the_length(
    old_end: str, new_end: str, changed: dict[str, str], removed: tuple[str, ...]
) -> None:
    old, new = (
        Assignment(
            id="a1",
            resource_id="r1",
            project_id="p1",
            start_date=date(2024, 1, 1),
            end_date_exclusive=date.fromisoformat(end),
        )
        for end in (old_end, new_end)
    )
    assert difference(encode(TEAM, old), encode(TEAM, new)) == (
        {name: s(value) for name, value in changed.items()},
        removed,
    )


ABSENT: Item = {}
LIVE: Item = {**KEY, "version": n(3)}
UNVERSIONED: Item = {**KEY}
MARKED: Item = {**LIVE, "deletingAt": s("now")}


@pytest.mark.parametrize(
    ("guard", "item", "allowed"),
    [
        (IS_NEW, ABSENT, True),
        (IS_NEW, LIVE, False),
        (IS_NEW, MARKED, False),
        (LIVE_OWNER, ABSENT, False),
        (LIVE_OWNER, LIVE, True),
        (LIVE_OWNER, UNVERSIONED, True),
        (LIVE_OWNER, MARKED, False),
        (unchanged(3), LIVE, True),
        (unchanged(3), ABSENT, False),
        (unchanged(3), MARKED, False),
        (unchanged(3), UNVERSIONED, False),
        (unchanged(2), LIVE, False),
        (unchanged(4), LIVE, False),
        (unchanged(0), UNVERSIONED, True),
        (unchanged(0), UNVERSIONED | {"version": n(0)}, True),
        (unchanged(0), ABSENT, False),
        (unchanged(0), LIVE, False),
        (unchanged(0), UNVERSIONED | {"deletingAt": s("now")}, False),
    ],
)
def test_a_guard_lets_a_write_through_only_on(guard: Expression, item: Item, allowed: bool) -> None:
    assert holds(guard.text, guard.values, item) is allowed


def test_an_owner_is_checked_by_its_key() -> None:
    assert live(KEY) == Check(KEY, LIVE_OWNER)


def test_a_move_deletes_and_puts_with_the_same_id_and_keeps_what_is_not_known() -> None:
    new = replace(
        MOVED,
        start_date=date(2024, 2, 1),
        end_date_exclusive=date(2024, 2, 2),
        note=None,
        version=4,
    )
    item = encode(TEAM, MOVED) | {"expires": n(5)}
    delete, put = move(item, encode(TEAM, new), version=3, shiftedBy=s("o1"))
    assert delete == Delete({"pk": s("TEAM#t1"), "sk": s("ASN#2024-01-01#a1")}, unchanged(3))
    assert put == Put(encode(TEAM, new) | {"expires": n(5), "shiftedBy": s("o1")}, IS_NEW)
    assert "longEnd" not in put.item
    assert put.item["id"] == item["id"]


@pytest.mark.deep
@settings(deadline=None)
@given(assignments(), assignments())
def test_a_move_puts_the_whole_new_item(old: Assignment, new: Assignment) -> None:
    delete, put = move(encode(TEAM, old), encode(TEAM, new), version=old.version)
    assert put.item == encode(TEAM, new)
    assert delete.condition == unchanged(old.version)


def test_an_id_is_claimed_beside_the_partition_of_the_team(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data.guards, "epoch_seconds", lambda: 1_000)
    assert claim(TEAM, MOVED) == Put(
        {
            "pk": s("TEAM#t1#CLAIMS"),
            "sk": s("ASN#a1"),
            "EntityType": s("Claim"),
            "target": s("ASN#2024-01-01#a1"),
            "expires": n(1_000 + 30 * 24 * 3_600),
        },
        IS_NEW,
    )


def test_the_claim_of_an_id_does_not_depend_on_its_day() -> None:
    other = replace(MOVED, start_date=date(2024, 3, 1))
    keys = {claim(TEAM, each).item["sk"]["S"] for each in (MOVED, other)}
    assert keys == {"ASN#a1"}


@pytest.mark.parametrize(
    ("stored", "expected", "good"),
    [(3, None, True), (3, 3, True), (0, 0, True), (3, 2, False), (3, 4, False), (3, 0, False)],
)
def test_an_expected_version_is_the_stored_one(
    stored: int, expected: int | None, good: bool
) -> None:
    problems: list[tuple[ProblemCode, tuple[str, ...]]] = []
    try:
        check_version(stored, expected)
    except Refused as refused:
        problems = [(problem.code, problem.field) for problem in refused.problems]
    assert problems == ([] if good else [(ProblemCode.CONFLICT, ("expectedVersion",))])
