"""The team's members, and the teams of the viewer."""

from typing import Any

import httpx
import pytest

from data.entities import Membership, Role, Team
from data.errors import Refused
from data.expressions import Item, s
from data.members import add_member, remove_member
from data.store import Store
from tests.api.samples import assignment, gid, project, resource
from tests.api_client import Api, Capture, put, token

MEMBERS = "{ team { members { id userId role joinedAt } } }"
TEAMS = "{ viewer { teams { teamId name role joinedAt isCurrent } } }"


def membership(team: str, user: str, role: Role = Role.MEMBER) -> Membership:
    return Membership(team_id=team, user_id=user, role=role, joined_at=f"{team} {user}")


async def test_members_come_by_user_id_with_their_roles(api: Api, store: Store) -> None:
    users = {"b": Role.ADMIN, "a": Role.VIEWER, "auth0|c#1": Role.MEMBER}
    await put(store, api.team, [membership(api.team, *each) for each in users.items()])
    answer = await api.data(MEMBERS)
    expected = [
        {
            "id": gid("Membership", f"{api.team}#{user}"),
            "userId": user,
            "role": users[user].name,
            "joinedAt": f"{api.team} {user}",
        }
        for user in sorted(users)
    ]
    assert answer["team"]["members"] == expected
    for each in expected:
        node = (
            f'{{ node(id: "{each["id"]}") {{ ... on Membership {{ id userId role joinedAt }} }} }}'
        )
        assert (await api.data(node))["node"] == each


async def test_members_are_in_the_one_read_of_the_timeline(
    api: Api, store: Store, captured: Capture
) -> None:
    booked = assignment("2024-01-10", id="a")
    await put(store, api.team, [membership(api.team, "u"), resource("r"), project("p"), booked])
    answer = await api.data("{ team { members { userId } assignments { id resource { id } } } }")
    assert answer["team"]["members"] == [{"userId": "u"}]
    assert len(answer["team"]["assignments"]) == 1
    assert captured.operations == ["Query"]


