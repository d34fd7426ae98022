"""Sessions in the table: written by the real @auth/dynamodb-adapter, read by the application."""

import time
import uuid
from typing import Any

import httpx
import pytest

from data.entities import Membership, Role, Team
from data.members import add_member, create_team
from data.store import Store
from server.settings import SessionStrategy, Settings
from tests.api.samples import TIMELINE, project, resource
from tests.api_client import COOKIE, Api, put
from tests.engines import HOME
from tests.npm import Ask

pytestmark = pytest.mark.engines("local")


@pytest.fixture(scope="module")
def settings(store: Store, engine: str) -> Settings:
    """Without a secret: this strategy has none."""
    return Settings(
        auth_secret=None,
        session_strategy=SessionStrategy.DATABASE,
        membership_seconds=0,
        table=store.table,
        endpoint_url=engine,
        home=HOME,
    )


class Person:
    """A user of the real adapter with a session, and what their browser asks of the API."""

    def __init__(self, adapter: Ask, http: httpx.AsyncClient, team: str) -> None:
        self.adapter = adapter
        self.token = str(uuid.uuid4())
        self.email = f"{uuid.uuid4().hex}@example.com"
        [user] = self.calls(["createUser", {"name": "Ada", "email": self.email}])
        self.id = str(user["id"])
        self.calls(
            [
                "linkAccount",
                {
                    "userId": self.id,
                    "type": "oauth",
                    "provider": "github",
                    "providerAccountId": self.id,
                },
            ],
            ["createSession", self.session(60_000)],
        )
        self.api = Api(http, team)
        self.api.headers = {"Cookie": f"{COOKIE}={self.token}"}

    def session(self, milliseconds: float) -> dict[str, Any]:
        """A session that ends so long after now."""
        expires = int(time.time() * 1_000 + milliseconds)
        return {"sessionToken": self.token, "userId": self.id, "expires": expires}

    def calls(self, *calls: list[Any]) -> list[Any]:
        results = self.adapter("adapter", calls=calls)
        assert isinstance(results, list)
        return results

    async def answer(self) -> tuple[int, dict[str, Any]]:
        response = await self.api.post("{ viewer { id role } team { name } }")
        return response.status_code, response.json()


@pytest.fixture
def person(adapter: Ask, http: httpx.AsyncClient, team: str) -> Person:
    return Person(adapter, http, team)


async def joined(store: Store, person: Person, team: str, role: Role = Role.ADMIN) -> None:
    await create_team(store, Team(id=team, name=f"The {team}"))
    await add_member(store, Membership(team_id=team, user_id=person.id, role=role))


def code(answer: dict[str, Any]) -> str:
    return str(answer["errors"][0]["extensions"]["code"])


async def test_a_session_of_the_adapter_is_its_user_in_their_only_team(
    person: Person, store: Store, team: str
) -> None:
    status, answer = await person.answer()
    assert (status, code(answer)) == (403, "FORBIDDEN")
    await joined(store, person, team)
    who = {"viewer": {"id": person.id, "role": "ADMIN"}, "team": {"name": f"The {team}"}}
    assert await person.answer() == (200, {"data": who})
    person.api.headers = {"Authorization": f"Bearer {person.token}"}
    assert await person.answer() == (200, {"data": who})


async def test_a_session_ends_with_its_time_and_lives_on_when_it_is_prolonged(
    person: Person, store: Store, team: str
) -> None:
    await joined(store, person, team)
    for milliseconds, status in ((-1, 401), (60_000.5, 200), (-3_600_000, 401)):
        [updated] = person.calls(["updateSession", person.session(milliseconds)])
        assert updated["userId"] == person.id
        assert (await person.answer())[0] == status


async def test_signing_out_counts_at_once(person: Person, store: Store, team: str) -> None:
    await joined(store, person, team)
    assert (await person.answer())[0] == 200
    person.calls(["deleteSession", person.token])
    status, answer = await person.answer()
    assert (status, code(answer)) == (401, "UNAUTHENTICATED")


async def test_a_user_who_is_deleted_has_no_session_any_more(
    person: Person, store: Store, team: str
) -> None:
    await joined(store, person, team)
    person.calls(["deleteUser", person.id])
    assert (await person.answer())[0] == 401


async def test_items_of_the_adapter_are_no_part_of_a_plan_and_no_membership(
    person: Person, store: Store, team: str
) -> None:
    await joined(store, person, team)
    await put(store, team, [resource("r"), project("p")])
    # The e-mail address of one user as the id of another: one partition of the index for both.
    namesake = Membership(team_id=f"{team}-2", user_id=person.email, role=Role.VIEWER)
    await add_member(store, namesake)
    answer = await person.api.run(TIMELINE.replace("{ team {", "{ team { members { userId }"))
    assert "extensions" not in answer
    counts = {name: len(found) for name, found in answer["data"]["team"].items()}
    assert counts == {"members": 1, "resources": 1, "projects": 1, "assignments": 0}
    teams = await person.api.data("{ viewer { teams { name isCurrent } } }")
    assert teams == {"viewer": {"teams": [{"name": f"The {team}", "isCurrent": True}]}}


async def test_the_documented_frontend_keeps_its_sessions_where_the_api_reads_them(
    person: Person, frontend: Ask, store: Store, team: str
) -> None:
    await joined(store, person, team)
    read = frontend("read", config="database", cookie=f"{COOKIE}={person.token}")
    assert isinstance(read, dict)
    assert read["body"]["user"]["email"] == person.email
    kept = dict(read["cookies"])
    assert kept[COOKIE] == person.token
    person.api.headers = {"Cookie": f"{COOKIE}={kept[COOKIE]}"}
    assert (await person.answer())[0] == 200
