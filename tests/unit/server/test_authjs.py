"""The token format, against fixed tokens of the real Auth.js and against forged ones.

The running Auth.js itself: tests/authjs/test_authjs_tokens.py.
"""

import base64
import hashlib
import hmac
import json
import os
import time
import zlib
from collections.abc import Mapping
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.padding import PKCS7

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

PLAIN = "authjs.session-token"
SECURE = "__Secure-authjs.session-token"
NAMES = (PLAIN, SECURE)

SECRET = "correct horse battery staple, but longer"
OLD = "the secret of last year, since then rotated"
OTHER = "a secret that nobody ever put in this list"

HEADER: Mapping[str, object] = {"alg": "dir", "enc": "A256CBC-HS512"}
CLAIMS: Mapping[str, object] = {"sub": "u1", "teamId": "demo", "exp": 1_800_000_000}

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


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compact(header: Mapping[str, object], *parts: bytes) -> str:
    return ".".join([b64(json.dumps(header).encode()), *map(b64, parts)])


def seal(header: Mapping[str, object], plaintext: bytes, *, secret: str = SECRET) -> str:
    """A rightly encrypted token (RFC 7518 §5.2.2.1) with any header: written without joserfc, so
    that it is refused for its header or its content and for nothing else."""
    key = derive_key(secret, PLAIN).raw_value
    iv = os.urandom(16)
    pad = PKCS7(128).padder()
    cipher = Cipher(AES(key[32:]), CBC(iv)).encryptor()
    ciphertext = cipher.update(pad.update(plaintext) + pad.finalize()) + cipher.finalize()
    aad = b64(json.dumps(header).encode()).encode()
    signed = aad + iv + ciphertext + (len(aad) * 8).to_bytes(8, "big")
    tag = hmac.new(key[:32], signed, hashlib.sha512).digest()[:32]
    return compact(header, b"", iv, ciphertext, tag)


def seal_gcm(*, info: str, salt: str) -> str:
    """A token of NextAuth v4, or of an early v5: A256GCM under a 32-byte key."""
    kdf = HKDF(algorithm=SHA256(), length=32, salt=salt.encode(), info=info.encode())
    header = {"alg": "dir", "enc": "A256GCM"}
    iv = os.urandom(12)
    aad = b64(json.dumps(header).encode()).encode()
    sealed = AESGCM(kdf.derive(SECRET.encode())).encrypt(iv, json.dumps(CLAIMS).encode(), aad)
    return compact(header, b"", iv, sealed[:-16], sealed[-16:])


def jws() -> str:
    head = b64(b'{"alg":"HS256","typ":"JWT"}')
    signed = f"{head}.{b64(json.dumps(CLAIMS).encode())}"
    return f"{signed}.{b64(hmac.new(SECRET.encode(), signed.encode(), 'sha256').digest())}"


def flipped(token: str, part: int) -> str:
    parts = token.split(".")
    data = bytearray(base64.urlsafe_b64decode(parts[part] + "=" * (-len(parts[part]) % 4)))
    data[-1] ^= 1
    parts[part] = b64(bytes(data))
    return ".".join(parts)


GOOD = seal(HEADER, json.dumps(CLAIMS).encode())
CONTENT = json.dumps(CLAIMS).encode()
FAKE = (b"", bytes(16), bytes(64), bytes(32))
PBES2 = {"alg": "PBES2-HS512+A256KW", "enc": "A256CBC-HS512", "p2s": "c2FsdHNhbHQ", "p2c": 10**7}

