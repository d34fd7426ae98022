"""The token format, against fixed tokens of the real Auth.js and against forged ones.

The running Auth.js itself: tests/authjs/test_authjs_tokens.py.
"""

import hashlib
import json
import time
from datetime import timedelta

import pytest

from server.authjs import (
    MAX_TOKEN_LENGTH,
    InvalidToken,
    cookie_name,
    decode,
    derive_key,
    derive_keys,
    encode,
    mint,
    thumbprint,
)
from tests.unit.server.forged_tokens import (
    CLAIMS,
    CONTENT,
    GOOD,
    HEADER,
    HOSTILE,
    PLAIN,
    SECRET,
    b64,
    seal,
)

SECURE = "__Secure-authjs.session-token"
NAMES = (PLAIN, SECURE)

OLD = "the secret of last year, since then rotated"
OTHER = "a secret that nobody ever put in this list"

# Made by @auth/core 0.41.3 with SECRET, so that a machine without npm still reads the real thing.
REAL = {
    PLAIN: (
        "zQFgMPXHqvbPOqpDil01xzC3-4m0qlyO6A6yUn4WHG4wSnth6jkZqa1obhx4mX95-p0aJ-STeAoVPDC_F4H1yg",
        "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIiwia2lkIjoielFGZ01QWEhxdmJQT3FwRGlsMDF4ekMz"
        "LTRtMHFseU82QTZ5VW40V0hHNHdTbnRoNmprWnFhMW9iaHg0bVg5NS1wMGFKLVNUZUFvVlBEQ19GNEgxeWcifQ.."
        "c8de_TN7eL687IT_1Tb0SQ.Z1oM6vDjdqxst9Gjshd2myR9jKHtKayTo5pxiPvw9sAdht32ejaS2dqtf2Skonj0"
        "umxYM7BK3lZDNlKacz3Xl7hT9TxjqlFEbYFGnTtEpv5v86jVffa-IpB90xsuoRWBegJ3A8gA8hwU7gEcXUyOSPLf"
        "PwLNbaZQkBEjilhEO96p1it58NiZvaGVeya15oj9.htHusGF7eZso7VXFnl6EFOprtnJXCRTUecut2keciEg",
    ),
    SECURE: (
        "h6CrxlMvIBbeKL3_0ijMak_Getcqe7ekUM2TLllC946T-i8rrBf-qpeBPr2n-s2D-HYZUuk5GTVdui4F4Y3wnA",
        "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIiwia2lkIjoiaDZDcnhsTXZJQmJlS0wzXzBpak1ha19H"
        "ZXRjcWU3ZWtVTTJUTGxsQzk0NlQtaThyckJmLXFwZUJQcjJuLXMyRC1IWVpVdWs1R1RWZHVpNEY0WTN3bkEifQ.."
        "TUOif58Rxl3F1FiVzAmzjg.PPOzabp5eQlwrs9HUJEpAkGypY1CqZgUPfryBf6QpCHTXtccw61UBdQs6FwFpzye"
        "HryK63RFFJihyWsjkV3PurveF4POzJKV7HF8vF8OZKDCxsYGPFImIPeduKlVAI-6OH_W5qYIqARZopdvDVKlUYzt"
        "4brEAyQjuhJyZ_Wpo4LMDyFzPpe8UWE1UzHV4Z3F.y_Ymqb3cZEBDsqA20QvqQuJsS1vx2TgTczvKdU594aM",
    ),
}


@pytest.mark.parametrize(("secure", "name"), [(False, PLAIN), (True, SECURE)])
def test_the_cookie_name_follows_the_scheme(secure: bool, name: str) -> None:
    assert cookie_name(secure=secure) == name


@pytest.mark.parametrize("name", NAMES)
def test_a_token_of_the_real_authjs_is_read_and_its_kid_is_ours(name: str) -> None:
    kid, token = REAL[name]
    keys = derive_keys([SECRET], name)
    assert list(keys) == [kid]
    claims = decode(token, keys)
    assert claims.keys() == {"sub", "name", "teamId", "role", "iat", "exp", "jti"}
    assert (claims["sub"], claims["teamId"], claims["exp"]) == ("u1", "demo", 1_798_623_835)


@pytest.mark.parametrize(("made", "read"), [(PLAIN, SECURE), (SECURE, PLAIN)])
def test_a_token_is_read_only_under_its_own_cookie_name(made: str, read: str) -> None:
    with pytest.raises(InvalidToken):
        decode(REAL[made][1], derive_keys([SECRET], read))


