"""`planner dev`: everything on, nothing to set up, and whoever opens the page is signed in."""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response

from data.store import Store
from server.authjs import cookie_name
from server.demo import DEMO_TEAM, DEMO_USER
from server.issuing import issue_stored, issue_token
from server.settings import SessionStrategy, Settings, StoreKind

__all__ = [
    "LOOPBACK",
    "dev_secret",
    "dev_settings",
    "dev_sign_in",
    "dev_token",
    "found_dev_secret",
]

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_SESSION: Final = timedelta(days=30)


def dev_settings(settings: Settings) -> Settings:
    """The settings of a development server: what the environment says, and playground,
    timeline, introspection, metrics, an embedded store and a secret where it says nothing."""
    chosen = settings.model_fields_set
    is_jwt = settings.session_strategy is SessionStrategy.JWT
    secret = settings.auth_secret or (SecretStr(dev_secret(settings.home)) if is_jwt else None)
    return settings.model_copy(
        update={
            "playground": settings.playground if "playground" in chosen else True,
            "timeline": settings.timeline if "timeline" in chosen else True,
            "introspection": settings.introspection if "introspection" in chosen else True,
            "metrics": settings.metrics if "metrics" in chosen else True,
            "store": settings.store if chosen & {"store", "endpoint_url"} else StoreKind.EMBEDDED,
            "auth_secret": secret,
        }
    )


def dev_secret(home: Path) -> str:
    """The secret of this machine's development servers, made once, so that `planner token` makes
    tokens for the server that runs and a session outlives a restart."""
    file = _secret_file(home)
    if not file.exists():
        home.mkdir(parents=True, exist_ok=True)
        # Whole or not there, and the first of several starts at once wins.
        with tempfile.NamedTemporaryFile("w", dir=home) as stream:
            stream.write(secrets.token_urlsafe(48))
            stream.flush()
            with contextlib.suppress(FileExistsError):
                os.link(stream.name, file)
    return file.read_text().strip()


def found_dev_secret(home: Path) -> str | None:
    """That secret, if a development server has been started with this home."""
    file = _secret_file(home)
    return file.read_text().strip() if file.exists() else None


def _secret_file(home: Path) -> Path:
    return home / "auth-secret"


async def dev_token(settings: Settings, store: Store) -> str:
    """A session token of the demo team's user."""
    if settings.session_strategy is SessionStrategy.DATABASE:
        return await issue_stored(store, user_id=DEMO_USER, team_id=DEMO_TEAM, lifetime=_SESSION)
    return issue_token(
        settings,
        settings.secrets[0],
        user_id=DEMO_USER,
        team_id=DEMO_TEAM,
        role="admin",
        lifetime=_SESSION,
    )


def dev_sign_in(settings: Settings) -> Callable[[Request, Response, Store], Awaitable[None]]:
    """Gives a response the session cookie of the demo team's user. A server that listens on
    loopback gives it to no other name: a foreign page's may lead there too (DNS rebinding)."""
    names = {*LOOPBACK, urlsplit(settings.public_url).hostname}

    async def sign_in(request: Request, response: Response, store: Store) -> None:
        if settings.host in LOOPBACK and request.url.hostname not in names:
            return
        response.set_cookie(
            cookie_name(secure=settings.secure_cookies),
            await dev_token(settings, store),
            max_age=int(_SESSION.total_seconds()),
            httponly=True,
            secure=settings.secure_cookies,
            samesite="lax",
        )

    return sign_in
