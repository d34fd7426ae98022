"""What items must carry: added where it is missing, put right where only the planner writes it."""

import pytest

from data.derived import absent, amiss, kind_of
from data.entities import EntityType, Membership, Role
from data.expressions import AttributeValue, Item, n, s
from data.items import encode
from tests.unit.data.condition_language import holds
from tests.unit.data.test_items import FULL, TEAM


def row(sk: str, pk: str = f"TEAM#{TEAM}", /, **attributes: AttributeValue) -> Item:
    return {"pk": s(pk), "sk": s(sk), **attributes}


def assignment(start: str = "2024-01-10", end: str = "2024-01-13", **more: AttributeValue) -> Item:
    return row(
        f"ASN#{start}#a1",
        **{
            "EntityType": s("Assignment"),
            "id": s("a1"),
            "resourceId": s("r1"),
            "projectId": s("p1"),
            "startDate": s(start),
            "endDateExclusive": s(end),
            **more,
        },
    )


def without(item: Item, *names: str) -> Item:
    return {name: value for name, value in item.items() if name not in names}


@pytest.mark.parametrize("entity", FULL.values(), ids=FULL.keys())
def test_what_the_planner_writes_lacks_nothing_and_has_nothing_wrong(entity: object) -> None:
    item = encode(TEAM, entity)  # type: ignore[arg-type]
    assert absent(item) is None
    assert amiss(item) is None


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (EntityType.TEAM, {"EntityType", "id", "GSI1PK", "GSI1SK"}),
        (EntityType.MEMBERSHIP, {"EntityType", "teamId", "userId", "GSI1PK", "GSI1SK"}),
        (EntityType.RESOURCE, {"EntityType", "id"}),
        (EntityType.PROJECT, {"EntityType", "id"}),
        (EntityType.ASSIGNMENT, {"EntityType", "id", "startDate"}),
        (EntityType.DELETION, {"EntityType", "expires"}),
    ],
)
def test_all_that_follows_from_the_key_is_added_again(kind: EntityType, names: set[str]) -> None:
    whole = encode(TEAM, FULL[kind])
    for update in (absent(without(whole, *names)), amiss(without(whole, *names))):
        assert update is not None
        assert update.set == {name: whole[name] for name in names}
        assert update.remove == ()


def test_long_assignment_gets_its_long_end() -> None:
    item = assignment(end="2024-06-01")
    update = absent(item)
    assert update is not None
    assert update.set == {"longEnd": s("2024-06-01")}
    assert absent(assignment(end="2024-03-12")) is None, "62 days are not long"
    assert absent(assignment(end="2024-03-13")) is not None, "63 days are"


@pytest.mark.parametrize(
    ("item", "set", "remove"),
    [
        (assignment(end="2024-06-01", longEnd=s("2024-05-01")), {"longEnd": s("2024-06-01")}, ()),
        (assignment(longEnd=s("2024-01-13")), {}, ("longEnd",)),
        (
            encode(TEAM, FULL[EntityType.TEAM]) | {"GSI1PK": s("OTHERS")},
            {"GSI1PK": s("TEAMS")},
            (),
        ),
        (
            encode(TEAM, Membership(team_id=TEAM, user_id="u", role=Role.ADMIN))
            | {"GSI1PK": s("USER#v"), "GSI1SK": s("TEAM#t2"), "teamId": s("t2")},
            {"GSI1PK": s("USER#u"), "GSI1SK": s(f"TEAM#{TEAM}"), "teamId": s(TEAM)},
            (),
        ),
    ],
    ids=["another end", "not long any more", "not listed", "of another user and team"],
)
def test_what_only_the_planner_writes_is_put_right_by_a_doctor_alone(
    item: Item, set: Item, remove: tuple[str, ...]
) -> None:
    assert absent(item) is None
    update = amiss(item)
    assert update is not None
    assert (update.set, update.remove) == (set, remove)


@pytest.mark.parametrize(
    "item",
    [
        row("RES#r1", EntityType=s("resource"), id=s("r1"), name=s("Ada")),
        row("RES#r1", EntityType=n(1), id=s("r1"), name=s("Ada")),
        row("RES#r1", id=s("r2"), name=s("Ada")),
        row("RES#r1", id=s("r1")),
        row("RES#", name=s("Ada")),
        row("MEMBER#u\n", role=s("admin")),
        row("XYZ#1", id=s("1"), name=s("Ada")),
        row("RES#r1", f"TEAM#{TEAM}#CLAIMS", id=s("r1"), name=s("Ada")),
        row("RES#r1", "USER#u", id=s("r1"), name=s("Ada")),
        row("META", "TEAM#", name=s("Nobody")),
        row("!DEL#d1", deletedType=s("Project"), deletedId=s("p1")),
        row("!DEL#d1", deletedType=s("Project"), deletedId=s("p1"), updatedAt=s("yesterday")),
        without(assignment(end="soon"), "EntityType"),
        without(assignment(), "EntityType", "projectId"),
        without(assignment("2024-02-30"), "EntityType"),
        without(assignment("2024-01-13", "2024-01-13"), "EntityType"),
    ],
    ids=lambda item: f"{item['pk']['S']} {item['sk']['S']}",
)
def test_what_would_not_be_readable_or_is_not_the_planners_is_left_alone(item: Item) -> None:
    assert absent(item) is None
    assert amiss(item) is None


def test_the_type_is_what_an_item_says_and_only_else_what_its_key_says() -> None:
    assert kind_of(row("RES#1", EntityType=s("Project"))) is EntityType.PROJECT
    assert kind_of(row("RES#1")) is EntityType.RESOURCE
    assert kind_of(row("RES#1", EntityType=s("Claim"))) is None


@pytest.mark.parametrize(
    ("meanwhile", "is_done"),
    [
        ({}, True),
        ({"note": s("n"), "version": n(2)}, True),
        ({"endDateExclusive": s("2024-01-11")}, False),
        ({"longEnd": s("2024-06-01")}, False),
        ({"EntityType": s("Assignment")}, False),
        (None, False),
    ],
    ids=["nothing", "something else", "shorter now", "longEnd", "EntityType", "gone"],
)
def test_an_update_holds_only_while_what_it_stands_on_is_as_it_was_read(
    meanwhile: Item | None, is_done: bool
) -> None:
    item = without(assignment(end="2024-06-01"), "EntityType")
    update = absent(item)
    assert update is not None
    now = {} if meanwhile is None else {**item, **meanwhile}
    assert holds(update.condition.text, update.condition.values, now) is is_done
