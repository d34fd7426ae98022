"""HTTP events of AWS Lambda in payload format 2.0, with all the members that AWS documents: those
of an HTTP API ("Working with AWS Lambda proxy integrations for HTTP APIs") and of a function URL
("Request and response payloads")."""

import base64
import json
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qsl

from server.authjs import cookie_name, mint
from tests.api_client import SECRET

__all__ = ["DOMAIN", "Event", "function_url", "get", "graphql", "http_api", "session"]

DOMAIN: Final = "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com"
URL_DOMAIN: Final = "abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws"

Event = dict[str, Any]


def http_api(
    method: str,
    path: str,
    *,
    query: str = "",
    headers: Mapping[str, str] | None = None,
    cookies: tuple[str, ...] = (),
    body: bytes | None = None,
    in_base64: bool = False,
    domain: str = DOMAIN,
) -> Event:
    """A request as an HTTP API passes it on: names of headers in lower case, several values of one
    joined by commas, cookies apart, members left out that are empty."""
    sent = {
        "accept": "*/*",
        "host": domain,
        "user-agent": "tests",
        "x-amzn-trace-id": "Root=1-6a4b1c22-5f302e550dcde3b12402207d",
        "x-forwarded-for": "192.0.2.1",
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
        **(headers or {}),
    }
    event: Event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": sent,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": domain.partition(".")[0],
            "domainName": domain,
            "domainPrefix": domain.partition(".")[0],
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "tests",
            },
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": "$default",
            "stage": "$default",
            "time": "30/Nov/2026:12:00:00 +0000",
            "timeEpoch": 1_796_040_000_000,
        },
        "isBase64Encoded": in_base64,
    }
    if cookies:
        event["cookies"] = list(cookies)
    if query:
        event["queryStringParameters"] = dict(parse_qsl(query))
    if body is not None:
        sent["content-length"] = str(len(body))
        event["body"] = base64.b64encode(body).decode() if in_base64 else body.decode()
    return event


def function_url(event: Event) -> Event:
    """The same request by way of a function URL, which nobody has to sign for."""
    context = event["requestContext"]
    return {
        **event,
        "headers": {**event["headers"], "host": URL_DOMAIN},
        "requestContext": {
            **context,
            "accountId": "anonymous",
            "apiId": URL_DOMAIN.partition(".")[0],
            "domainName": URL_DOMAIN,
            "domainPrefix": URL_DOMAIN.partition(".")[0],
        },
    }


def session(team: str, *, secure: bool = False) -> tuple[str, ...]:
    """The cookies of a browser that is signed in; `secure`: at an https address."""
    name = cookie_name(secure=secure)
    minted = mint(
        SECRET,
        cookie_name=name,
        user_id="user-1",
        team_id=team,
        role="member",
        lifetime=timedelta(hours=1),
        now=time.time(),
    )
    return ("theme=dark", f"{name}={minted}")


def graphql(
    team: str, query: str, variables: Mapping[str, Any] | None = None, **more: Any
) -> Event:
    """An operation by POST, in a session of the team."""
    body = json.dumps({"query": query, "variables": variables}, ensure_ascii=False).encode()
    headers = {"content-type": "application/json", **more.pop("headers", {})}
    members = {"cookies": session(team), "body": body, **more}
    return http_api("POST", "/graphql", headers=headers, **members)


def get(path: str, **more: Any) -> Event:
    return http_api("GET", path, **more)
