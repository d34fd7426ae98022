"""A row that can't be read is left out, counted and logged; it fails nothing (D-03, S-08)."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from data.expressions import Item, s
from data.store import Store
from tests.api.samples import ERRORS, TIMELINE, assignment, gid, ids, project, resource
from tests.api_client import Api, everything, put

GOOD: Item = {
    "EntityType": s("Assignment"),
    "id": s("bad"),
    "resourceId": s("r"),
    "projectId": s("p"),
    "startDate": s("2024-01-10"),
    "endDateExclusive": s("2024-01-13"),
}
SECRET = "never in a log"


def asn(id: str = "bad", day: str = "2024-01-10", /, **change: Any) -> Item:
    """An assignment's item that differs from a good one; None takes an attribute away."""
    item = GOOD | {"sk": s(f"ASN#{day}#{id}"), "note": s(SECRET)} | change
    return {name: value for name, value in item.items() if value is not None}


BAD: dict[str, tuple[Item, str]] = {
    "no EntityType": (asn(EntityType=None), "MISSING_ENTITY_TYPE"),
    "another case": (asn(EntityType=s("assignment")), "UNKNOWN_ENTITY_TYPE"),
    "a space more": (asn(EntityType=s("Assignment ")), "UNKNOWN_ENTITY_TYPE"),
    "an unknown type": (asn(EntityType=s("Holiday")), "UNKNOWN_ENTITY_TYPE"),
    "a type that is a number": (asn(EntityType={"N": "1"}), "UNKNOWN_ENTITY_TYPE"),
    "no projectId": (asn(projectId=None), "MALFORMED_ITEM"),
    "no resourceId": (asn(resourceId=None), "MALFORMED_ITEM"),
    "an empty projectId": (asn(projectId=s("")), "MALFORMED_ITEM"),
    "no id": (asn(id=None), "MALFORMED_ITEM"),
    "an id that is not the key's": (asn(id=s("other")), "MALFORMED_ITEM"),
    "a garbage day": (asn(startDate=s("soon")), "MALFORMED_ITEM"),
    "a garbage end": (asn(endDateExclusive=s("9999-99-99")), "MALFORMED_ITEM"),
    "an end that is a number": (asn(endDateExclusive={"N": "99999999"}), "MALFORMED_ITEM"),
    "no end": (asn(endDateExclusive=None), "MALFORMED_ITEM"),
    "no days": (asn(endDateExclusive=s("2024-01-10")), "MALFORMED_ITEM"),
    "negative days": (
        asn(startDate=s("2024-01-11"), endDateExclusive=s("2024-01-10")),
        "MALFORMED_ITEM",
    ),
    "a day that is not the key's": (asn(startDate=s("2024-01-09")), "MALFORMED_ITEM"),
    "a note that is a list": (asn(note={"L": []}), "MALFORMED_ITEM"),
    "a version that is text": (asn(version=s("1")), "MALFORMED_ITEM"),
    "a version with a fraction": (asn(version={"N": "1.5"}), "MALFORMED_ITEM"),
    "a version beyond an Int": (asn(version={"N": "2147483648"}), "MALFORMED_ITEM"),
    "a stamp that is a number": (asn(updatedAt=None, createdAt={"N": "1"}), "MALFORMED_ITEM"),
    "a resource at an assignment's key": (
        asn(EntityType=s("Resource"), name=s("x")),
        "MALFORMED_ITEM",
    ),
    "a project at a resource's key": (
        {
            "sk": s("RES#bad"),
            "EntityType": s("Project"),
            "id": s("bad"),
            "name": s(SECRET),
            "color": s("#123456"),
        },
        "MALFORMED_ITEM",
    ),
    "a resource without a name": (
        {"sk": s("RES#bad"), "EntityType": s("Resource"), "id": s("bad"), "cost": s(SECRET)},
        "MALFORMED_ITEM",
    ),
    "a project without a colour": (
        {"sk": s("PRJ#bad"), "EntityType": s("Project"), "id": s("bad"), "name": s(SECRET)},
        "MALFORMED_ITEM",
    ),
    "a project with a tag that is a number": (
        {
            "sk": s("PRJ#bad"),
            "EntityType": s("Project"),
            "id": s("bad"),
            "name": s(SECRET),
            "color": s("#123456"),
            "tags": {"L": [{"N": "1"}]},
        },
        "MALFORMED_ITEM",
    ),
    "an unknown prefix": (
        {"sk": s("XYZ#1"), "EntityType": s("Xyz"), "data": s(SECRET)},
        "UNKNOWN_ENTITY_TYPE",
    ),
    "an adapter's item": (
        {"sk": s("RES#"), "type": s("SESSION"), "data": s(SECRET)},
        "MISSING_ENTITY_TYPE",
    ),
    "a team without a name": ({"sk": s("META"), "EntityType": s("Team")}, "MALFORMED_ITEM"),
    "a member without a role": (
        {"sk": s("MEMBER#u"), "EntityType": s("Membership")},
        "MALFORMED_ITEM",
    ),
}


async def seed(store: Store, team: str) -> None:
    await put(store, team, [resource("r"), project("p"), assignment("2024-01-10", 3, id="good")])


