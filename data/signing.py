"""Signature Version 4 for DynamoDB: always a POST of the same headers, with its body hashed.

See "Create a signed AWS API request" in the AWS IAM User Guide. botocore's signer is general, and
derives the key anew for each request.
"""

import hashlib
import hmac
from functools import lru_cache
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote, urlsplit

__all__ = ["Destination", "Keys", "destination_of", "signed_headers"]

_SERVICE: Final = "dynamodb"
_CONTENT_TYPE: Final = "application/x-amz-json-1.0"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class Keys(Protocol):
    """Credentials as they are at one moment. `token` is that of a session, as roles have."""

    @property
    def access_key(self) -> str: ...
    @property
    def secret_key(self) -> str: ...
    @property
    def token(self) -> str | None: ...


class Destination(NamedTuple):
    """Where requests go. `host` and `path` are as they are signed; the region is that of the
    signature."""

    url: str
    host: str
    path: str
    region: str


def destination_of(endpoint_url: str, region: str) -> Destination:
    """The destination behind an endpoint, whose path, if it has one, is kept. The port is part of
    the host unless it is that of the scheme, as HTTP clients write it."""
    parts = urlsplit(endpoint_url)
    name = parts.hostname or ""
    host = f"[{name}]" if ":" in name else name
    if parts.port not in (None, _DEFAULT_PORTS.get(parts.scheme)):
        host = f"{host}:{parts.port}"
    path = parts.path or "/"
    # What is escaped already is escaped once more, for all services but S3.
    return Destination(f"{parts.scheme}://{parts.netloc}{path}", host, quote(path, "/~"), region)


def signed_headers(
    keys: Keys, destination: Destination, target: str, body: bytes, moment: str
) -> dict[str, str]:
    """The headers of a POST of `body` for the operation that `target` names, at a moment in UTC
    (`20240131T093000Z`)."""
    date = moment[:8]
    headers = {"Content-Type": _CONTENT_TYPE, "Host": destination.host, "X-Amz-Date": moment}
    if keys.token:
        headers["X-Amz-Security-Token"] = keys.token
    headers["X-Amz-Target"] = target
    # They are in the order of their names, as the canonical form asks for.
    signed = ";".join(headers).lower()
    lines = "".join(f"{name.lower()}:{value}\n" for name, value in headers.items())
    digest = hashlib.sha256(body).hexdigest()
    request = f"POST\n{destination.path}\n\n{lines}\n{signed}\n{digest}"
    scope = f"{date}/{destination.region}/{_SERVICE}/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = _signing_key(keys.secret_key, date, destination.region)
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={keys.access_key}/{scope},"
        f" SignedHeaders={signed}, Signature={signature}"
    )
    return headers


@lru_cache(maxsize=4)
def _signing_key(secret: str, date: str, region: str) -> bytes:
    """The key of a day. Beside it that of the day before may be asked for, and those of
    credentials that are just being replaced."""
    key = f"AWS4{secret}".encode()
    for part in (date, region, _SERVICE, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
