"""Forged tokens: written without joserfc, so that each is refused for what it is and no more."""

import base64
import hashlib
import hmac
import json
import os
import zlib
from collections.abc import Mapping

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.padding import PKCS7

from server.authjs import MAX_TOKEN_LENGTH, derive_key

__all__ = [
    "CLAIMS",
    "CONTENT",
    "GOOD",
    "HEADER",
    "HOSTILE",
    "PLAIN",
    "SECRET",
    "b64",
    "seal",
]

PLAIN = "authjs.session-token"
SECRET = "correct horse battery staple, but longer"

HEADER: Mapping[str, object] = {"alg": "dir", "enc": "A256CBC-HS512"}
CLAIMS: Mapping[str, object] = {"sub": "u1", "teamId": "demo", "exp": 1_800_000_000}


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
