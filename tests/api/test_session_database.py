"""Sessions of the strategy `database`: the token is looked up in the table, each time.

That these are the items of the real adapter: tests/authjs/test_authjs_database.py.
"""

import asyncio
import os
import time
import uuid
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette

from data.entities import Membership, Role
from data.errors import Refused
from data.expressions import Item, s
from data.members import add_member
from data.sessions import start_session
from data.store import Store
from server.app import create_app
from server.demo import DEMO_TEAM, DEMO_USER, seed_demo
from server.dev import dev_settings, dev_sign_in
from server.engines import DUMMY_CREDENTIALS
from server.issuing import issue_stored
from server.settings import SessionStrategy, Settings
from tests.api.http import QUERY, is_refused
from tests.api_client import COOKIE, SECRET, Api, Capture, token
from tests.faults import Fault, faulty
from tests.programs import PLANNER

pytestmark = pytest.mark.engines("local")

HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def settings(settings: Settings) -> Settings:
    """Without a secret: this strategy has none."""
    update = {"session_strategy": SessionStrategy.DATABASE, "auth_secret": None}
    return settings.model_copy(update=update)


@pytest.fixture
def user(team: str) -> str:
    return f"user-of-{team}"


@pytest.fixture
async def member(store: Store, team: str, user: str) -> Membership:
    return await add_member(store, Membership(team_id=team, user_id=user, role=Role.MEMBER))


async def post(
    http: httpx.AsyncClient, session: str, headers: dict[str, str] | None = None
) -> httpx.Response:
    headers = headers or {"Authorization": f"Bearer {session}"}
    return await http.post("/graphql", json={"query": QUERY}, headers=headers)


async def test_a_session_that_is_stored_is_a_session(
    http: httpx.AsyncClient, store: Store, team: str, user: str, member: Membership
) -> None:
    session = await start_session(store, user, expires=time.time() + 60)
    named = {"data": {"team": {"name": team}}}
    assert (await post(http, session)).json() == named
    cookies = {"Cookie": f"theme=dark; {COOKIE}={session}"}
    assert (await post(http, session, cookies)).json() == named
    split = {"Cookie": f"{COOKIE}.1={session[20:]}; {COOKIE}.0={session[:20]}"}
    assert (await post(http, session, split)).json() == named


async def test_each_request_looks_the_session_up_and_remembers_the_membership(
    http: httpx.AsyncClient, store: Store, user: str, member: Membership, captured: Capture
) -> None:
    session = await start_session(store, user, expires=time.time() + 60)
    for times in (1, 2, 3):
        assert (await post(http, session)).status_code == 200
        keys = [query["ExpressionAttributeValues"] for query in captured.index_queries]
        assert [key for key in keys if ":session" in key] == [
            {":session": s(f"SESSION#{session}")}
        ] * times
        assert [key[":user"] for key in keys if ":user" in key] == [s(f"USER#{user}")]


NO_TOKENS = [
    "",
    "short",
    "x" * 15,
    "x" * 513,
    "x" * 100_000,
    "0190b5a2-9c2e-7000#8000-000000000000",
    "0190b5a2-9c2e-7000 8000-000000000000",
    "0190b5a2-9c2e-7000\t8000-000000000000",
    "é" * 36,
    "SESSION#0190b5a2-9c2e-7000-8000-000000000000",
]


@pytest.mark.parametrize("session", NO_TOKENS, ids=lambda text: text[:12])
async def test_what_can_be_no_token_is_refused_without_a_request(
    http: httpx.AsyncClient, captured: Capture, session: str
) -> None:
    raw = b"Bearer " + session.encode("latin-1")
    response = await http.post("/graphql", json={"query": QUERY}, headers=[(b"authorization", raw)])
    assert is_refused(response, 401, "UNAUTHENTICATED")
    assert captured.requests == []


async def test_a_token_that_is_not_stored_is_refused(
    http: httpx.AsyncClient, captured: Capture
) -> None:
    for session in (str(uuid.uuid4()), "!" * 16, "~" * 512, "'; DROP TABLE {}[]" + "$" * 9):
        response = await post(http, session.replace(" ", "_"))
        assert is_refused(response, 401, "UNAUTHENTICATED")
    assert captured.operations == ["Query"] * 4


async def test_a_token_of_the_strategy_jwt_is_no_session_here(
    http: httpx.AsyncClient, team: str, captured: Capture
) -> None:
    assert is_refused(await post(http, token(team)), 401, "UNAUTHENTICATED")


BAD_SESSIONS: dict[str, dict[str, Any]] = {
    "expired": {"expires": {"N": str(time.time() - 1)}},
    "expired long ago": {"expires": {"N": "0"}},
    "no expiry": {"expires": None},
    "an expiry that is text": {"expires": s("4000000000")},
    "an expiry in milliseconds": {"expires": {"N": "4000000000000"}},
    "a negative expiry": {"expires": {"N": "-1"}},
    "a huge expiry": {"expires": {"N": "1E+125"}},
    "no type": {"type": None},
    "another type": {"type": s("VT")},
    "no user": {"userId": None},
    "an empty user": {"userId": s(""), "pk": s("USER#")},
    "a user that is a number": {"userId": {"N": "5"}},
    "another user than the key's": {"userId": s("somebody-else")},
    "another partition": {"pk": s("TEAM#x")},
    "another sort key in the index": {"GSI1SK": s("SESSION#another")},
}