HOSTILE: Mapping[str, str] = {
    "alg none": seal({**HEADER, "alg": "none"}, CONTENT),
    "alg A256KW": compact({**HEADER, "alg": "A256KW"}, bytes(72), *FAKE[1:]),
    "alg A256KW, no key": compact({**HEADER, "alg": "A256KW"}, *FAKE),
    "alg PBES2, 10^7 rounds": compact(PBES2, bytes(72), *FAKE[1:]),
    "alg PBES2, no key": compact(PBES2, *FAKE),
    "alg as list": seal({**HEADER, "alg": ["dir"]}, CONTENT),
    "no alg": seal({"enc": "A256CBC-HS512"}, CONTENT),
    "no enc": seal({"alg": "dir"}, CONTENT),
    "enc A128GCM": seal({**HEADER, "enc": "A128GCM"}, CONTENT),
    "enc A256GCM, v5": seal_gcm(info=f"Auth.js Generated Encryption Key ({PLAIN})", salt=PLAIN),
    "enc A256GCM, v4": seal_gcm(info="NextAuth.js Generated Encryption Key", salt=""),
    "zip bomb": seal({**HEADER, "zip": "DEF"}, zlib.compress(bytes(8_000_000), 9, wbits=-15)),
    "zip null": seal({**HEADER, "zip": None}, CONTENT),
    "crit": seal({**HEADER, "crit": ["exp"], "exp": 1}, CONTENT),
    "header of another kind": seal({**HEADER, "jwk": {"kty": "oct", "k": "AA"}}, CONTENT),
    "header too long": seal({**HEADER, "kid": "k" * 1_000}, CONTENT),
    "header is a list": f"{b64(b'[]')}.{GOOD.split('.', 1)[1]}",
    "header is not JSON": f"{b64(b'{')}.{GOOD.split('.', 1)[1]}",
    "header is not UTF-8": f"{b64(bytes([255, 254, 0]))}.{GOOD.split('.', 1)[1]}",
    "header is UTF-16": f"{b64('{}'.encode('utf-16'))}.{GOOD.split('.', 1)[1]}",
    "header nested deep": f"{b64(b'[' * 380)}.{GOOD.split('.', 1)[1]}",
    "kid unknown": seal({**HEADER, "kid": "AAAA"}, CONTENT),
    "kid empty": seal({**HEADER, "kid": ""}, CONTENT),
    "kid null": seal({**HEADER, "kid": None}, CONTENT),
    "kid a number": seal({**HEADER, "kid": 5}, CONTENT),
    "kid a list": seal({**HEADER, "kid": []}, CONTENT),
    "kid SHA-256": seal({**HEADER, "kid": derive_key(SECRET, PLAIN).thumbprint()}, CONTENT),
    "a JWS with the secret": jws(),
    "4 parts": GOOD.rsplit(".", 1)[0],
    "6 parts": f"{GOOD}.AAAA",
    "a key where none belongs": GOOD.replace("..", ".AAAA.", 1),
    "tag flipped": flipped(GOOD, 4),
    "tag cut": GOOD[:-1],
    "ciphertext flipped": flipped(GOOD, 3),
    "no ciphertext": ".".join([*GOOD.split(".")[:3], "", GOOD.split(".")[4]]),
    "iv flipped": flipped(GOOD, 2),
    "padded base64": GOOD + "=",
    "newline at the end": GOOD + "\n",
    "percent-encoded": GOOD.replace(".", "%2E"),
    "not ASCII": "é" + GOOD[1:],
    "a lone surrogate": "\ud800" + GOOD[1:],
    "too long": seal(HEADER, b" " * (MAX_TOKEN_LENGTH * 3 // 4) + CONTENT),
    "a megabyte": "A" * 1_000_000,
    "empty": "",
    "dots": "....",
    "claims are a list": seal(HEADER, b"[]"),
    "claims are null": seal(HEADER, b"null"),
    "claims are not JSON": seal(HEADER, b"{"),
    "claims are empty": seal(HEADER, b""),
    "claims are not UTF-8": seal(HEADER, b'{"sub": "\xff"}'),
    "claims nested deep": seal(HEADER, b"[" * 11_000),
    "claims with a number of 5,000 digits": seal(HEADER, b'{"exp": ' + b"9" * 5_000 + b"}"),
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
