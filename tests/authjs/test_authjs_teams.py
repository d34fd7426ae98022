"""The documented frontend of the strategy `jwt` writes the team of the database into its tokens,
whatever the browser says (A-04)."""

import time
import uuid
from datetime import timedelta

import httpx
import pytest

from data.entities import Membership, Role
from data.members import add_member
from data.store import Store
from server.authjs import decode, derive_keys, mint
from tests.api_client import COOKIE, SECRET, Api
from tests.npm import Ask

pytestmark = pytest.mark.engines("local")


def cookie(user: str, **claims: str | None) -> str:
    """The cookie of a browser whose token says this."""
    token = mint(
        SECRET,
        cookie_name=COOKIE,
        user_id=user,
        team_id=claims.get("team"),
        role=claims.get("role"),
        lifetime=timedelta(hours=1),
        now=time.time(),
    )
    return f"{COOKIE}={token}"


def refreshed(answer: object) -> str:
    """The token that the frontend gives to the browser."""
    assert isinstance(answer, dict)
    return str(dict(answer["cookies"])[COOKIE])


def team_and_role(token: str) -> tuple[object, object]:
    claims = decode(token, derive_keys([SECRET], COOKIE))
    return claims.get("teamId"), claims.get("role")


@pytest.fixture
async def user(store: Store, team: str) -> str:
    """A member of two teams: an admin of `team`, a viewer of `{team}-2`."""
    user = uuid.uuid4().hex
    await add_member(store, Membership(team_id=team, user_id=user, role=Role.ADMIN))
    await add_member(store, Membership(team_id=f"{team}-2", user_id=user, role=Role.VIEWER))
    return user


async def test_the_frontend_takes_team_and_role_from_the_table(
    frontend: Ask, http: httpx.AsyncClient, store: Store, team: str
) -> None:
    user = uuid.uuid4().hex
    await add_member(store, Membership(team_id=team, user_id=user, role=Role.VIEWER))
    for claims in ({}, {"team": "another", "role": "admin"}):
        token = refreshed(frontend("read", config="jwt", cookie=cookie(user, **claims)))
        assert team_and_role(token) == (team, "viewer")
        api = Api(http, team)
        api.headers = {"Cookie": f"{COOKIE}={token}"}
        assert await api.data("{ viewer { id role } }") == {
            "viewer": {"id": user, "role": "VIEWER"}
        }


async def test_a_browser_chooses_among_the_users_teams_and_no_others(
    frontend: Ask, user: str, team: str
) -> None:
    own = cookie(user, team=team, role="admin")
    for wanted, expected in (
        ({"teamId": f"{team}-2", "role": "admin"}, (f"{team}-2", "viewer")),
        ({"teamId": "another", "role": "admin"}, (team, "admin")),
        ({"teamId": {"$ne": ""}}, (team, "admin")),
        ({}, (team, "admin")),
    ):
        token = refreshed(frontend("update", config="jwt", cookie=own, data=wanted))
        assert team_and_role(token) == expected
    token = refreshed(frontend("read", config="jwt", cookie=own))
    assert team_and_role(token) == (team, "admin")
    # Neither a wish nor a team yet: the user has to choose first.
    token = refreshed(frontend("read", config="jwt", cookie=cookie(user)))
    assert team_and_role(token) == (None, None)


async def test_membership_of_finds_the_wanted_membership_and_nothing_else(
    adapter: Ask, store: Store, user: str, team: str
) -> None:
    # Somebody whose e-mail address is this user's id.
    adapter("adapter", calls=[["createUser", {"email": user}]])
    for wanted, found in (
        ([team], team),
        ([f"{team}-2", team], f"{team}-2"),
        (["another", None, team], team),
        (["another"], None),
        ([], None),
    ):
        membership = adapter("membershipOf", userId=user, wanted=wanted)
        assert (membership and membership["teamId"]) == found  # type: ignore[index]
    assert adapter("membershipOf", userId=uuid.uuid4().hex, wanted=[team]) is None
    assert adapter("membershipOf", userId=None, wanted=[team]) is None
