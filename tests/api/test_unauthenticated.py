"""Who has no session gets 401, who has no team 403, in JSON; nothing else is said or asked."""

import httpx
import pytest

from tests.api.http import MUTATION, QUERY, is_refused, named
from tests.api_client import COOKIE, Capture, token

pytestmark = pytest.mark.engines("local")

COOKIES: dict[str, str | None] = {
    "none": None,
    "another name": "session=abc",
    "empty": f"{COOKIE}=",
    "garbage": f"{COOKIE}=garbage",
    "dots": f"{COOKIE}=a.b.c.d.e",
    "five empty parts": f"{COOKIE}=....",
    "cut short": f"{COOKIE}={token('a')[:-5]}",
    "the secure name": f"__Secure-{COOKIE}={token('a')}",
    "twice": f"{COOKIE}={token('a')}; {COOKIE}={token('b')}",
}


@pytest.mark.parametrize("cookie", COOKIES.values(), ids=COOKIES.keys())
@pytest.mark.parametrize("query", [QUERY, MUTATION, "not even GraphQL"])
async def test_without_a_valid_session_nothing_is_answered(
    http: httpx.AsyncClient, captured: Capture, cookie: str | None, query: str
) -> None:
    headers = {"Cookie": cookie} if cookie else {}
    response = await http.post("/graphql", json={"query": query}, headers=headers)
    assert is_refused(response, 401, "UNAUTHENTICATED")
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.headers["cache-control"] == "no-store"
    assert captured.requests == []


async def test_session_without_a_team_is_forbidden(http: httpx.AsyncClient) -> None:
    for team in ("", "a#b", " ", "x" * 101):
        headers = {"Cookie": f"{COOKIE}={token(team)}"}
        response = await http.post("/graphql", json={"query": QUERY}, headers=headers)
        assert is_refused(response, 403, "FORBIDDEN")


async def test_bearer_token_is_a_session_too(http: httpx.AsyncClient, team: str) -> None:
    headers = {"Authorization": f"Bearer {token(team)}"}
    response = await http.post("/graphql", json={"query": QUERY}, headers=headers)
    assert (response.status_code, response.json()) == (200, named(team))
