"""The session token of Auth.js v5 (its `jwt` strategy): a JWE that its server encrypts to itself.

Follows packages/core/src/jwt.ts of Auth.js v5, RFC 7516 (JWE), RFC 7518 §5.2 (A256CBC-HS512) and
RFC 7638 (`kid`). Stricter than Auth.js in two ways: the older A256GCM is refused, and so is every
header parameter besides `alg`, `enc` and `kid`.
"""

import base64
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from joserfc import jwe, jwk
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

__all__ = [
    "MAX_TOKEN_LENGTH",
    "InvalidToken",
    "cookie_name",
    "decode",
    "derive_key",
    "derive_keys",
    "encode",
    "mint",
    "thumbprint",
]

ALG: Final = "dir"
ENC: Final = "A256CBC-HS512"
KEY_BYTES: Final = 64

# Servers cap all headers of a request together at 8 to 64 KiB; real tokens are about 0.5 KiB.
MAX_TOKEN_LENGTH: Final = 16 * 1024

# Header, no encrypted key, 16-byte IV, ciphertext, 32-byte tag: five parts and no sixth. Auth.js
# writes a header of 180 characters.
_COMPACT = re.compile(r"([\w-]{1,512})\.\.[\w-]{22}\.[\w-]+\.[\w-]{43}", re.ASCII)

_REGISTRY = jwe.JWERegistry(algorithms=[ALG, ENC])


class InvalidToken(ValueError):
    """The token is not one of ours. Why is for the log at most, never for the client."""


def cookie_name(*, secure: bool) -> str:
    """The name of the session cookie, which is also the salt of the key. Source: defaultCookies()
    in packages/core/src/lib/utils/cookie.ts."""
    return "__Secure-authjs.session-token" if secure else "authjs.session-token"


def derive_key(secret: str, cookie_name: str) -> OctKey:
    """The 64-byte key of a secret under a cookie name: HKDF-SHA256 (RFC 5869)."""
    hkdf = HKDF(
        algorithm=SHA256(),
        length=KEY_BYTES,
        salt=cookie_name.encode(),
        info=f"Auth.js Generated Encryption Key ({cookie_name})".encode(),
    )
    return OctKey.import_key(hkdf.derive(secret.encode()))


def thumbprint(key: OctKey) -> str:
    """The key's `kid`: its RFC 7638 thumbprint with SHA-512, base64url, 86 characters."""
    # OctKey.thumbprint() is SHA-256; Auth.js takes the hash that is as wide as the key.
    k = base64.urlsafe_b64encode(key.raw_value).rstrip(b"=").decode()
    return jwk.thumbprint({"kty": "oct", "k": k}, "sha512")


def derive_keys(secrets: Iterable[str], cookie_name: str) -> dict[str, OctKey]:
    """The keys by `kid`, in the order of the secrets."""
    keys = (derive_key(secret, cookie_name) for secret in secrets)
    return {thumbprint(key): key for key in keys}


def encode(claims: Mapping[str, object], *, secret: str, cookie_name: str) -> str:
    """The claims as a token, byte for byte as given: `exp` and the like are the caller's."""
    key = derive_key(secret, cookie_name)
    header = {"alg": ALG, "enc": ENC, "kid": thumbprint(key)}
    return jwe.encrypt_compact(header, json.dumps(claims), key, registry=_REGISTRY)


def decode(token: str, keys: Mapping[str, OctKey]) -> dict[str, object]:
    """The claims of a token that one of the keys opens; their values are not looked at.

    A token with `kid` is opened with that key only; one without (Auth.js always writes it, other
    encoders may not) is tried against every key. Raises InvalidToken, and nothing else.
    """
    try:
        for key in _candidates(_header(token), keys):
            claims = _open(token, key)
            if claims is not None:
                return claims
    # Beyond the header allow-list: bad base64, bad UTF-8, bad JSON, JSON nested too deep.
    except (JoseError, ValueError, RecursionError) as error:
        raise InvalidToken("the token cannot be read") from error
    raise InvalidToken("no key opens the token")


def mint(
    secret: str,
    *,
    cookie_name: str,
    user_id: str,
    team_id: str | None,
    role: str | None,
    lifetime: timedelta,
    now: float,
    name: str | None = None,
    team_claim: str = "teamId",
) -> str:
    """A token like those of Auth.js, for development and tests. `now` is epoch seconds; what is
    None is left out. Nothing is checked, so that a token that must be refused can be made."""
    issued = int(now)
    own = {"name": name, team_claim: team_id, "role": role}
    claims: dict[str, object] = {
        "sub": user_id,
        **{claim: value for claim, value in own.items() if value is not None},
        "iat": issued,
        "exp": issued + int(lifetime.total_seconds()),
        "jti": str(uuid.uuid4()),
    }
    return encode(claims, secret=secret, cookie_name=cookie_name)


def _header(token: str) -> dict[str, object]:
    """The header of a token that is worth decrypting.

    An allow-list before any cryptography (RFC 8725 §3.1): what asks for PBES2, a key wrap,
    another cipher, compression or no encryption at all costs one small JSON parse.
    """
    match = _COMPACT.fullmatch(token) if len(token) <= MAX_TOKEN_LENGTH else None
    if match is None:
        raise InvalidToken("not a compact JWE")
    raw = match[1]
    header = json.loads(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)).decode())
    if not isinstance(header, dict) or not header.keys() <= {"alg", "enc", "kid"}:
        raise InvalidToken("not a header of Auth.js")
    if header.get("alg") != ALG or header.get("enc") != ENC:
        raise InvalidToken("not the algorithms of Auth.js")
    return header


def _candidates(header: Mapping[str, object], keys: Mapping[str, OctKey]) -> Iterable[OctKey]:
    if "kid" not in header:
        return keys.values()
    kid = header["kid"]
    return (keys[kid],) if isinstance(kid, str) and kid in keys else ()


def _open(token: str, key: OctKey) -> dict[str, object] | None:
    """The claims, or None where the tag is not this key's. Raises ValueError, RecursionError."""
    try:
        plaintext = jwe.decrypt_compact(token, key, registry=_REGISTRY).plaintext
    except JoseError:
        return None
    claims = json.loads((plaintext or b"").decode())
    if not isinstance(claims, dict):
        raise InvalidToken("the claims are not an object")
    return claims
