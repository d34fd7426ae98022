"""From a good token to a team and a role: the claim, the membership, and how long it is trusted."""

import asyncio
import time
import uuid
from datetime import timedelta
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers

from data.entities import Membership, Role, Team
from data.errors import Forbidden
from data.expressions import Expression, Item, s
from data.items import key_of
from data.members import add_member, create_team
from data.store import Store
from resolvers.session import Session
from server.authjs import encode, mint
from server.claims import TokenReader
from server.session import NO_TEAM, SEVERAL_TEAMS, Authenticator
from server.settings import MembershipSource, Settings
from tests.api.http import QUERY, is_refused
from tests.api_client import COOKIE, SECRET, Api, Capture, put
from tests.faults import Fault, client_error, faulty

pytestmark = pytest.mark.engines("local")

TABLE, CLAIM = MembershipSource.TABLE, MembershipSource.CLAIM


@pytest.fixture(scope="module")
def settings(settings: Settings) -> Settings:
    """The whole application asks the table."""
    return settings.model_copy(update={"membership": TABLE})


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def user() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def seen(store: Store) -> Any:
    capture = Capture(store)
    yield capture
    capture.stop()


class Asking:
    """An authenticator with a clock of its own, and a user's token."""

    def __init__(self, settings: Settings, store: Store, clock: Clock, user: str) -> None:
        self._settings, self._store, self._clock, self._user = settings, store, clock, user
        self.use(TABLE)

    def use(self, source: MembershipSource, seconds: int = 30) -> None:
        """Begins anew, with nothing remembered."""
        update = {"membership": source, "membership_seconds": seconds}
        settings = self._settings.model_copy(update=update)
        self._authenticator = Authenticator(
            settings, self._store, TokenReader(settings), ticks=self._clock
        )

    async def __call__(self, team: str | None = None, role: str | None = "admin") -> Session:
        token = mint(
            SECRET,
            cookie_name=COOKIE,
            user_id=self._user,
            team_id=team,
            role=role,
            lifetime=timedelta(hours=1),
            now=time.time(),
        )
        return await self._authenticator.authenticate(Headers({"authorization": f"Bearer {token}"}))

    async def refusal(self, team: str | None = None) -> str:
        with pytest.raises(Forbidden) as caught:
            await self(team)
        return caught.value.message


@pytest.fixture
def asking(settings: Settings, store: Store, clock: Clock, user: str) -> Asking:
    return Asking(settings, store, clock, user)


async def join(store: Store, team: str, user: str, role: Role = Role.MEMBER) -> Membership:
    return await add_member(store, Membership(team_id=team, user_id=user, role=role))


async def leave(store: Store, member: Membership) -> None:
    await store.delete(key_of(member.team_id, member), Expression("attribute_exists(#sk)"))


# The claim.


async def test_a_trusted_claim_asks_nobody(asking: Asking, team: str, seen: Capture) -> None:
    asking.use(CLAIM)
    session = await asking(team, "viewer")
    assert (session.team_id, session.role) == (team, Role.VIEWER)
    assert seen.requests == []


async def test_the_role_of_the_table_wins_over_the_tokens(
    asking: Asking, store: Store, team: str, user: str, clock: Clock
) -> None:
    for stored in (Role.VIEWER, Role.ADMIN, Role.MEMBER):
        await join(store, team, user, stored)
        clock.now += 30
        for claimed in ("admin", "viewer", "owner", None):
            assert (await asking(team, claimed)).role is stored


async def test_a_stored_role_that_is_not_known_may_only_read(
    asking: Asking, store: Store, team: str, user: str
) -> None:
    row: Item = {
        "sk": s(f"MEMBER#{user}"),
        "EntityType": s("Membership"),
        "userId": s(user),
        "role": s("owner"),
    }
    await put(store, team, [row])
    assert not (await asking(team)).may_write


async def test_who_is_no_member_does_not_learn_whether_the_team_exists(
    asking: Asking, store: Store, team: str
) -> None:
    await create_team(store, Team(id=team, name="One"))
    assert await asking.refusal(team) == NO_TEAM
    assert await asking.refusal(f"{team}-that-never-was") == NO_TEAM
    assert await asking.refusal() == NO_TEAM


