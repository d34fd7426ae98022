"""From the headers of a request to the session it carries.

    Authorization: Bearer <token>                    wins over any cookie, be it good or bad
    Cookie: [__Secure-]authjs.session-token=<token>  once, by the name that the settings imply
    Cookie: ….0=<start>; ….1=<rest>                  the same in chunks, as Auth.js splits it

Whatever is wrong with a token is answered with one and the same message; a good token without a
good team is another matter, and says so.
"""

import time
from collections.abc import Callable, Mapping
from typing import Final

from starlette.datastructures import Headers

from data.entities import Role
from data.errors import Forbidden, Unauthenticated
from data.team_id import is_team_id, is_user_id
from resolvers.session import Session
from server.authjs import InvalidToken, cookie_name, decode, derive_keys
from server.settings import Settings

__all__ = ["Authenticator"]

UNAUTHENTICATED: Final = "Sign in: this request carries no valid session."
NO_TEAM: Final = "This session names no team."
BAD_TEAM: Final = "This session names a team that cannot exist."

# Auth.js allows the same (`clockTolerance`): the clocks of two servers differ.
LEEWAY_SECONDS: Final = 15

# The year 9999: more is a mistake (milliseconds, 1e20), and would not fit what computes with it.
LATEST: Final = 253_402_300_799

# Auth.js cuts at 3,936 characters, so the longest token that is read makes 5.
MAX_CHUNKS: Final = 20


class Authenticator:
    """Reads sessions. Pure computation; safe to share, since it holds only the derived keys."""

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives epoch seconds. Raises ValueError where no secret is set: nothing could
        be read, and nothing else is ever accepted."""
        if not settings.secrets or not all(settings.secrets):
            raise ValueError("AUTH_SECRET is not set")
        self._cookie_name = cookie_name(secure=settings.secure_cookies)
        self._keys = derive_keys(settings.secrets, self._cookie_name)
        self._team_claim = settings.team_claim
        self._clock = clock

    def authenticate(self, headers: Headers) -> Session:
        """The session of a request with these headers.

        Raises Unauthenticated, with one message for every reason, where there is no valid token,
        and Forbidden where a valid one has no team id or a malformed one.
        """
        try:
            claims = decode(_token(headers, self._cookie_name), self._keys)
            _check_times(claims, self._clock())
            user_id = _user_id(claims)
        except InvalidToken as error:
            raise Unauthenticated(UNAUTHENTICATED) from error
        return Session(
            user_id=user_id, team_id=_team_id(claims, self._team_claim), role=_role(claims)
        )

    def knows(self, headers: Headers) -> bool:
        """Whether the headers have a session that may be used."""
        try:
            self.authenticate(headers)
        except (Unauthenticated, Forbidden):
            return False
        return True


def _token(headers: Headers, name: str) -> str:
    bearer = _bearer(headers)
    return _cookie(headers, name) if bearer is None else bearer


def _bearer(headers: Headers) -> str | None:
    """The token of `Authorization: Bearer` (RFC 6750 §2.1); None without one. Another scheme is
    somebody else's, say a proxy's, and does not count."""
    values = headers.getlist("authorization")
    if len(values) > 1:
        raise InvalidToken("several Authorization headers")
    scheme, _, token = (values[0] if values else "").partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else None


def _cookie(headers: Headers, name: str) -> str:
    """The session cookie, its chunks joined in numeric order.

    Which of two cookies of one name counts is a guess (a sibling subdomain may have planted one,
    RFC 6265 §8.6), so both are refused; so are a whole and chunks side by side, and a gap.
    """
    found: dict[str, str] = {}
    # HTTP/2 may split the header at any "; " (RFC 9113 §8.2.3).
    for pair in ";".join(headers.getlist("cookie")).split(";"):
        key, _, value = pair.strip(" \t").partition("=")
        if key != name and not key.startswith(f"{name}."):
            continue
        if key in found:
            raise InvalidToken("two cookies of one name")
        found[key] = value
    if found.keys() == {name}:
        return found[name]
    chunks = [f"{name}.{number}" for number in range(len(found))]
    if not 0 < len(chunks) <= MAX_CHUNKS or found.keys() != set(chunks):
        raise InvalidToken("no session cookie, or not all of it")
    return "".join(found[chunk] for chunk in chunks)


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


def _team_id(claims: Mapping[str, object], team_claim: str) -> str:
    value = claims.get(team_claim)
    if value is None:
        raise Forbidden(NO_TEAM)
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
