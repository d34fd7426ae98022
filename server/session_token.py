"""From the headers of a request to the one session token it carries.

Authorization: Bearer <token>                    wins over any cookie, be it good or bad
Cookie: [__Secure-]authjs.session-token=<token>  once, by the name that the settings imply
Cookie: ….0=<start>; ….1=<rest>                  the same in chunks, as Auth.js splits it
"""

from typing import Final
from urllib.parse import unquote

from starlette.datastructures import Headers

from server.authjs import InvalidToken

__all__ = ["bearer_token", "session_token"]

# Auth.js cuts at 3,936 characters, so the longest token that is read makes 5.
MAX_CHUNKS: Final = 20


def session_token(headers: Headers, cookie_name: str) -> str:
    """The token, whatever it is. Raises InvalidToken where there is none, or more than one."""
    bearer = bearer_token(headers)
    return _cookie(headers, cookie_name) if bearer is None else bearer


def bearer_token(headers: Headers) -> str | None:
    """The token of `Authorization: Bearer` (RFC 6750 §2.1); None without one. Another scheme is
    somebody else's, say a proxy's, and does not count. Raises InvalidToken for two headers."""
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
        # Frameworks write cookies through encodeURIComponent.
        found[key] = unquote(value)
    if found.keys() == {name}:
        return found[name]
    chunks = [f"{name}.{number}" for number in range(len(found))]
    if not 0 < len(chunks) <= MAX_CHUNKS or found.keys() != set(chunks):
        raise InvalidToken("no session cookie, or not all of it")
    return "".join(found[chunk] for chunk in chunks)
