"""What clients that others have written show of our errors: our message and our code (C-05)."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportQueryError

from tests.api.http import is_refused
from tests.api_client import token
from tests.npm import asker

TEAM = "team-of-clients"
TOKEN = token(TEAM)
FRONTENDS = ("urql", "apollo")


@dataclass(frozen=True)
class Wrong:
    """An operation that ends in a GraphQL error."""

    query: str
    code: str
    message: str
    variables: dict[str, Any] = field(default_factory=dict)
    signed_in: bool = True


WINDOW = "query($from: Date!) { team { assignments(from: $from, to: $from) { id } } }"
WRONG = {
    "an invalid query": Wrong(
        "{ nothing }", "BAD_USER_INPUT", "Cannot query field 'nothing' on type 'Query'."
    ),
    "unauthenticated": Wrong(
        "{ team { name } }",
        "UNAUTHENTICATED",
        "Sign in: this request carries no valid session.",
        signed_in=False,
    ),
    "a window that ends before it begins": Wrong(
        '{ team { assignments(from: "2024-01-02", to: "2024-01-01") { id } } }',
        "BAD_USER_INPUT",
        "`from` must not be after `to`",
    ),
    "a day that is none": Wrong(
        WINDOW, "BAD_USER_INPUT", "a Date is a real day", variables={"from": "2024-02-30"}
    ),
}
BLANK = """mutation Add($input: CreateResourceInput!) {
  createResource(input: $input) { resource { id } errors { code message field } } }"""
REFUSED = {
    "createResource": {
        "resource": None,
        "errors": [{"code": "INVALID", "message": "name can't be blank", "field": ["name"]}],
    }
}


def without_typenames(data: Any) -> Any:
    """The data without what Apollo asks for besides."""
    if isinstance(data, list):
        return [without_typenames(each) for each in data]
    if isinstance(data, dict):
        return {k: without_typenames(v) for k, v in data.items() if k != "__typename"}
    return data


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("client", FRONTENDS)
def test_a_frontends_client_shows_our_message_and_code(
    npm: Path, url: str, client: str, wrong: Wrong
) -> None:
    told = asker(npm, "frontends.mjs")(
        url=url,
        client=client,
        token=TOKEN if wrong.signed_in else None,
        query=wrong.query,
        variables=wrong.variables,
    )
    assert isinstance(told, dict)
    [error] = told["errors"]
    assert wrong.message in error["message"]
    assert error["code"] == wrong.code
    assert told["data"] is None


@pytest.mark.parametrize("client", FRONTENDS)
def test_a_frontends_client_shows_a_refusal_as_the_data_that_it_is(
    npm: Path, url: str, client: str
) -> None:
    variables = {"input": {"name": " "}}
    told = asker(npm, "frontends.mjs")(
        url=url, client=client, token=TOKEN, query=BLANK, variables=variables
    )
    assert isinstance(told, dict)
    assert told["errors"] == []
    assert without_typenames(told["data"]) == REFUSED


# gql, for Python


def python_client(url: str, *, signed_in: bool = True) -> Client:
    headers = {"Authorization": f"Bearer {TOKEN}"} if signed_in else {}
    return Client(transport=AIOHTTPTransport(url=url, headers=headers))


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
async def test_gql_shows_our_message_and_code(url: str, wrong: Wrong) -> None:
    request = gql(wrong.query)
    request.variable_values = wrong.variables
    async with python_client(url, signed_in=wrong.signed_in) as session:
        with pytest.raises(TransportQueryError) as raised:
            await session.execute(request)
    [error] = raised.value.errors or []
    assert wrong.message in error["message"]
    assert error["extensions"]["code"] == wrong.code


async def test_gql_shows_a_refusal_as_the_data_that_it_is(url: str) -> None:
    request = gql(BLANK)
    request.variable_values = {"input": {"name": " "}}
    async with python_client(url) as session:
        assert await session.execute(request) == REFUSED


async def test_gql_shows_that_variables_in_a_string_must_be_an_object(url: str) -> None:
    """What some tools send: the variables as the JSON text of a form's field."""
    request = gql(BLANK)
    request.variable_values = cast("dict[str, Any]", json.dumps({"input": {"name": "Ada"}}))
    async with python_client(url) as session:
        with pytest.raises(TransportQueryError) as raised:
            await session.execute(request)
    [error] = raised.value.errors or []
    assert error["message"] == "`variables` must be an object."
    assert error["extensions"] == {"code": "BAD_USER_INPUT"}


async def test_variables_in_a_string_are_400_by_the_status_too(url: str) -> None:
    body = {"query": BLANK, "variables": json.dumps({"input": {"name": "Ada"}})}
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        response = await client.post(url, json=body)
    assert is_refused(response, 400)
    assert "must be an object" in response.text