# The only membership.


@pytest.mark.parametrize("source", [CLAIM, TABLE])
async def test_without_a_claim_it_is_the_team_of_the_only_membership(
    asking: Asking, store: Store, team: str, user: str, source: MembershipSource
) -> None:
    asking.use(source)
    assert await asking.refusal() == NO_TEAM
    await join(store, team, user, Role.VIEWER)
    assert await asking(role="admin") == Session(user_id=user, team_id=team, role=Role.VIEWER)


@pytest.mark.parametrize("size", [None, 1])
async def test_several_memberships_and_no_claim_are_forbidden_and_it_says_so(
    asking: Asking,
    store: Store,
    team: str,
    user: str,
    size: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for n in range(3):
        await join(store, f"{team}-{n}", user)
    monkeypatch.setattr(store, "_page_size", size)
    assert await asking.refusal() == SEVERAL_TEAMS
    assert (await asking(f"{team}-1")).team_id == f"{team}-1"


async def test_what_the_index_has_and_the_table_has_not_is_no_membership(
    asking: Asking, store: Store, team: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = await join(store, team, user)
    query = store.query

    async def lagging(*arguments: Any) -> list[Item]:
        found = await query(*arguments)
        await leave(store, member)
        return found

    monkeypatch.setattr(store, "query", lagging)
    assert await asking.refusal() == NO_TEAM


NO_MEMBERSHIPS: dict[str, dict[str, Any]] = {
    "no EntityType": {"EntityType": None},
    "another spelling": {"EntityType": s("membership")},
    "another type": {"EntityType": s("Team")},
    "an item of an adapter": {"EntityType": None, "type": s("USER")},
    "no role": {"role": None},
    "no user": {"userId": None},
    "another user": {"userId": s("somebody"), "sk": s("MEMBER#somebody")},
    "another team in the index": {"GSI1SK": s("TEAM#another")},
    "another sort key": {"sk": s("MEMBER#somebody")},
    "the partition of a user": {"pk": s("USER#x")},
    "no partition of ours": {"pk": s("bare"), "GSI1SK": s("TEAM#bare")},
    "the partition beside a team's": {"pk": s("TEAM#x#CLAIMS"), "GSI1SK": s("TEAM#x#CLAIMS")},
}


@pytest.mark.parametrize("change", NO_MEMBERSHIPS.values(), ids=NO_MEMBERSHIPS.keys())
async def test_what_is_no_membership_in_the_index_gives_no_team(
    asking: Asking, store: Store, team: str, user: str, change: dict[str, Any]
) -> None:
    asking.use(CLAIM)
    good: Item = {
        "pk": s(f"TEAM#{team}"),
        "sk": s(f"MEMBER#{user}"),
        "EntityType": s("Membership"),
        "userId": s(user),
        "role": s("admin"),
        "GSI1PK": s(f"USER#{user}"),
        "GSI1SK": s(f"TEAM#{team}"),
    }
    bad = {name: value for name, value in {**good, **change}.items() if value is not None}
    await store.put(bad, None)
    assert await asking.refusal() == NO_TEAM
    await store.put(good, None)
    assert (await asking()).role is Role.ADMIN


# How long it is trusted.


@pytest.mark.parametrize("claimed", [True, False])
@pytest.mark.parametrize("seconds", [60, 30, 1])
async def test_a_removed_member_is_out_when_the_seconds_are_over_and_not_before(
    asking: Asking,
    store: Store,
    team: str,
    user: str,
    clock: Clock,
    seen: Capture,
    claimed: bool,
    seconds: int,
) -> None:
    asking.use(TABLE, seconds)
    member = await join(store, team, user)
    claim = team if claimed else None
    assert (await asking(claim)).team_id == team
    await leave(store, member)
    seen.clear()
    clock.now += seconds - 0.1
    assert (await asking(claim)).team_id == team
    assert seen.requests == []
    clock.now += 0.1
    assert await asking.refusal(claim) == NO_TEAM


async def test_zero_seconds_ask_each_time(
    asking: Asking, store: Store, team: str, user: str
) -> None:
    asking.use(TABLE, 0)
    member = await join(store, team, user)
    assert (await asking(team)).team_id == team
    await leave(store, member)
    assert await asking.refusal(team) == NO_TEAM


@pytest.mark.parametrize("claimed", [True, False])
async def test_a_new_member_is_in_at_once(
    asking: Asking, store: Store, team: str, user: str, claimed: bool
) -> None:
    claim = team if claimed else None
    assert await asking.refusal(claim) == NO_TEAM
    await join(store, team, user)
    assert (await asking(claim)).team_id == team


async def test_50_requests_at_once_ask_once(
    asking: Asking, store: Store, team: str, user: str, seen: Capture
) -> None:
    await join(store, team, user)
    seen.clear()
    assert len(await asyncio.gather(*(asking(team) for _ in range(50)))) == 50
    assert seen.operations == ["GetItem"]
    seen.clear()
    await asyncio.gather(*(asking() for _ in range(50)))
    assert seen.operations == ["Query", "GetItem"]


# Over HTTP.

BAD_TEAMS: list[Any] = ["", " ", 5, 0, True, [], ["demo"], {}, {"a": 1}, "A#B", "#", "t" * 3_000]


@pytest.mark.parametrize("team_id", BAD_TEAMS)
async def test_a_malformed_team_is_forbidden_and_no_request_is_made(
    http: httpx.AsyncClient, captured: Capture, team_id: object
) -> None:
    """A-04."""
    claims = {"sub": "u1", "teamId": team_id, "exp": int(time.time()) + 60}
    token = encode(claims, secret=SECRET, cookie_name=COOKIE)
    headers = {"Authorization": f"Bearer {token}"}
    response = await http.post("/graphql", json={"query": QUERY}, headers=headers)
    assert is_refused(response, 403, "FORBIDDEN")
    assert captured.requests == []


@pytest.mark.parametrize("claims", [{}, {"teamId": None}])
async def test_a_session_of_nobody_in_no_team_is_forbidden(
    http: httpx.AsyncClient, captured: Capture, claims: dict[str, Any]
) -> None:
    """A-04: what is asked is asked of the user's own partition of the index."""
    user = uuid.uuid4().hex
    token = encode(
        {"sub": user, "exp": int(time.time()) + 60, **claims}, secret=SECRET, cookie_name=COOKIE
    )
    headers = {"Authorization": f"Bearer {token}"}
    response = await http.post("/graphql", json={"query": QUERY}, headers=headers)
    assert is_refused(response, 403, "FORBIDDEN")
    [query] = captured.index_queries
    assert query["ExpressionAttributeValues"][":user"] == s(f"USER#{user}")


async def test_a_store_that_does_not_answer_is_503(app: Starlette, api: Api) -> None:
    with faulty(app.state.store, lambda *_: Fault.BUSY):
        response = await api.post(QUERY)
    assert is_refused(response, 503, "UNAVAILABLE")


async def test_a_fault_of_ours_is_a_masked_500(
    app: Starlette, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def denied(*_: object) -> None:
        raise client_error("AccessDeniedException", "GetItem")

    monkeypatch.setattr(app.state.store, "get", denied)
    response = await api.post(QUERY)
    assert is_refused(response, 500, "INTERNAL")
    [error] = response.json()["errors"]
    assert error["message"] == "Internal error"
    assert len(error["extensions"]["correlationId"]) == 32
    assert "arn:" not in response.text


async def test_a_removed_viewer_reads_no_more_and_a_promoted_one_writes(
    app: Starlette, api: Api, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.state.authenticator._memberships, "_clock", clock)
    member = await join(store, api.team, "user-1", Role.VIEWER)
    create = 'mutation { createResource(input: {name: "x"}) { errors { code } } }'
    answer = await api.run(create)
    assert answer["errors"][0]["extensions"] == {"code": "FORBIDDEN"}
    await join(store, api.team, "user-1", Role.MEMBER)
    clock.now += 60
    assert await api.data(create) == {"createResource": {"errors": []}}
    await leave(store, member)
    clock.now += 60
    assert is_refused(await api.post(QUERY), 403, "FORBIDDEN")
