"""Two teams on one server never see, change or even learn of each other's rows (T-01)."""

import asyncio
from typing import Any

import httpx
import pytest

from data.entities import Team
from data.store import Store
from schema.execution import _remembered
from tests.api.samples import ERRORS, TIMELINE, assignment, gid, nothing_written, project, resource
from tests.api_client import COOKIE, Api, Capture, everything, put, token

READ = """query($id: ID!) { team { id name resources { name assignments { note } }
  assignments { note resource { name } project { name } } }
  node(id: $id) { ... on Resource { name } }
  nodes(ids: [$id]) { ... on Resource { name } } }"""

SAVE = """mutation($input: UpdateResourceInput!) {
  updateResource(input: $input) { errors { code } } }"""


async def seed(store: Store, team: str, tag: str) -> None:
    """Rows with the same ids in every team, and the team's tag in each."""
    booked = assignment("2024-01-10", 3, id="same", resource="same", project="same")
    await put(
        store,
        team,
        [Team(id=team, name=tag), resource("same", tag), project("same", tag), booked],
    )
    for item in await everything(store, team):
        if item["EntityType"] == {"S": "Assignment"}:
            await put(store, team, [item | {"note": {"S": tag}}])


def expected(team: str, tag: str) -> dict[str, Any]:
    return {
        "team": {
            "id": gid("Team", team),
            "name": tag,
            "resources": [{"name": tag, "assignments": [{"note": tag}]}],
            "assignments": [{"note": tag, "resource": {"name": tag}, "project": {"name": tag}}],
        },
        "node": {"name": tag},
        "nodes": [{"name": tag}],
    }


async def test_each_team_reads_its_own_current_rows_under_the_same_ids(
    api: Api, stranger: Api, store: Store
) -> None:
    id = gid("Resource", "same")
    await seed(store, api.team, "A")
    await seed(store, stranger.team, "B")
    for reader, tag in ((api, "A"), (stranger, "B"), (api, "A")):
        assert await reader.data(READ, id=id) == expected(reader.team, tag)
    async with nothing_written(store, stranger.team):
        payload = await api.mutate("updateResource", ERRORS, id=id, name="A2")
        assert payload == {"errors": []}
    assert await stranger.data(READ, id=id) == expected(stranger.team, "B")
    assert (await api.data(READ, id=id))["node"] == {"name": "A2"}
    async with nothing_written(store, stranger.team):
        await api.mutate("deleteResource", ERRORS, id=id)
    assert (await api.data(READ, id=id))["node"] is None
    assert await stranger.data(READ, id=id) == expected(stranger.team, "B")


async def test_50_requests_of_two_teams_at_once_never_mix(
    api: Api, stranger: Api, store: Store
) -> None:
    await seed(store, api.team, "A")
    await seed(store, stranger.team, "B")
    readers = [(api, "A"), (stranger, "B")] * 25
    answers = await asyncio.gather(
        *(reader.data(READ, id=gid("Resource", "same")) for reader, _ in readers)
    )
    for (reader, tag), answer in zip(readers, answers, strict=True):
        assert answer == expected(reader.team, tag)


async def test_documents_that_differ_do_not_pile_up_in_memory(api: Api) -> None:
    for n in range(300):
        assert await api.data(f"{{ a{n}: viewer {{ id }} }}") == {f"a{n}": {"id": "user-1"}}
    remembered = _remembered.cache_info()
    assert remembered.maxsize is not None
    assert remembered.currsize <= remembered.maxsize <= 300


async def test_writes_of_two_teams_at_once_under_the_same_ids_stay_apart(
    api: Api, stranger: Api, store: Store
) -> None:
    await seed(store, api.team, "A")
    await seed(store, stranger.team, "B")
    writers = (api, stranger)
    id = gid("Assignment", "same")
    payloads = await asyncio.gather(
        *(
            writer.mutate("updateAssignment", ERRORS, id=id, startDate=f"2024-01-0{day}")
            for day, writer in enumerate(writers, 1)
        ),
        *(
            writer.mutate("updateProject", ERRORS, id=gid("Project", "same"), name=writer.team)
            for writer in writers
        ),
    )
    assert all(payload == {"errors": []} for payload in payloads)
    for day, writer in enumerate(writers, 1):
        team = (await writer.data(TIMELINE))["team"]
        assert [each["startDate"] for each in team["assignments"]] == [f"2024-01-0{day}"]
        assert [each["name"] for each in team["projects"]] == [writer.team]


