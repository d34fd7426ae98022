"""Who may listen: the session at the beginning, and again while the connection lives."""

import time
from collections.abc import Awaitable, Callable

import pytest
from starlette.datastructures import Headers

from data.entities import Membership, Role
from data.errors import Forbidden, Unavailable
from data.members import add_member, remove_member
from data.store import Store
from resolvers.session import Session
from server.session import NO_TEAM, UNAUTHENTICATED, Authenticator
from server.settings import MembershipSource, Settings
from tests.api.http import QUERY, named
from tests.api_client import token
from tests.subscriptions.events import reading
from tests.subscriptions.sockets import Server

UNAUTHORIZED, FORBIDDEN, TRY_AGAIN_LATER = 4401, 4403, 1013


@pytest.fixture(scope="module")
def settings(settings: Settings) -> Settings:
    """The table says who belongs, nothing of it is remembered, and it is asked all the time."""
    return settings.model_copy(
        update={
            "membership": MembershipSource.TABLE,
            "membership_seconds": 0,
            "live_check_seconds": 0.02,
        }
    )


@pytest.fixture
async def member(store: Store, team: str) -> str:
    """Somebody who belongs to the team."""
    await add_member(store, Membership(team_id=team, user_id="user-1", role=Role.MEMBER))
    return team


# At the beginning


async def test_no_session_is_closed_with_4401(server: Server) -> None:
    """S-03; the client `graphql-ws` does not come back after it."""
    async with server.socket(None) as socket:
        await socket.say("connection_init")
        assert await socket.is_closed() == (UNAUTHORIZED, UNAUTHENTICATED)


@pytest.mark.parametrize("name", ["authorization", "Authorization", "AUTHORIZATION"])
async def test_the_first_message_may_bring_a_token_which_wins_over_the_handshakes(
    server: Server, member: str, name: str
) -> None:
    other = {"Authorization": f"Bearer {token('another-team')}"}
    for headers in ({}, other):
        async with server.socket(None, headers=headers) as socket:
            await socket.begin({name: f"Bearer {token(member)}"})
            await socket.subscribe(query=QUERY)
            assert (await socket.hear())["payload"] == named(member)


@pytest.mark.parametrize(
    "payload",
    [
        {"authorization": "Bearer x"},
        {"authorization": "Bearer "},
        {"authorization": "Bearer \ud800"},
        {"authorization": "Bearer x", "Authorization": "Bearer x"},
    ],
)
async def test_a_bad_token_is_not_made_up_for_by_a_good_cookie(
    server: Server, member: str, payload: dict[str, str]
) -> None:
    async with server.socket(member) as socket:
        await socket.say("connection_init", payload=payload)
        assert await socket.is_closed() == (UNAUTHORIZED, UNAUTHENTICATED)


async def test_a_token_that_is_no_text_is_no_message_of_the_protocol(
    server: Server, member: str
) -> None:
    async with server.socket(member) as socket:
        await socket.say("connection_init", payload={"authorization": 1})
        assert (await socket.is_closed())[0] == 4400


async def test_who_belongs_to_no_team_is_closed_with_4403(server: Server, team: str) -> None:
    async with server.socket(team) as socket:
        await socket.say("connection_init")
        assert await socket.is_closed() == (FORBIDDEN, NO_TEAM)


@pytest.mark.parametrize(
    ("error", "code"), [(Unavailable("not now"), TRY_AGAIN_LATER), (RuntimeError("secret"), 4500)]
)
async def test_a_session_that_can_not_be_read_is_no_refusal(
    server: Server, team: str, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    async def fails(self: Authenticator, headers: Headers) -> Session:
        raise error

    monkeypatch.setattr(Authenticator, "authenticate", fails)
    async with server.socket(team) as socket:
        await socket.say("connection_init")
        closed, reason = await socket.is_closed()
    assert closed == code
    assert "secret" not in reason


# While it lives


async def changes_role(store: Store, team: str) -> None:
    await add_member(store, Membership(team_id=team, user_id="user-1", role=Role.VIEWER))


async def leaves(store: Store, team: str) -> None:
    await remove_member(store, team, "user-1")


@pytest.mark.parametrize("change", [changes_role, leaves])
async def test_a_connection_ends_with_its_session(
    server: Server, store: Store, member: str, change: Callable[[Store, str], Awaitable[None]]
) -> None:
    async with server.begun(member) as socket, reading(server, member) as stream:
        await socket.stands()
        assert (await stream.hear())[0] == "next"
        await change(store, member)
        code, reason = await socket.is_closed()
        assert code == FORBIDDEN
        assert reason
        # The answer ends, and is not complete: the client is to come back, and is told then.
        assert await stream.rest() == []
    for transport in ("websocket", "sse"):
        assert server.counts("planner_live_connections", transport=transport) == 0
    assert server.counts("planner_subscriptions_ended_total", reason="session") >= 2


async def test_an_expired_token_ends_it(
    settings: Settings, server: Server, monkeypatch: pytest.MonkeyPatch, member: str
) -> None:
    async with server.begun(member) as socket:
        await socket.stands()
        later = time.time() + 24 * 3600
        tokens = server.state.authenticator._tokens
        monkeypatch.setattr(tokens, "_clock", lambda: later)
        assert await socket.is_closed() == (FORBIDDEN, "This session has ended")


async def test_a_store_that_is_away_for_a_while_ends_nothing(
    server: Server, member: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    async def fails(self: Authenticator, headers: Headers) -> Session:
        nonlocal asked
        asked += 1
        raise Unavailable("not now") if asked < 5 else Forbidden("out")

    async with server.begun(member) as socket:
        await socket.stands()
        monkeypatch.setattr(Authenticator, "authenticate", fails)
        assert (await socket.is_closed())[0] == FORBIDDEN
    assert asked == 5