def test_kid_is_the_sha512_thumbprint() -> None:
    key = derive_key(SECRET, PLAIN)
    canonical = f'{{"k":"{b64(key.raw_value)}","kty":"oct"}}'
    assert thumbprint(key) == b64(hashlib.sha512(canonical.encode()).digest())
    assert len(key.raw_value) == 64


def test_what_is_encoded_is_decoded() -> None:
    claims = {"sub": "u1", "name": "Ångström 🚀 \ud800", "deep": {"a": [1, None, True, 0.5]}}
    token = encode(claims, secret=SECRET, cookie_name=PLAIN)
    assert decode(token, derive_keys([SECRET], PLAIN)) == claims


@pytest.mark.parametrize("secret", [SECRET, OLD])
@pytest.mark.parametrize("with_kid", [True, False])
def test_any_listed_secret_opens_a_token_with_or_without_kid(secret: str, with_kid: bool) -> None:
    kid = {"kid": thumbprint(derive_key(secret, PLAIN))} if with_kid else {}
    token = seal({**HEADER, **kid}, CONTENT, secret=secret)
    assert decode(token, derive_keys([SECRET, OLD], PLAIN)) == CLAIMS


@pytest.mark.parametrize("with_kid", [True, False])
def test_a_secret_that_is_not_listed_opens_nothing(with_kid: bool) -> None:
    kid = {"kid": thumbprint(derive_key(OTHER, PLAIN))} if with_kid else {}
    token = seal({**HEADER, **kid}, CONTENT, secret=OTHER)
    with pytest.raises(InvalidToken):
        decode(token, derive_keys([SECRET, OLD], PLAIN))


def test_a_kid_of_one_key_on_a_token_of_another_opens_nothing() -> None:
    token = seal({**HEADER, "kid": thumbprint(derive_key(OLD, PLAIN))}, CONTENT)
    with pytest.raises(InvalidToken):
        decode(token, derive_keys([SECRET, OLD], PLAIN))


def test_the_forge_makes_good_tokens_when_asked_to() -> None:
    assert decode(GOOD, derive_keys([SECRET], PLAIN)) == CLAIMS


def test_the_longest_token_that_is_read() -> None:
    filler = (MAX_TOKEN_LENGTH - len(GOOD)) * 3 // 4 - 64
    token = seal(HEADER, json.dumps({**CLAIMS, "filler": "x" * filler}).encode())
    assert MAX_TOKEN_LENGTH - 128 < len(token) <= MAX_TOKEN_LENGTH
    assert decode(token, derive_keys([SECRET], PLAIN))["sub"] == "u1"


@pytest.mark.parametrize("token", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_token_is_invalid_within_20_ms(token: str) -> None:
    """A-06."""
    keys = derive_keys([SECRET, OLD, OTHER], PLAIN)
    spent = []
    for _ in range(3):
        start = time.thread_time()
        with pytest.raises(InvalidToken):
            decode(token, keys)
        spent.append(time.thread_time() - start)
    # CPU time, and the best of three: ten million rounds are slow each time.
    assert min(spent) < 0.020


@pytest.mark.parametrize(
    "why", [why for why in HOSTILE if why.startswith(("alg", "enc", "zip", "header", "too", "a "))]
)
def test_no_cryptography_is_spent_on_what_authjs_does_not_write(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[str] = []
    monkeypatch.setattr("joserfc.jwe.decrypt_compact", lambda token, *_, **__: spent.append(token))
    with pytest.raises(InvalidToken):
        decode(HOSTILE[why], derive_keys([SECRET], PLAIN))
    assert spent == []


def test_mint_makes_the_claims_that_authjs_makes() -> None:
    token = mint(
        SECRET,
        cookie_name=PLAIN,
        user_id="u1",
        team_id="demo",
        role="viewer",
        name="Ada",
        lifetime=timedelta(hours=8),
        now=1_700_000_000.9,
    )
    claims = decode(token, derive_keys([SECRET], PLAIN))
    jti = claims.pop("jti")
    assert isinstance(jti, str)
    assert len(jti) == 36
    assert claims == {
        "sub": "u1",
        "name": "Ada",
        "teamId": "demo",
        "role": "viewer",
        "iat": 1_700_000_000,
        "exp": 1_700_028_800,
    }


def test_mint_leaves_out_what_is_none_and_names_the_team_as_told() -> None:
    def claims(team_id: str | None) -> set[str]:
        token = mint(
            SECRET,
            cookie_name=PLAIN,
            user_id="u1",
            team_id=team_id,
            role=None,
            lifetime=timedelta(hours=1),
            now=0,
            team_claim="org",
        )
        return set(decode(token, derive_keys([SECRET], PLAIN)))

    assert claims(None) == {"sub", "iat", "exp", "jti"}
    assert claims("demo") == {"sub", "org", "iat", "exp", "jti"}
