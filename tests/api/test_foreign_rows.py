"""Rows that another system wrote: less than ours, more than ours, and ids of other kinds."""

from datetime import date

import pytest

from data.expressions import Item, s
from data.store import Store
from tests.api.samples import ERRORS, gid, ids, project, resource
from tests.api_client import Api, everything, put

ULID = "01HMZ8Q2V5X0W3R7T9Y1K4B6NE"


def foreign(id: str) -> list[Item]:
    """Rows as another system may have written them: no version, no stamps, more attributes."""
    more: Item = {"cost": {"N": "12"}, "payroll": {"M": {"grade": s("B")}}, "id": s(id)}
    return [
        {"sk": s(f"RES#{id}"), "EntityType": s("Resource"), "name": s("Ada"), **more},
        {
            "sk": s(f"PRJ#{id}"),
            "EntityType": s("Project"),
            "name": s("Bridge"),
            "color": s("#336699"),
            "tags": {"SS": ["one"]},
            **more,
        },
        {
            "sk": s(f"ASN#2024-01-10#{id}"),
            "EntityType": s("Assignment"),
            "resourceId": s(id),
            "projectId": s(id),
            "startDate": s("2024-01-10"),
            "endDateExclusive": s("2024-01-13"),
            **more,
        },
    ]


@pytest.mark.parametrize(
    "id", [ULID, "1", "Zoë 😀", "a:b/c=", "~", pytest.param("x" * 900, id="long")]
)
async def test_row_written_elsewhere_is_read_updated_and_moved_and_keeps_what_is_not_known(
    api: Api, store: Store, id: str
) -> None:
    rows = foreign(id)
    await put(store, api.team, rows)
    stamps = "id version createdAt updatedAt"
    document = f"{{ team {{ resources {{ {stamps} }} projects {{ {stamps} tags }} "
    document += f"assignments {{ {stamps} resource {{ id }} project {{ id }} }} }} }}"
    team = (await api.data(document))["team"]
    blank = {"version": 0, "createdAt": None, "updatedAt": None}
    resource, project, of = (gid(t, id) for t in ("Resource", "Project", "Assignment"))
    assert team == {
        "resources": [{"id": resource, **blank}],
        "projects": [{"id": project, **blank, "tags": ["one"]}],
        "assignments": [
            {"id": of, **blank, "resource": {"id": resource}, "project": {"id": project}}
        ],
    }
    for mutation, input in (
        ("updateResource", {"id": resource, "name": "Grace"}),
        ("updateProject", {"id": project, "color": "#000000"}),
        ("updateAssignment", {"id": of, "note": "n"}),
        ("updateAssignment", {"id": of, "startDate": "2024-01-09"}),
    ):
        expected = 1 if input.get("startDate") else 0
        payload = await api.mutate(mutation, ERRORS, **input, expectedVersion=expected)
        assert payload == {"errors": []}
    changes: list[Item] = [
        {"name": s("Grace"), "version": {"N": "1"}},
        # A set of tags has no order, so it becomes the list that the planner keeps.
        {"color": s("#000000"), "version": {"N": "1"}, "tags": {"L": [s("one")]}},
        {
            "note": s("n"),
            "version": {"N": "2"},
            "startDate": s("2024-01-09"),
            "sk": s(f"ASN#2024-01-09#{id}"),
        },
    ]
    for row, change in zip(rows, changes, strict=True):
        expected_row = {"pk": s(f"TEAM#{api.team}"), **row, **change}
        found = [e for e in await everything(store, api.team) if e["sk"] == expected_row["sk"]]
        stamped: Item = {"updatedAt": found[0]["updatedAt"], "updatedBy": s("user-1")}
        assert found == [expected_row | stamped]
    assert len(await everything(store, api.team)) == 3


@pytest.mark.parametrize("id", ["~", "~~", "é", "山田", "😀"])
async def test_id_of_any_characters_is_in_every_list_of_any_mix(
    api: Api, store: Store, id: str
) -> None:
    await put(store, api.team, foreign(id))
    lists = {"resources": "Resource", "projects": "Project", "assignments": "Assignment"}
    mixes = [
        ("resources",),
        ("projects",),
        ("assignments",),
        ("projects", "resources"),
        ("projects", "assignments"),
        ("resources", "assignments"),
        ("resources", "projects", "assignments"),
    ]
    for mix in mixes:
        for window in ("", '(from: "2024-01-01", to: "2024-01-10")'):
            fields = " ".join(f"{name}{window * (name == 'assignments')} {{ id }}" for name in mix)
            team = (await api.data(f"{{ team {{ {fields} }} }}"))["team"]
            for name in mix:
                assert ids(team[name]) == [id], (mix, name, lists[name])


async def test_foreign_row_without_long_end_gets_it_when_it_is_moved(
    api: Api, store: Store
) -> None:
    first, last = date(2024, 1, 10), "2024-06-01"
    row = foreign("a")[2] | {"endDateExclusive": s(last), "startDate": s(first.isoformat())}
    await put(store, api.team, [resource("a"), project("a"), row])
    await api.mutate("updateAssignment", ERRORS, id=gid("Assignment", "a"), startDate="2024-01-11")
    (item,) = [e for e in await everything(store, api.team) if e["sk"]["S"][:4] == "ASN#"]
    assert item.get("longEnd") == s(last)