@pytest.mark.parametrize("change", BAD_SESSIONS.values(), ids=BAD_SESSIONS.keys())
async def test_an_item_that_is_no_good_session_is_none(
    http: httpx.AsyncClient,
    store: Store,
    user: str,
    member: Membership,
    change: dict[str, Any],
) -> None:
    session = str(uuid.uuid4())
    good: Item = {
        "pk": s(f"USER#{user}"),
        "sk": s(f"SESSION#{session}"),
        "GSI1PK": s(f"SESSION#{session}"),
        "GSI1SK": s(f"SESSION#{session}"),
        "type": s("SESSION"),
        "sessionToken": s(session),
        "userId": s(user),
        "expires": {"N": str(time.time() + 60)},
    }
    bad = {name: value for name, value in {**good, **change}.items() if value is not None}
    await store.put(bad, None)
    assert is_refused(await post(http, session), 401, "UNAUTHENTICATED")
    if bad["pk"] == good["pk"]:
        await store.put(good, None)
        assert (await post(http, session)).status_code == 200


async def test_one_token_of_two_users_is_nobodys(
    http: httpx.AsyncClient, store: Store, user: str, member: Membership
) -> None:
    session = await start_session(store, user, expires=time.time() + 60)
    key = s(f"SESSION#{session}")
    planted: Item = {
        "pk": s("USER#another"),
        "sk": key,
        "GSI1PK": key,
        "GSI1SK": key,
        "type": s("SESSION"),
        "userId": s("another"),
        "expires": {"N": str(time.time() + 60)},
    }
    await store.put(planted, None)
    assert is_refused(await post(http, session), 401, "UNAUTHENTICATED")


async def test_a_store_that_does_not_answer_is_503_and_no_sign_out(
    app: Starlette, http: httpx.AsyncClient
) -> None:
    with faulty(app.state.store, lambda *_: Fault.BUSY):
        response = await post(http, str(uuid.uuid4()))
    assert is_refused(response, 503, "UNAVAILABLE")


async def test_a_session_for_development_needs_its_team_to_be_the_only_one(
    store: Store, team: str, user: str
) -> None:
    async def issue() -> str:
        return await issue_stored(store, user_id=user, team_id=team, lifetime=HOUR)

    with pytest.raises(Refused, match="planner member add"):
        await issue()
    await add_member(store, Membership(team_id=team, user_id=user, role=Role.VIEWER))
    assert len(await issue()) == 36
    other = Membership(team_id=f"{team}-2", user_id=user, role=Role.VIEWER)
    await add_member(store, other)
    with pytest.raises(Refused, match="no other team"):
        await issue()


@pytest.mark.parametrize("strategy", SessionStrategy)
async def test_whoever_opens_the_page_of_a_development_server_is_signed_in_once(
    settings: Settings, store: Store, strategy: SessionStrategy
) -> None:
    secret = SecretStr(SECRET) if strategy is SessionStrategy.JWT else None
    update = {"session_strategy": strategy, "auth_secret": secret}
    running = dev_settings(settings.model_copy(update=update))
    assert (running.auth_secret, running.playground) == (secret, True)
    await seed_demo(store)
    application = create_app(running, credentials=DUMMY_CREDENTIALS, sign_in=dev_sign_in(running))
    transport = httpx.ASGITransport(app=application)
    async with (
        application.router.lifespan_context(application),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as browser,
    ):
        for times in (1, 0):
            page = await browser.get("/graphql", headers={"Accept": "text/html"})
            assert page.status_code == 200
            assert len(page.headers.get_list("set-cookie")) == times
        api = Api(browser, DEMO_TEAM)
        api.headers = {}
        answer = await api.data("{ viewer { id role teams { name isCurrent } } }")
    assert answer["viewer"] == {
        "id": DEMO_USER,
        "role": "ADMIN",
        "teams": [{"name": "Demo team", "isCurrent": True}],
    }


async def test_the_command_token_starts_a_session_that_the_server_reads(
    http: httpx.AsyncClient, store: Store, engine: str, team: str, user: str, member: Membership
) -> None:
    planner = await asyncio.create_subprocess_exec(
        *(*PLANNER, "token", "--team", team, "--user", user),
        env={
            **os.environ,
            "AWS_ENDPOINT_URL_DYNAMODB": engine,
            "PLANNER_TABLE": store.table,
            "PLANNER_SESSION_STRATEGY": "database",
        },
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await planner.communicate()
    assert planner.returncode == 0
    assert (await post(http, out.decode().strip())).json() == {"data": {"team": {"name": team}}}