async def test_owner_of_another_team_cannot_be_given_an_assignment(
    api: Api, stranger: Api, store: Store
) -> None:
    theirs = {"resourceId": await stranger.resource(), "projectId": await stranger.project()}
    ours = {"resourceId": await api.resource(), "projectId": await api.project()}
    days = {"startDate": "2024-01-10", "endDate": "2024-01-12"}
    async with nothing_written(store, api.team, stranger.team):
        for field in theirs:
            input = ours | {field: theirs[field]} | days
            payload = await api.mutate("createAssignment", ERRORS, **input)
            errors = [(each["code"], each["field"]) for each in payload["errors"]]
            assert errors == [("NOT_FOUND", [field])]


@pytest.mark.parametrize(
    "request_of",
    [
        {"url": "/graphql?teamId={team}&team={team}&X-Team={team}"},
        {"url": "/graphql?access_token={session}&{cookie}={session}"},
        {"headers": {"X-Team-Id": "{team}", "TeamId": "{team}", "X-Forwarded-User": "{team}"}},
        {"headers": {"X-Team": "{team}", "X-Tenant-Id": "{team}", "X-Forwarded-Host": "{team}"}},
        {"headers": {"Host": "{team}.planner.test", "Forwarded": "host={team};for={team}"}},
        {"headers": {"X-Authorization": "Bearer {session}", "X-Amzn-Oidc-Data": "{session}"}},
        {"cookie": "; teamId={team}; team={team}"},
        {"cookie": "; __Secure-{cookie}={session}; next-auth.session-token={session}"},
        {"body": {"teamId": "{team}", "team": "{team}", "extensions": {"teamId": "{team}"}}},
        {"body": {"operationName": "{name}", "extensions": {"session": "{session}"}}},
        {"variables": {"teamId": "{team}", "team": "{team}", "pk": "TEAM#{team}"}},
    ],
    ids=str,
)
async def test_no_request_can_name_a_team(
    http: httpx.AsyncClient, api: Api, stranger: Api, store: Store, request_of: dict[str, Any]
) -> None:
    await seed(store, api.team, "A")
    await seed(store, stranger.team, "B")

    theirs = {
        "team": stranger.team,
        "session": token(stranger.team),
        "cookie": COOKIE,
        "name": stranger.team.replace("-", "_"),
    }

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(each) for name, each in value.items()}
        return value.format(**theirs)

    said = filled(request_of)
    response = await http.post(
        said.get("url", "/graphql"),
        json={
            "query": READ.replace("query", f"query {theirs['name']}"),
            "variables": {"id": gid("Resource", "same"), **said.get("variables", {})},
            **said.get("body", {}),
        },
        headers={
            "Cookie": f"{COOKIE}={token(api.team)}{said.get('cookie', '')}",
            **said.get("headers", {}),
        },
    )
    assert response.json() == {"data": expected(api.team, "A")}


@pytest.mark.parametrize(
    "document",
    [
        '{ team(id: "x") { name } }',
        '{ team(teamId: "x") { name } }',
        '{ team { resources(teamId: "x") { name } } }',
        'mutation { createResource(teamId: "x", input: {name: "x"}) { errors { code } } }',
        'mutation { createResource(input: {name: "x", teamId: "x"}) { errors { code } } }',
    ],
)
async def test_argument_that_names_a_team_is_unknown(api: Api, store: Store, document: str) -> None:
    async with nothing_written(store, api.team, "x"):
        answer = await api.run(document)
    assert "data" not in answer
    assert {each["extensions"]["code"] for each in answer["errors"]} == {"BAD_USER_INPUT"}


async def test_without_a_team_every_id_is_answered_alike_and_none_is_looked_up(
    http: httpx.AsyncClient, stranger: Api, store: Store, captured: Capture
) -> None:
    await seed(store, stranger.team, "B")
    captured.clear()
    nobody = Api(http, "")
    ids = [gid("Resource", "same"), gid("Resource", "none"), gid("Team", stranger.team), "", "x"]
    answers = [await nobody.post(READ, {"id": id}) for id in ids]
    answers += [await nobody.post(SAVE, {"input": {"id": id, "name": "x"}}) for id in ids]
    assert {response.status_code for response in answers} == {403}
    assert len({response.content for response in answers}) == 1
    assert captured.requests == []
