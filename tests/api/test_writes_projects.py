"""createProject, updateProject, deleteProject: what is stored, and what is refused."""

from typing import Any

import pytest

from data.store import Store
from tests.api.samples import ERRORS, nothing_written, raw
from tests.api_client import Api, everything
from tests.tombstones import deletions, remaining

PROJECT = "project { id name color description tags links { label url } version }"
WHOLE: dict[str, Any] = {
    "name": "Bridge",
    "color": "#0aF9c3",
    "description": "First line\nSecond\tline",
    "tags": ["steel", "river", "steel"],
    "links": [{"label": "Plan", "url": "https://example.org/plan?x=1#y"}],
}
URLS = ("", " ", "plan", "//example.org", "ftp://example.org", "javascript:alert(1)", "https://")

# A value -> the field that has the fault.
BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"name": ""}, ["name"]),
    ({"name": " \u200b "}, ["name"]),
    ({"name": "x" * 101}, ["name"]),
    *(
        ({"color": color}, ["color"])
        for color in ("", "red", "336699", "#33669", "#3366990", "#33669g", "#336699\n", "＃336699")
    ),
    ({"description": "x" * 10_001}, ["description"]),
    ({"description": "a\x00b"}, ["description"]),
    ({"tags": [f"{n}" for n in range(21)]}, ["tags"]),
    ({"tags": ["a", ""]}, ["tags", "1"]),
    ({"tags": ["x" * 31]}, ["tags", "0"]),
    ({"links": [{"label": "x", "url": "https://example.org"}] * 11}, ["links"]),
    ({"links": [{"label": "", "url": "https://example.org"}]}, ["links", "0", "label"]),
    ({"links": [{"label": "x" * 51, "url": "https://example.org"}]}, ["links", "0", "label"]),
    *(({"links": [{"label": "x", "url": url}]}, ["links", "0", "url"]) for url in URLS),
    ({"links": [{"label": "x", "url": "https://e.org/" + "x" * 2_000}]}, ["links", "0", "url"]),
    ({"links": [{"label": "x", "url": "https://e.org/a b"}]}, ["links", "0", "url"]),
]


async def test_created_project_is_stored_whole_with_its_tags_once_each(
    api: Api, store: Store
) -> None:
    payload = await api.mutate("createProject", f"{PROJECT} {ERRORS}", **WHOLE)
    assert payload["errors"] == []
    id = payload["project"]["id"]
    (item,) = await everything(store, api.team)
    assert payload["project"] == WHOLE | {"id": id, "tags": ["steel", "river"], "version": 1}
    assert item == {
        "pk": {"S": f"TEAM#{api.team}"},
        "sk": {"S": f"PRJ#{raw(id)}"},
        "EntityType": {"S": "Project"},
        "id": {"S": raw(id)},
        "name": {"S": "Bridge"},
        "color": {"S": "#0aF9c3"},
        "description": {"S": WHOLE["description"]},
        "tags": {"L": [{"S": "steel"}, {"S": "river"}]},
        "links": {
            "L": [{"M": {"label": {"S": "Plan"}, "url": {"S": "https://example.org/plan?x=1#y"}}}]
        },
        "version": {"N": "1"},
        "createdAt": item["createdAt"],
        "updatedAt": item["createdAt"],
        "updatedBy": {"S": "user-1"},
    }


@pytest.mark.parametrize("unset", [{}, {"description": None, "tags": None, "links": None}])
@pytest.mark.parametrize("empty", [{}, {"description": "", "tags": [], "links": []}])
async def test_unset_attribute_of_a_project_is_absent_never_empty(
    api: Api, store: Store, unset: dict[str, Any], empty: dict[str, Any]
) -> None:
    payload = await api.mutate(
        "createProject", f"{PROJECT} {ERRORS}", name="Bridge", color="#336699", **(unset | empty)
    )
    (item,) = await everything(store, api.team)
    assert item.keys() == {
        *("pk", "sk", "EntityType", "id", "name", "color", "version"),
        *("createdAt", "updatedAt", "updatedBy"),
    }
    created = payload["project"]
    assert (created["description"], created["tags"], created["links"]) == (None, [], [])


