"""Who a token of the strategy `jwt` says is asking: its times, user, team and role. Pure."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from data.clock import LATEST
from data.entities import Role
from data.errors import Forbidden
from data.team_id import is_team_id, is_user_id
from server.authjs import InvalidToken, cookie_name, decode, derive_keys
from server.settings import Settings

__all__ = ["BAD_TEAM", "Claims", "TokenReader"]

BAD_TEAM: Final = "This session names a team that cannot exist."

# Auth.js allows the same (`clockTolerance`): the clocks of two servers differ.
LEEWAY_SECONDS: Final = 15

# Decrypting takes longer than the rest of a small request. A token has half a kB, 16 kB at most.
_REMEMBERED_TOKENS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a good token says. Without a team, the role means nothing."""

    user_id: str
    team_id: str | None
    role: Role


class TokenReader:
    """Reads tokens. Safe to share, since it holds only the derived keys and what it decrypted."""

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives epoch seconds. Raises ValueError where no secret is set: nothing could
        be read, and nothing else is ever accepted."""
        if not settings.secrets:
            raise ValueError("AUTH_SECRET is not set")
        self._keys = derive_keys(settings.secrets, cookie_name(secure=settings.secure_cookies))
        # What a token says is always the same, and only good ones are remembered. Its times are
        # looked at anew each time.
        self._decoded = lru_cache(_REMEMBERED_TOKENS)(partial(decode, keys=self._keys))
        self._team_claim = settings.team_claim
        self._clock = clock

    def read(self, token: str) -> Claims:
        """Raises InvalidToken for a token that is not valid now, and Forbidden for a valid one
        that names a malformed team."""
        claims = self._decoded(token)
        _check_times(claims, self._clock())
        return Claims(
            user_id=_user_id(claims),
            team_id=_team_id(claims, self._team_claim),
            role=_role(claims),
        )


def _check_times(claims: Mapping[str, object], now: float) -> None:
    """Refuses a token outside its time (RFC 7519 §4.1.4-6). Auth.js insists on no `exp` and does
    not look at `iat`; here a token must end, and must have begun."""
    expires, begins, issued = (_time(claims, claim) for claim in ("exp", "nbf", "iat"))
    if expires is None or expires <= now - LEEWAY_SECONDS:
        raise InvalidToken("expired, or endless")
    if any(start is not None and start > now + LEEWAY_SECONDS for start in (begins, issued)):
        raise InvalidToken("not valid yet")


def _time(claims: Mapping[str, object], claim: str) -> float | None:
    """A NumericDate in epoch seconds (RFC 7519 §2), or None where the claim is absent."""
    if claim not in claims:
        return None
    value = claims[claim]
    # A bool is an int in Python; NaN fails every comparison.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LATEST:
        raise InvalidToken("not a time")
    return value


def _user_id(claims: Mapping[str, object]) -> str:
    value = claims.get("sub")
    if not is_user_id(value):
        raise InvalidToken("no user")
    return value


def _team_id(claims: Mapping[str, object], team_claim: str) -> str | None:
    value = claims.get(team_claim)
    if value is None:
        return None
    if not is_team_id(value):
        raise Forbidden(BAD_TEAM)
    return value


def _role(claims: Mapping[str, object]) -> Role:
    """A member unless the claim says otherwise; a claim that is not understood grants nothing."""
    value = claims.get("role", Role.MEMBER)
    try:
        return Role(value) if isinstance(value, str) else Role.VIEWER
    except ValueError:
        return Role.VIEWER
