"""Signature Version 4 for DynamoDB: always a POST of the same headers, with its body hashed.

See "Create a signed AWS API request" in the AWS IAM User Guide. botocore's signer is general, and
derives the key anew for each request.
"""

import hashlib
import hmac
from functools import lru_cache
from typing import Final, Protocol

from data.endpoint import Endpoint

__all__ = ["Keys", "signed_headers"]

_SERVICE: Final = "dynamodb"
_CONTENT_TYPE: Final = "application/x-amz-json-1.0"


class Keys(Protocol):
    """Credentials as they are at one moment. `token` is that of a session, as roles have."""

    @property
    def access_key(self) -> str: ...
    @property
    def secret_key(self) -> str: ...
    @property
    def token(self) -> str | None: ...


def signed_headers(
    keys: Keys, endpoint: Endpoint, target: str, body: bytes, moment: str
) -> dict[str, str]:
    """The headers of a POST of `body` for the operation that `target` names, at a moment in UTC
    (`20240131T093000Z`)."""
    date = moment[:8]
    headers = {"Content-Type": _CONTENT_TYPE, "Host": endpoint.host, "X-Amz-Date": moment}
    if keys.token:
        headers["X-Amz-Security-Token"] = keys.token
    headers["X-Amz-Target"] = target
    # They are in the order of their names, as the canonical form asks for.
    signed = ";".join(headers).lower()
    lines = "".join(f"{name.lower()}:{value}\n" for name, value in headers.items())
    digest = hashlib.sha256(body).hexdigest()
    request = f"POST\n{endpoint.canonical_path}\n\n{lines}\n{signed}\n{digest}"
    scope = f"{date}/{endpoint.region}/{_SERVICE}/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = _signing_key(keys.secret_key, date, endpoint.region)
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
