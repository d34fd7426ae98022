"""What the tests of HTTP send, and how they tell a refusal."""

from typing import Any

import httpx

__all__ = ["GRAPHQL", "JSON", "MUTATION", "QUERY", "is_refused", "named"]

QUERY = "{ team { name } }"
MUTATION = 'mutation { createResource(input: {name: "x"}) { errors { code } } }'
JSON = "application/json"
GRAPHQL = "application/graphql-response+json"


def is_refused(response: httpx.Response, status: int, code: str = "BAD_USER_INPUT") -> bool:
    """Whether it is the JSON answer of a refusal: no data, one code, not to be cached."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] in {
        f"{JSON}; charset=utf-8",
        f"{GRAPHQL}; charset=utf-8",
    }
    assert response.headers["cache-control"] == "no-store"
    body = response.json()
    assert "data" not in body
    return {error["extensions"]["code"] for error in body["errors"]} == {code}


def named(team: str) -> dict[str, Any]:
    """The answer to QUERY of a team that has no item of its own, and so no name but its id."""
    return {"data": {"team": {"name": team}}}
