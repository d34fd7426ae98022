"""Tokens to and fro with the real Auth.js: @auth/core on Node, installed by the lock file.

Skipped, with the reason, where npm is missing; with CI=true that is a failure.
"""

import time
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from starlette.datastructures import Headers

from data.entities import Role
from data.errors import Unauthenticated
from data.store import Store
from resolvers.session import Session
from server.authjs import decode, derive_keys, mint
from server.claims import TokenReader
from server.session import Authenticator
from server.settings import Settings
from tests.npm import Ask, asker, installed

PLAIN = "authjs.session-token"
SECURE = "__Secure-authjs.session-token"
NAMES = (PLAIN, SECURE)
SECRET = "correct horse battery staple, but longer"
OTHER = "a secret that is newer than the other one"


@pytest.fixture(scope="session")
def authjs() -> Ask:
    """Asks the real Auth.js one thing; see tests/authjs/token.mjs for the operations."""
    return asker(installed(Path(__file__).parent), "token.mjs")


def _settings(name: str, secret: str, newer: str | None = None) -> Settings:
    values = {
        "auth_secret": secret,
        "auth_secret_1": newer,
        "auth_secret_2": None,
        "auth_secret_3": None,
        "public_url": "https://planner.example" if name == SECURE else "",
        "team_claim": "teamId",
    }
    return Settings.model_validate(values)


def _authenticator(settings: Settings) -> Authenticator:
    """Without a store: a token that names its team needs none."""
    return Authenticator(settings, cast("Store", None), TokenReader(settings))


def _cookie_header(cookies: object) -> str:
    assert isinstance(cookies, list)
    return "; ".join(f"{name}={value}" for name, value in cookies)


@pytest.mark.parametrize("size", [0, 6_000], ids=["whole", "chunked"])
@pytest.mark.parametrize("name", NAMES)
async def test_we_read_what_the_real_authjs_writes(authjs: Ask, name: str, size: int) -> None:
    """A-01, A-02."""
    claims = {"sub": "u1", "teamId": "demo", "role": "viewer", "picture": "x" * size}
    made = authjs("encode", token=claims, secret=SECRET, salt=name, maxAge=3600)
    assert isinstance(made, dict)
    assert len(made["cookies"]) == (3 if size else 1)

    session = Session(user_id="u1", team_id="demo", role=Role.VIEWER)
    ours = _authenticator(_settings(name, SECRET))
    cookie = _cookie_header(made["cookies"][::-1])
    assert await ours.authenticate(Headers({"cookie": f"theme=dark; {cookie}"})) == session
    bearer = Headers({"authorization": f"Bearer {made['token']}"})
    assert await ours.authenticate(bearer) == session
    # Rotated: AUTH_SECRET_1 is newer than AUTH_SECRET, whose tokens still count.
    rotated = _authenticator(_settings(name, SECRET, newer=OTHER))
    assert await rotated.authenticate(bearer) == session
    # Another secret, or the other cookie name as the salt.
    other_name = next(iter({*NAMES} - {name}))
    for strict in (_settings(name, OTHER), _settings(other_name, SECRET)):
        with pytest.raises(Unauthenticated):
            await _authenticator(strict).authenticate(bearer)


@pytest.mark.parametrize("size", [0, 6_000], ids=["whole", "chunked"])
@pytest.mark.parametrize("name", NAMES)
def test_the_real_authjs_reads_what_we_write(authjs: Ask, name: str, size: int) -> None:
    token = mint(
        SECRET,
        cookie_name=name,
        user_id="u1",
        team_id="demo",
        role="admin",
        name="ö" * (size // 6),
        lifetime=timedelta(hours=1),
        now=time.time(),
    )
    ours = decode(token, derive_keys([SECRET], name))
    assert authjs("decode", token=token, secret=[OTHER, SECRET], salt=name) == ours

    pieces = [token[at : at + 3_936] for at in range(0, len(token), 3_936)]
    assert len(pieces) == (3 if size else 1)
    names = [f"{name}.{number}" for number in range(len(pieces))] if size else [name]
    headers = {"cookie": _cookie_header(list(zip(names, pieces, strict=True)))}
    secure = name == SECURE
    assert authjs("read", headers=headers, secret=SECRET, secureCookie=secure) == ours
    assert authjs("read", headers=headers, secret=SECRET, secureCookie=not secure) is None
