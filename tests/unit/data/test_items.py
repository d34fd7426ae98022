"""Items: every entity is written and read back the same, and a bad item says why, not what."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from typing import cast

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

import data.attributes
import data.decoding
from data.decoding import Skip, SkipCode
from data.entities import (
    Assignment,
    CalendarFeed,
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
from data.expressions import AttributeValue, Item, n, s
from data.items import encode, key_of, sort_key, table_key
from data.rows import json_of, page_of, row_of
from tests.unit.data.strategies import assignments, entities


def decode(item: Item) -> Entity:
    return data.decoding.decode(row_of(item))


TEAM = "t1"
STAMPS = {"version": 3, "created_at": "2024-01-01T00:00:00.000Z", "updated_at": "yesterday"}
FULL: dict[EntityType, Entity] = {
    EntityType.TEAM: Team(
        id=TEAM,
        name="secret team",
        version=3,
        created_at="c",
        updated_at="u",
        updated_by="secret-u1",
    ),
    EntityType.MEMBERSHIP: Membership(
        team_id=TEAM,
        user_id="secret-u1",
        role=Role.ADMIN,
        joined_at="j",
        updated_at="u",
        updated_by="secret-u2",
    ),
    EntityType.RESOURCE: Resource(
        id="secret-r1",
        name="secret Ada",
        version=3,
        created_at="c",
        updated_at="u",
        updated_by="secret-u1",
    ),
    EntityType.PROJECT: Project(
        id="secret-p1",
        name="secret site",
        color="#0A0b0C",
        description="secret plan",
        tags=("secret b", "secret a"),
        links=(Link("secret docs", "https://secret.example"),),
        version=3,
        created_at="c",
        updated_at="u",
        updated_by="secret-u1",
    ),
    EntityType.ASSIGNMENT: Assignment(
        id="secret-a1",
        resource_id="secret-r1",
        project_id="secret-p1",
        start_date=date(2024, 1, 10),
        end_date_exclusive=date(2024, 1, 13),
        note="secret note",
        version=3,
        created_at="c",
        updated_at="u",
        updated_by="secret-u1",
    ),
}
FULL[EntityType.DELETION] = Deletion(
    id="secret-d1",
    entity_type=EntityType.ASSIGNMENT,
    entity_id="secret-a1",
    version=4,
    updated_at="2024-01-01T00:00:00.999Z",
    updated_by="secret-u1",
)
FULL[EntityType.CALENDAR_FEED] = CalendarFeed(
    id="secret-f1",
    team_id=TEAM,
    user_id="secret-u1",
    token_hash="0f" * 32,
    project_id="secret-p1",
    created_at="c",
)
BARE: dict[EntityType, Entity] = {
    EntityType.TEAM: Team(id=TEAM, name="T"),
    EntityType.MEMBERSHIP: Membership(team_id=TEAM, user_id="u1", role=Role.VIEWER),
    EntityType.RESOURCE: Resource(id="r1", name="Ada"),
    EntityType.PROJECT: Project(id="p1", name="Site", color="#000000"),
    EntityType.ASSIGNMENT: Assignment(
        id="a1",
        resource_id="r1",
        project_id="p1",
        start_date=date(2024, 1, 10),
        end_date_exclusive=date(2024, 1, 11),
    ),
    EntityType.DELETION: Deletion(
        id="d1",
        entity_type=EntityType.RESOURCE,
        entity_id="r1",
        updated_at="2024-01-01T00:00:00.000Z",
    ),
    EntityType.CALENDAR_FEED: CalendarFeed(
        id="f1", team_id=TEAM, user_id="u1", token_hash="0" * 64, resource_id="r1"
    ),
}
TYPES = list(FULL)


def full(type: EntityType) -> Item:
    return encode(TEAM, FULL[type])


def wire(value: object) -> AttributeValue:
    """A value of a wire type that the planner never writes."""
    return cast("AttributeValue", value)


def partition_of(entity: Entity) -> str:
    match entity:
        case Team(id=id):
            return id
        case Membership(team_id=id) | CalendarFeed(team_id=id):
            return id
    return TEAM


@pytest.mark.deep
@settings(deadline=None)
@given(entities)
def test_what_is_written_is_read_back_the_same(entity: Entity) -> None:
    assert decode(encode(partition_of(entity), entity)) == entity


@pytest.mark.deep
@settings(deadline=None)
@given(entities)
def test_every_item_says_what_it_is_once_and_in_one_spelling(entity: Entity) -> None:
    item = encode(partition_of(entity), entity)
    assert item["EntityType"] == {"S": type(entity).__name__}
    assert item["EntityType"]["S"] in set(EntityType)
    assert item["sk"] == {"S": sort_key(entity)}
    assert key_of(partition_of(entity), entity) == {"pk": item["pk"], "sk": item["sk"]}


OPTIONAL = {
    "created_at": "createdAt",
    "deleting_at": "deletingAt",
    "description": "description",
    "joined_at": "joinedAt",
    "links": "links",
    "note": "note",
    "tags": "tags",
    "updated_at": "updatedAt",
    "updated_by": "updatedBy",
    "version": "version",
}


@pytest.mark.deep
@settings(deadline=None)
@given(entities)
def test_an_unset_optional_attribute_is_absent_and_never_empty(entity: Entity) -> None:
    item = encode(partition_of(entity), entity)
    for field, attribute in OPTIONAL.items():
        assert (attribute in item) is bool(getattr(entity, field, None))
    assert not any(value in ({"S": None}, {"L": []}, {"SS": []}) for value in item.values())


@pytest.mark.deep
@settings(deadline=None)
@given(assignments())
def test_long_end_is_the_end_of_assignments_of_more_than_62_days_only(
    assignment: Assignment,
) -> None:
    item = encode(TEAM, assignment)
    days = (assignment.end_date_exclusive - assignment.start_date).days
    expected = {"S": assignment.end_date_exclusive.isoformat()} if days > 62 else None
    assert item.get("longEnd") == expected


@pytest.mark.parametrize(("days", "long"), [(61, False), (62, False), (63, True)])
def test_long_end_begins_at_63_days(days: int, long: bool) -> None:
    assignment = cast("Assignment", BARE[EntityType.ASSIGNMENT])
    end = assignment.start_date + timedelta(days)
    item = encode(TEAM, replace(assignment, end_date_exclusive=end))
    assert ("longEnd" in item) is long


STAMPED: Item = {
    "version": n(3),
    "createdAt": s("c"),
    "updatedAt": s("u"),
    "updatedBy": s("secret-u1"),
}


@pytest.mark.parametrize(
    ("entity", "item"),
    [
        (
            FULL[EntityType.TEAM],
            {
                "sk": s("META"),
                "EntityType": s("Team"),
                "GSI1PK": s("TEAMS"),
                "GSI1SK": s("TEAM#t1"),
                "id": s(TEAM),
                "name": s("secret team"),
            }
            | STAMPED,
        ),
        (
            FULL[EntityType.MEMBERSHIP],
            {
                "sk": s("MEMBER#secret-u1"),
                "EntityType": s("Membership"),
                "teamId": s(TEAM),
                "userId": s("secret-u1"),
                "role": s("admin"),
                "joinedAt": s("j"),
                "updatedAt": s("u"),
                "updatedBy": s("secret-u2"),
                "GSI1PK": s("USER#secret-u1"),
                "GSI1SK": s("TEAM#t1"),
            },
        ),
        (
            FULL[EntityType.DELETION],
            {
                "sk": s("!DEL#secret-d1"),
                "EntityType": s("Deletion"),
                "deletedType": s("Assignment"),
                "deletedId": s("secret-a1"),
                "version": n(4),
                "updatedAt": s("2024-01-01T00:00:00.999Z"),
                "updatedBy": s("secret-u1"),
                "expires": n(1_704_067_200 + 30 * 24 * 3600),
            },
        ),
        (
            FULL[EntityType.CALENDAR_FEED],
            {
                "pk": s("TEAM#t1#FEEDS"),
                "sk": s("FEED#secret-f1"),
                "EntityType": s("CalendarFeed"),
                "id": s("secret-f1"),
                "userId": s("secret-u1"),
                "projectId": s("secret-p1"),
                "createdAt": s("c"),
                "GSI1PK": s(f"FEED#{'0f' * 32}"),
                "GSI1SK": s(f"FEED#{'0f' * 32}"),
            },
        ),
        (
            replace(cast("Resource", FULL[EntityType.RESOURCE]), deleting_at="d"),
            {
                "sk": s("RES#secret-r1"),
                "EntityType": s("Resource"),
                "id": s("secret-r1"),
                "name": s("secret Ada"),
                "deletingAt": s("d"),
            }
            | STAMPED,
        ),
        (
            FULL[EntityType.PROJECT],
            {
                "sk": s("PRJ#secret-p1"),
                "EntityType": s("Project"),
                "id": s("secret-p1"),
                "name": s("secret site"),
                "color": s("#0A0b0C"),
                "description": s("secret plan"),
                "tags": {"L": [s("secret b"), s("secret a")]},
                "links": {
                    "L": [{"M": {"label": s("secret docs"), "url": s("https://secret.example")}}]
                },
            }
            | STAMPED,
        ),
        (
            FULL[EntityType.ASSIGNMENT],
            {
                "sk": s("ASN#2024-01-10#secret-a1"),
                "EntityType": s("Assignment"),
                "id": s("secret-a1"),
                "resourceId": s("secret-r1"),
                "projectId": s("secret-p1"),
                "startDate": s("2024-01-10"),
                "endDateExclusive": s("2024-01-13"),
                "note": s("secret note"),
            }
            | STAMPED,
        ),
    ],
)
def test_an_item_has_these_attributes_and_no_others(entity: Entity, item: Item) -> None:
    assert encode(TEAM, entity) == {"pk": s("TEAM#t1")} | item


@pytest.mark.parametrize("type", [type for type in TYPES if type is not EntityType.DELETION])
def test_a_row_written_elsewhere_may_lack_its_stamps(type: EntityType) -> None:
    item = full(type)
    for name in ("version", "createdAt", "updatedAt", "updatedBy", "joinedAt"):
        item.pop(name, None)
    entity = decode(item)
    for field, value in (
        ("version", 0),
        ("created_at", None),
        ("updated_at", None),
        ("updated_by", None),
        ("joined_at", None),
    ):
        assert getattr(entity, field, value) == value
    assert entity.__class__.__name__ == type


@pytest.mark.parametrize("type", TYPES)
def test_the_bare_minimum_is_enough(type: EntityType) -> None:
    assert decode(encode(TEAM, BARE[type])) == BARE[type]


def test_attributes_that_the_planner_does_not_know_do_not_matter() -> None:
    item = full(EntityType.ASSIGNMENT) | {"expires": n(5), "type": s("USER"), "longEnd": n(1)}
    assert decode(item) == FULL[EntityType.ASSIGNMENT]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"L": [s("b"), s("a")]}, ("b", "a")),
        ({"SS": ["a", "b"]}, ("a", "b")),
        ({"L": []}, ()),
        (None, ()),
    ],
)
def test_tags_may_be_a_list_or_a_string_set(
    tags: AttributeValue | None, expected: tuple[str, ...]
) -> None:
    item = full(EntityType.PROJECT)
    del item["tags"]
    project = decode(item if tags is None else item | {"tags": tags})
    assert isinstance(project, Project)
    assert project.tags == expected


@pytest.mark.parametrize(
    ("stored", "role"),
    [
        ("admin", Role.ADMIN),
        ("member", Role.MEMBER),
        ("viewer", Role.VIEWER),
        ("Admin", Role.VIEWER),
        ("ADMIN", Role.VIEWER),
        ("owner", Role.VIEWER),
        ("", Role.VIEWER),
    ],
)
def test_a_role_that_is_not_known_may_only_read(stored: str, role: Role) -> None:
    member = decode(full(EntityType.MEMBERSHIP) | {"role": s(stored)})
    assert isinstance(member, Membership)
    assert member.role is role


def test_a_team_is_the_one_of_its_partition() -> None:
    item = full(EntityType.TEAM) | {"id": s("another")}
    assert decode(item) == FULL[EntityType.TEAM]


def assert_skipped(item: Item, code: SkipCode, says: str = "") -> None:
    with pytest.raises(Skip) as caught:
        decode(item)
    message = str(caught.value)
    assert caught.value.code is code
    assert says in message
    assert "secret" not in message
    assert not any(character.isdigit() for character in message)


@pytest.mark.parametrize("type", TYPES)
def test_an_item_without_a_type_is_not_guessed_from_its_key(type: EntityType) -> None:
    item = full(type)
    del item["EntityType"]
    assert_skipped(item, SkipCode.MISSING_ENTITY_TYPE)
    assert_skipped({"pk": item["pk"], "sk": item["sk"]}, SkipCode.MISSING_ENTITY_TYPE)


UNKNOWN: list[AttributeValue] = [
    s("assignment"),
    s("ASSIGNMENT"),
    s("Assignment "),
    s("Holiday secret"),
    s(""),
    n(1),
    {"L": [s("Assignment")]},
    {"SS": ["Assignment"]},
    wire({"NULL": True}),
    wire({"BOOL": True}),
]


@pytest.mark.parametrize("value", UNKNOWN)
@pytest.mark.parametrize("type", TYPES)
def test_a_type_in_another_spelling_is_unknown(type: EntityType, value: AttributeValue) -> None:
    assert_skipped(full(type) | {"EntityType": value}, SkipCode.UNKNOWN_ENTITY_TYPE)


REQUIRED = [
    (EntityType.TEAM, "name"),
    (EntityType.MEMBERSHIP, "userId"),
    (EntityType.MEMBERSHIP, "role"),
    (EntityType.RESOURCE, "id"),
    (EntityType.RESOURCE, "name"),
    (EntityType.PROJECT, "id"),
    (EntityType.PROJECT, "name"),
    (EntityType.PROJECT, "color"),
    (EntityType.ASSIGNMENT, "id"),
    (EntityType.ASSIGNMENT, "resourceId"),
    (EntityType.ASSIGNMENT, "projectId"),
    (EntityType.ASSIGNMENT, "startDate"),
    (EntityType.ASSIGNMENT, "endDateExclusive"),
    (EntityType.DELETION, "deletedType"),
    (EntityType.DELETION, "deletedId"),
    (EntityType.DELETION, "updatedAt"),
    (EntityType.CALENDAR_FEED, "id"),
    (EntityType.CALENDAR_FEED, "userId"),
]


@pytest.mark.parametrize(("type", "name"), REQUIRED)
def test_an_item_without_a_required_attribute_is_malformed(type: EntityType, name: str) -> None:
    item = full(type)
    del item[name]
    assert_skipped(item, SkipCode.MALFORMED_ITEM, says=f"'{name}' is missing")


WRONG: list[AttributeValue] = [
    n(42),
    {"L": [s("secret")]},
    {"M": {"S": s("secret")}},
    {"SS": ["secret"]},
    wire({"NULL": True}),
    wire({"BOOL": False}),
    {},
]


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize(("type", "name"), REQUIRED)
def test_a_required_attribute_of_another_wire_type_is_malformed(
    type: EntityType, name: str, value: AttributeValue
) -> None:
    assert_skipped(full(type) | {name: value}, SkipCode.MALFORMED_ITEM)


@pytest.mark.parametrize(
    ("type", "name", "value"),
    [
        (EntityType.RESOURCE, "version", s("secret")),
        (EntityType.RESOURCE, "version", {"N": "1.5"}),
        (EntityType.RESOURCE, "version", {"N": "secret"}),
        (EntityType.RESOURCE, "version", n(2**31)),
        (EntityType.RESOURCE, "version", n(-1)),
        (EntityType.DELETION, "version", n(2**31)),
        (EntityType.DELETION, "updatedBy", n(5)),
        (EntityType.ASSIGNMENT, "updatedBy", n(5)),
        (EntityType.TEAM, "createdAt", n(1_700_000_000)),
        (EntityType.MEMBERSHIP, "joinedAt", n(1_700_000_000)),
        (EntityType.PROJECT, "description", n(5)),
        (EntityType.PROJECT, "tags", {"L": [n(5)]}),
        (EntityType.PROJECT, "links", {"L": [s("https://secret.example")]}),
        (EntityType.PROJECT, "links", {"L": [{"M": {"label": s("secret")}}]}),
        (EntityType.PROJECT, "deletingAt", n(5)),
        (EntityType.ASSIGNMENT, "note", {"L": []}),
    ],
)
def test_an_optional_attribute_of_another_wire_type_is_malformed(
    type: EntityType, name: str, value: AttributeValue
) -> None:
    assert_skipped(full(type) | {name: value}, SkipCode.MALFORMED_ITEM)


@pytest.mark.parametrize("id", ["", "#", "secret#1", "secret\n1", "s" * 1_001])
@pytest.mark.parametrize(
    ("type", "name"), [(type, name) for type, name in REQUIRED if name in ("id", "resourceId")]
)
def test_an_id_that_could_not_be_a_key_is_malformed(type: EntityType, name: str, id: str) -> None:
    item = full(type) | {name: s(id)}
    item["sk"] = s(item["sk"]["S"].replace("secret-a1", id)) if name == "id" else item["sk"]
    assert_skipped(item, SkipCode.MALFORMED_ITEM)


@pytest.mark.parametrize("name", ["startDate", "endDateExclusive"])
@pytest.mark.parametrize(
    "text",
    ["", "secret", "20240110", "2024-W02-3", "2024-02-30", "2024-1-1", "2024-01-10T00:00:00Z"],
)
def test_garbage_in_place_of_a_day_is_malformed(name: str, text: str) -> None:
    item = full(EntityType.ASSIGNMENT) | {name: s(text)}
    item["sk"] = s(f"ASN#{item['startDate']['S']}#secret-a1")
    assert_skipped(item, SkipCode.MALFORMED_ITEM)


@pytest.mark.parametrize("end", ["2024-01-10", "2024-01-09", "2023-12-31"])
def test_an_assignment_that_ends_before_it_begins_is_malformed(end: str) -> None:
    item = full(EntityType.ASSIGNMENT) | {"endDateExclusive": s(end)}
    assert_skipped(item, SkipCode.MALFORMED_ITEM)


@pytest.mark.parametrize(
    ("type", "sk"),
    [
        (EntityType.TEAM, "META#1"),
        (EntityType.MEMBERSHIP, "MEMBER#secret-u2"),
        (EntityType.RESOURCE, "RES#secret-r2"),
        (EntityType.RESOURCE, "PRJ#secret-r1"),
        (EntityType.PROJECT, "RES#secret-p1"),
        (EntityType.PROJECT, "prj#secret-p1"),
        (EntityType.ASSIGNMENT, "ASN#2024-01-11#secret-a1"),
        (EntityType.ASSIGNMENT, "ASN#2024-01-10#secret-a2"),
        (EntityType.ASSIGNMENT, "ASN#2024-01-10#secret-a1#"),
        (EntityType.ASSIGNMENT, "ASN#secret-a1"),
        (EntityType.DELETION, "secret-d1"),
        (EntityType.CALENDAR_FEED, "FEED#secret-f2"),
        (EntityType.CALENDAR_FEED, "RES#secret-f1"),
    ],
)
def test_a_sort_key_that_does_not_fit_the_attributes_is_malformed(
    type: EntityType, sk: str
) -> None:
    assert_skipped(full(type) | {"sk": s(sk)}, SkipCode.MALFORMED_ITEM, says="sk does not fit")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"pk": s("TEAM#t1")}, "pk does not fit"),
        ({"pk": s("TEAM#t1#CLAIMS")}, "ValueError"),
        ({"pk": s("t1#FEEDS")}, "pk does not fit"),
        ({"pk": s("TEAM##FEEDS")}, "ValueError"),
        ({"userId": s("secret\n")}, "userId is none"),
        ({"GSI1PK": s("0f" * 32)}, "index key does not fit"),
        ({"GSI1PK": s("FEED#secret")}, "index key does not fit"),
        ({"GSI1PK": s("FEED#" + "0F" * 32)}, "index key does not fit"),
        ({"GSI1PK": n(1)}, "'index key' is missing"),
        ({"resourceId": s("secret-r1")}, "needs one of"),
        ({"projectId": s("secret#p1")}, "'projectId' is none"),
        ({"createdAt": n(5)}, "'createdAt' is missing"),
    ],
)
def test_a_feed_that_stands_elsewhere_or_is_of_no_one_calendar_is_malformed(
    change: Item, says: str
) -> None:
    """In a timeline's partition it would be anybody's who reads that."""
    item = full(EntityType.CALENDAR_FEED) | change
    assert_skipped(item, SkipCode.MALFORMED_ITEM, says=says)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sk": s("!DEL#")}, "sk is none"),
        ({"sk": s("ASN#secret-d")}, "sk is none"),
        ({"deletedType": s("Team")}, "deletedType is none"),
        ({"deletedType": s("secret")}, "deletedType is none"),
        ({"deletedType": s("Membership"), "deletedId": s("secret\n")}, "'deletedId' is none"),
        ({"updatedAt": s("yesterday")}, "ValueError"),
    ],
)
def test_a_deletion_of_nothing_or_at_no_moment_is_malformed(change: Item, says: str) -> None:
    item = full(EntityType.DELETION) | change
    assert_skipped(item, SkipCode.MALFORMED_ITEM, says=says)


def test_a_deleted_membership_is_named_by_its_user_who_may_have_any_id() -> None:
    """As an Auth.js provider makes them."""
    named: Item = {"deletedType": s("Membership"), "deletedId": s("auth0|a#b")}
    deletion = decode(full(EntityType.DELETION) | named)
    assert isinstance(deletion, Deletion)
    assert (deletion.entity_type, deletion.entity_id) == (EntityType.MEMBERSHIP, "auth0|a#b")


def test_a_feed_of_nothing_is_malformed() -> None:
    item = full(EntityType.CALENDAR_FEED)
    del item["projectId"]
    assert_skipped(item, SkipCode.MALFORMED_ITEM, says="needs one of")


@pytest.mark.parametrize("type", [EntityType.CLAIM, EntityType.SESSION])
def test_a_claim_or_a_session_is_no_part_of_a_timeline(type: EntityType) -> None:
    assert set(EntityType) - set(TYPES) == {EntityType.CLAIM, EntityType.SESSION}
    item: Item = {"pk": s("TEAM#t1"), "sk": s("ASN#a1"), "EntityType": s(type)}
    assert_skipped(item, SkipCode.UNKNOWN_ENTITY_TYPE)


@pytest.mark.parametrize("version", [0, 1, 2**31 - 1])
def test_a_version_fits_an_int_of_graphql(version: int) -> None:
    entity = decode(full(EntityType.RESOURCE) | {"version": n(version)})
    assert isinstance(entity, Resource)
    assert entity.version == version


@pytest.mark.parametrize("make", [lambda: table_key("a#b", "META"), lambda: table_key("", "META")])
def test_no_key_is_made_for_what_is_no_team(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="not a team id"):
        make()


def test_what_is_remembered_of_days_and_owners_is_bounded() -> None:
    for remembered in (data.attributes.day_of, data.attributes.is_owner_id):
        assert remembered.cache_parameters() == {"maxsize": 10_000, "typed": False}


def test_a_lone_surrogate_in_one_row_fails_no_other() -> None:
    """DynamoDB Local holds what a writer elsewhere put there."""
    odd = encode(TEAM, Resource(id="r1", name="\ud800x"))
    good = encode(TEAM, Resource(id="r2", name="Ada"))
    for page in ({"Items": [odd, good]}, {"Items": [good]}):
        rows = page_of(json.dumps(page).encode())["Items"]
        assert [data.decoding.decode(row) for row in rows] == [
            decode(item) for item in page["Items"]
        ]
    assert json_of(json.dumps({"Item": odd}).encode()) == {"Item": odd}
    with pytest.raises(json.JSONDecodeError):
        json_of(b"<html>")