BAD: dict[str, dict[str, Any]] = {
    "no user": {"userId": None},
    "a user that can't be one": {"userId": s("a\nb"), "sk": s("MEMBER#a\nb")},
    "a user that is not the key's": {"userId": s("other")},
    "no role": {"role": None},
    "a role that is a number": {"role": {"N": "1"}},
    "the index leads elsewhere": {"GSI1PK": s("USER#other")},
    "the index leads from elsewhere": {"GSI1SK": s("TEAM#other")},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
async def test_a_malformed_membership_is_left_out_and_reported(
    api: Api, store: Store, change: dict[str, Any]
) -> None:
    good: Item = {
        "sk": s("MEMBER#bad"),
        "EntityType": s("Membership"),
        "userId": s("bad"),
        "role": s("admin"),
    }
    await put(store, api.team, [membership(api.team, "good"), good])
    answer = await api.data(MEMBERS)
    assert [each["userId"] for each in answer["team"]["members"]] == ["bad", "good"]
    bad = {name: value for name, value in {**good, **change}.items() if value is not None}
    await put(store, api.team, [bad])
    answer = await api.run(MEMBERS)
    left = [each["userId"] for each in answer["data"]["team"]["members"]]
    assert left == (["bad", "good"] if bad["sk"] != good["sk"] else ["good"])
    assert answer["extensions"] == {"warnings": [{"code": "MALFORMED_ITEM", "count": 1}]}


@pytest.fixture
def user(team: str) -> str:
    return f"user-of-{team}"


@pytest.fixture
def viewer(http: httpx.AsyncClient, team: str, user: str) -> Api:
    """An API whose user no other test has."""
    api = Api(http, team)
    api.headers = {"Authorization": f"Bearer {token(team, user=user)}"}
    return api


async def test_the_team_of_the_session_is_always_among_the_viewers(
    viewer: Api, store: Store, team: str, user: str
) -> None:
    own = {
        "teamId": gid("Team", team),
        "name": team,
        "role": "MEMBER",
        "joinedAt": None,
        "isCurrent": True,
    }
    assert (await viewer.data(TEAMS))["viewer"]["teams"] == [own]
    # What the token says counts, here as everywhere.
    await put(store, team, [membership(team, user, Role.ADMIN), Team(id=team, name="One")])
    stored = {**own, "name": "One", "joinedAt": f"{team} {user}"}
    assert (await viewer.data(TEAMS))["viewer"]["teams"] == [stored]


async def test_an_entry_of_the_viewers_teams_has_an_id_of_its_own(
    viewer: Api, store: Store, team: str, user: str
) -> None:
    """C-02: caches that know an object by its id alone, as Relay's, would take an entry and the
    team, or the membership, for one."""
    await put(store, team, [membership(team, user, Role.MEMBER)])
    query = "{ team { id members { id } } viewer { id teams { id teamId } } }"
    answer = await viewer.data(query)
    [entry] = answer["viewer"]["teams"]
    assert entry["teamId"] == answer["team"]["id"] == gid("Team", team)
    [member] = answer["team"]["members"]
    assert entry["id"] not in {answer["team"]["id"], answer["viewer"]["id"], member["id"]}
    # It is for caches: `node` knows no such object.
    assert await viewer.data("query($id: ID!) { node(id: $id) { id } }", id=entry["id"]) == {
        "node": None
    }


async def test_the_viewers_teams_are_theirs_alone_and_in_order(
    viewer: Api, store: Store, team: str, user: str, captured: Capture
) -> None:
    teams = [f"{team}-{n}" for n in range(5)]
    for each in teams[::-1]:
        await put(store, each, [Team(id=each, name=f"The {each}"), membership(each, "somebody")])
    for each in (teams[3], teams[1]):
        await put(store, each, [membership(each, user, Role.VIEWER)])
    answer = await viewer.data(TEAMS)
    assert [(e["name"], e["role"], e["isCurrent"]) for e in answer["viewer"]["teams"]] == [
        (team, "MEMBER", True),
        (f"The {teams[1]}", "VIEWER", False),
        (f"The {teams[3]}", "VIEWER", False),
    ]
    assert sorted(captured.operations) == ["GetItem", "GetItem", "GetItem", "Query"]
    for name, request in captured.requests:
        if name == "GetItem":
            assert request["Key"]["sk"] == s("META")


async def test_names_are_read_once_and_only_when_they_are_asked_for(
    viewer: Api, captured: Capture
) -> None:
    await viewer.data("{ viewer { teams { id role joinedAt isCurrent } } }")
    assert captured.operations == ["Query"]
    captured.clear()
    await viewer.data(
        """{ a: viewer { teams { x: name y: name } teams { name } } b: viewer { teams { name } }
        team { name } }"""
    )
    assert sorted(captured.operations) == ["GetItem", "Query", "Query"]


async def test_what_the_viewers_teams_leave_out_is_reported(
    viewer: Api, store: Store, team: str, user: str
) -> None:
    await put(store, f"{team}-2", [membership(f"{team}-2", user)])
    unnamed: Item = {"sk": s("META"), "EntityType": s("Team")}
    await put(store, f"{team}-2", [unnamed])
    untyped: Item = {
        "sk": s(f"MEMBER#{user}"),
        "userId": s(user),
        "role": s("admin"),
        "GSI1PK": s(f"USER#{user}"),
        "GSI1SK": s(f"TEAM#{team}-3"),
    }
    await put(store, f"{team}-3", [untyped])
    answer = await viewer.run(TEAMS)
    names = [each["name"] for each in answer["data"]["viewer"]["teams"]]
    assert names == [team, f"{team}-2"]
    assert answer["extensions"] == {
        "warnings": [
            {"code": "MALFORMED_ITEM", "count": 1},
            {"code": "MISSING_ENTITY_TYPE", "count": 1},
        ]
    }


async def test_a_member_is_removed_once(api: Api, store: Store, team: str) -> None:
    member = Membership(team_id=team, user_id="user-9", role=Role.MEMBER)
    await add_member(store, member)
    await remove_member(store, team, "user-9")
    assert (await api.data("{ team { members { userId } } }"))["team"] == {"members": []}
    with pytest.raises(Refused, match="user-9 is no member"):
        await remove_member(store, team, "user-9")