@pytest.mark.parametrize(("change", "field"), BAD)
async def test_bad_value_of_a_project_is_invalid_and_nothing_is_written(
    api: Api, store: Store, change: dict[str, Any], field: list[str]
) -> None:
    id = await api.project()
    async with nothing_written(store, api.team):
        for mutation, input in (
            ("createProject", {"name": "Bridge", "color": "#336699"} | change),
            ("updateProject", {"id": id} | change),
        ):
            payload = await api.mutate(mutation, f"{PROJECT} {ERRORS}", **input)
            assert payload["project"] is None
            (error,) = payload["errors"]
            assert (error["code"], error["field"]) == ("INVALID", field)


async def test_field_of_a_bad_tag_is_its_place_in_the_input(api: Api) -> None:
    payload = await api.mutate(
        "createProject", ERRORS, name="Bridge", color="#336699", tags=["a", "a", ""]
    )
    assert [each["field"] for each in payload["errors"]] == [["tags", "2"]]


async def test_all_bad_values_are_told_at_once(api: Api, store: Store) -> None:
    async with nothing_written(store, api.team):
        payload = await api.mutate("createProject", ERRORS, name="", color="red", tags=[" "])
    fields = [each["field"] for each in payload["errors"]]
    assert fields == [["name"], ["color"], ["tags", "0"]]
    assert {each["code"] for each in payload["errors"]} == {"INVALID"}


async def test_longest_project_that_is_allowed_comes_back_whole(api: Api) -> None:
    longest = {
        "name": "😀" * 100,
        "color": "#FFFFFF",
        "description": "ü" * 10_000,
        "tags": [f"{n:030}" for n in range(20)],
        "links": [
            {"label": "x" * 50, "url": f"http://e.org/{n}".ljust(2_000, "y")} for n in range(10)
        ],
    }
    created = (await api.mutate("createProject", f"{PROJECT} {ERRORS}", **longest))["project"]
    read = await api.data(f"{{ team {{ projects {PROJECT.removeprefix('project')} }} }}")
    assert read["team"]["projects"] == [created]
    assert created == longest | {"id": created["id"], "version": 1}


@pytest.mark.parametrize("field", ["name", "color"])
async def test_null_is_invalid_for_what_a_project_must_have(
    api: Api, store: Store, field: str
) -> None:
    id = await api.project()
    async with nothing_written(store, api.team):
        payload = await api.mutate("updateProject", f"{PROJECT} {ERRORS}", id=id, **{field: None})
    (error,) = payload["errors"]
    assert (error["code"], error["field"], payload["project"]) == ("INVALID", [field], None)


@pytest.mark.parametrize("clears", ["null", "empty"])
async def test_null_clears_what_may_be_cleared_and_absent_leaves_it(
    api: Api, store: Store, clears: str
) -> None:
    whole = (await api.mutate("createProject", f"{PROJECT} {ERRORS}", **WHOLE))["project"]
    for field, empty in {"description": "", "tags": [], "links": []}.items():
        value = None if clears == "null" else empty
        payload = await api.mutate(
            "updateProject", f"{PROJECT} {ERRORS}", id=whole["id"], **{field: value}
        )
        cleared: list[str] | None = None if field == "description" else []
        whole |= {field: cleared, "version": whole["version"] + 1}
        assert payload == {"project": whole, "errors": []}
        (item,) = await everything(store, api.team)
        assert field not in item
        assert (item["name"], item["color"]) == ({"S": "Bridge"}, {"S": "#0aF9c3"})


async def test_deleted_project_is_gone_and_a_second_time_not_found(api: Api, store: Store) -> None:
    id = await api.project()
    selection = f"deletedProjectId deletedAssignmentIds {ERRORS}"
    gone = {"deletedProjectId": id, "deletedAssignmentIds": [], "errors": []}
    assert await api.mutate("deleteProject", selection, id=id) == gone
    assert await remaining(store, api.team) == []
    again = await api.mutate("deleteProject", selection, id=id)
    assert (again["deletedProjectId"], again["deletedAssignmentIds"]) == (None, [])
    assert [(each["code"], each["field"]) for each in again["errors"]] == [("NOT_FOUND", ["id"])]
    assert await deletions(store, api.team) == [("Project", raw(id), 2, "user-1")]
