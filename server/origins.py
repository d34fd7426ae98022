"""Web origins (RFC 6454): who a browser says has sent a request."""

from typing import Final
from urllib.parse import urlsplit

__all__ = ["origin_of"]

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    """The origin of an http(s) URL as browsers write it (RFC 6454 §6.2): lower case, and without
    the port that the scheme implies. Raises ValueError where it has none."""
    # urlsplit drops line breaks and tabs, wherever they are.
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("must be printable ASCII; write an international name as xn--…")
    parts = urlsplit(url)
    scheme, host = parts.scheme, parts.hostname
    if scheme not in _DEFAULT_PORTS:
        raise ValueError("must begin with http:// or https://")
    if not host or "@" in parts.netloc or "*" in host:
        raise ValueError("must name one host, without a user")
    name = f"[{host}]" if ":" in host else host
    port = parts.port
    return f"{scheme}://{name}" + (f":{port}" if port not in (None, _DEFAULT_PORTS[scheme]) else "")
