"""Requests as bytes, good and bad, and what a refusal looks like on the wire."""

import json

from tests.api.http import GRAPHQL, MUTATION
from tests.api_client import token
from tests.live import Answer

__all__ = ["BEARER", "JSON_BODY", "TEAM", "chunked", "enveloped", "get", "head", "post", "refused"]

TEAM = "team-of-connections"
BEARER = {"Host": "planner.test", "Authorization": f"Bearer {token(TEAM)}"}
JSON_BODY = {**BEARER, "Content-Type": "application/json"}


def head(method: str, target: str, headers: dict[str, str]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {headers[name]}" for name in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def post(body: bytes, **more: str) -> bytes:
    headers = {**JSON_BODY, "Content-Length": str(len(body))}
    headers.update({name.replace("_", "-"): value for name, value in more.items()})
    return head("POST", "/graphql", headers) + body


def get(parameters: str, **more: str) -> bytes:
    return head("GET", f"/graphql?{parameters}", {**BEARER, **more})


def enveloped(**members: object) -> bytes:
    """A body with a mutation, unless a member says otherwise, so that nothing may be written."""
    return json.dumps({"query": MUTATION, **members}).encode()


def chunked(*chunks: bytes) -> bytes:
    headers = {**JSON_BODY, "Transfer-Encoding": "chunked"}
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head("POST", "/graphql", headers) + framed + b"0\r\n\r\n"


def refused(answer: Answer, status: int, code: str = "BAD_USER_INPUT") -> str:
    """The message of a refusal, which is JSON and not to be kept."""
    assert answer.status == status, answer
    media_type, _, charset = str(answer.header("content-type")).partition("; ")
    assert media_type in ("application/json", GRAPHQL)
    assert charset == "charset=utf-8"
    assert answer.header("cache-control") == "no-store"
    body = answer.json()
    assert body.keys() == {"errors"}
    assert [error["extensions"]["code"] for error in body["errors"]] == [code]
    return str(body["errors"][0]["message"])
