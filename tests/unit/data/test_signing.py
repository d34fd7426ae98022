"""Our signature of a request is the one that botocore makes of it."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import botocore.auth
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from hypothesis import given
from hypothesis import strategies as st

from data.endpoint import endpoint_of
from data.signing import _signing_key, signed_headers

URLS = [
    "https://dynamodb.eu-central-1.amazonaws.com",
    "https://123456789012.ddb.us-east-1.amazonaws.com",
    "https://dynamodb.us-east-1.amazonaws.com:443/",
    "https://dynamodb.example:80",
    "http://localhost:8000",
    "http://localhost:80",
    "http://Store.Example:443",
    "http://[::1]:8000",
    "https://[2001:db8::1]",
    "https://proxy.example/dynamo db/~x",
    "https://proxy.example/a%20b/",
]
REGIONS = ["us-east-1", "eu-central-1", "us-gov-west-1", "cn-north-1"]
# What can stand in a header; botocore squeezes blanks, which no credentials have.
plain = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


class Frozen(NamedTuple):
    access_key: str
    secret_key: str
    token: str | None


def by_botocore(
    keys: Any, url: str, region: str, target: str, body: bytes, now: datetime
) -> dict[str, Any]:
    headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": target}
    request = AWSRequest("POST", url, headers=headers, data=body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.auth, "get_current_datetime", lambda: now)
        SigV4Auth(keys, "dynamodb", region).add_auth(request)
    return dict(request.headers.items())


@given(
    access=plain,
    secret=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    token=st.none() | plain,
    url=st.sampled_from(URLS),
    region=st.sampled_from(REGIONS) | plain,
    operation=st.sampled_from(["GetItem", "TransactWriteItems"]),
    body=st.binary(),
    now=moments,
)
def test_the_signature_is_the_one_of_botocore(
    access: str,
    secret: str,
    token: str | None,
    url: str,
    region: str,
    operation: str,
    body: bytes,
    now: datetime,
) -> None:
    keys = Frozen(access, secret, token)
    endpoint = endpoint_of(url, region)
    target = f"DynamoDB_20120810.{operation}"
    ours = signed_headers(keys, endpoint, target, body, f"{now:%Y%m%dT%H%M%SZ}")
    theirs = by_botocore(keys, endpoint.url, region, target, body, now)
    assert ours.pop("Host") == endpoint.host
    assert ours == theirs


def test_keys_of_few_days_and_secrets_are_kept() -> None:
    _signing_key.cache_clear()
    for number in range(20):
        _signing_key(f"secret-{number}", "20240101", "us-east-1")
    assert _signing_key.cache_info().currsize == 4
    # Each is made once, whatever the other two are.
    made = {_signing_key("secret-19", day, "us-east-1") for day in ("20240101", "20240102")}
    made.add(_signing_key("secret-19", "20240101", "eu-central-1"))
    assert len(made) == 3
    assert _signing_key.cache_info().misses == 22