@pytest.mark.parametrize(("item", "code"), BAD.values(), ids=BAD.keys())
async def test_bad_row_is_left_out_counted_and_logged_once_without_its_content(
    api: Api, store: Store, item: Item, code: str
) -> None:
    await seed(store, api.team)
    clean = (await api.run(TIMELINE))["data"]
    await put(store, api.team, [item])
    with capture_logs() as logs:
        responses = [await api.post(TIMELINE) for _ in range(2)]
    for response in responses:
        assert response.status_code == 200
        assert response.json() == {
            "data": clean,
            "extensions": {"warnings": [{"code": code, "count": 1}]},
        }
    (entry,) = [each for each in logs if each["event"] == "item skipped"]
    assert (entry["pk"], entry["sk"]) == (f"TEAM#{api.team}", item["sk"]["S"])
    assert (entry["log_level"], entry["code"]) == ("warning", code)
    assert SECRET not in str(logs)


async def test_warnings_count_the_rows_by_code(api: Api, store: Store) -> None:
    await seed(store, api.team)
    for n in range(3):
        await put(
            store, api.team, [asn(f"t{n}", EntityType=None), asn(f"h{n}", EntityType=s("Holiday"))]
        )
    await put(store, api.team, [asn("m", projectId=None)])
    answer = await api.run(TIMELINE)
    assert ids(answer["data"]["team"]["assignments"]) == ["good"]
    assert answer["extensions"]["warnings"] == [
        {"code": "MALFORMED_ITEM", "count": 1},
        {"code": "MISSING_ENTITY_TYPE", "count": 3},
        {"code": "UNKNOWN_ENTITY_TYPE", "count": 3},
    ]


async def test_bad_row_is_counted_once_in_a_document_that_reads_twice(
    api: Api, store: Store
) -> None:
    await put(store, api.team, [asn(EntityType=s("Holiday"))])
    answer = await api.run(
        """mutation { a: createResource(input: {name: "a"}) { resource { assignments { id } } }
        b: createResource(input: {name: "b"}) { resource { assignments { id } } } }"""
    )
    assert answer["extensions"]["warnings"] == [{"code": "UNKNOWN_ENTITY_TYPE", "count": 1}]


async def test_windowed_assignments_alone_report_bad_rows_too(api: Api, store: Store) -> None:
    await seed(store, api.team)
    bad = [asn("e", endDateExclusive=None), asn("t", EntityType=None), asn("p", projectId=None)]
    await put(store, api.team, bad)
    window = 'assignments(from: "2024-01-12", to: "2024-01-12")'
    answer = await api.run(f"{{ team {{ {window} {{ id }} }} }}")
    assert ids(answer["data"]["team"]["assignments"]) == ["good"]
    assert answer["extensions"]["warnings"] == [
        {"code": "MALFORMED_ITEM", "count": 2},
        {"code": "MISSING_ENTITY_TYPE", "count": 1},
    ]


async def test_answer_without_bad_rows_has_no_extensions(api: Api, store: Store) -> None:
    await seed(store, api.team)
    assert (await api.run(TIMELINE)).keys() == {"data"}


async def test_resource_is_never_a_project_nor_the_other_way_round(api: Api, store: Store) -> None:
    await put(
        store,
        api.team,
        [
            {
                "sk": s("RES#1"),
                "EntityType": s("Resource"),
                "id": s("1"),
                "name": s("Ada"),
                "color": s("#123456"),
            },
            {
                "sk": s("PRJ#1"),
                "EntityType": s("Project"),
                "id": s("1"),
                "name": s("B"),
                "color": s("#123456"),
            },
            {"sk": s("PRJ#2"), "EntityType": s("Resource"), "id": s("2"), "name": s("Eve")},
        ],
    )
    for fields in ("resources { name } projects { name }", "projects { name } resources { name }"):
        team = (await api.run(f"{{ team {{ {fields} }} }}"))["data"]["team"]
        assert team == {"resources": [{"name": "Ada"}], "projects": [{"name": "B"}]}
    for name in ("resources", "projects"):
        answer = await api.run(f"{{ team {{ {name} {{ id }} }} }}")
        assert ids(answer["data"]["team"][name]) == ["1"]


async def test_dangling_owner_of_an_assignment_is_null(api: Api, store: Store) -> None:
    await put(
        store,
        api.team,
        [
            resource("r"),
            project("p"),
            assignment("2024-01-10", id="1", resource="nobody", project="p"),
            assignment("2024-01-11", id="2", resource="r", project="nothing"),
        ],
    )
    answer = await api.run(
        """{ team { assignments { id resourceId projectId resource { id } project { id } }
        resources { assignments { id } } projects { assignments { id } } } }"""
    )
    assert answer.keys() == {"data"}
    team = answer["data"]["team"]
    owner, job = gid("Resource", "r"), gid("Project", "p")
    assert [(e["resource"], e["project"]) for e in team["assignments"]] == [
        (None, {"id": job}),
        ({"id": owner}, None),
    ]
    assert team["assignments"][0]["resourceId"] == gid("Resource", "nobody")
    assert ids(team["resources"][0]["assignments"]) == ["2"]
    assert ids(team["projects"][0]["assignments"]) == ["1"]


@pytest.mark.parametrize("mutation", ["updateAssignment", "updateResource", "updateProject"])
async def test_bad_row_is_not_found_by_an_update_and_stays_as_it_is(
    api: Api, store: Store, mutation: str
) -> None:
    type = mutation.removeprefix("update")
    keys = {"Assignment": "ASN#2024-01-10#bad", "Resource": "RES#bad", "Project": "PRJ#bad"}
    await put(store, api.team, [{"sk": s(keys[type]), "EntityType": s("Holiday"), "id": s("bad")}])
    before = await everything(store, api.team)
    change = {"note": "x"} if type == "Assignment" else {"name": "x"}
    payload = await api.mutate(mutation, ERRORS, id=gid(type, "bad"), **change)
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [("NOT_FOUND", ["id"])]
    assert await everything(store, api.team) == before
