"""Requests to a server that carries out trusted documents only, and to one that has none."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api.http import GRAPHQL, is_refused
from tests.api_client import Api

pytestmark = pytest.mark.engines("local")

TEAM = "query Team { team { name } }"
TWO = "query A { team { name } } query B { viewer { id } }"
CREATE = "mutation($n: String!) { createResource(input: {name: $n}) { resource { name } } }"
VIEWER = "query Viewer { viewer { id } }"
HASHES = {"5f1d": TEAM, "70aa": TWO, "c0de": CREATE, "sha256:9e1d": VIEWER}


@pytest.fixture
async def trusting(
    settings: Settings, team: str, tmp_path: Path
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server that trusts these documents, signed in."""
    file = tmp_path / "persisted-documents.json"
    file.write_text(json.dumps(HASHES))
    app = create_app(
        settings.model_copy(update={"trusted_documents": file}), credentials=DUMMY_CREDENTIALS
    )
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://planner.test") as client,
    ):
        client.headers.update({**Api(client, team).headers, "Accept": GRAPHQL})
        yield client


def persisted(hash: str) -> dict[str, Any]:
    return {"persistedQuery": {"version": 1, "sha256Hash": hash}}


@pytest.mark.parametrize(
    "body",
    [
        {"documentId": "5f1d"},
        {"documentId": "sha256:5f1d"},
        {"extensions": persisted("5f1d")},
        {"query": TEAM},
        {"query": TEAM, "extensions": persisted("5f1d")},
        {"query": TEAM, "documentId": "by another algorithm"},
        {"query": "", "documentId": "5f1d"},
        {"documentId": "70aa", "operationName": "A"},
    ],
)
async def test_trusted_document_runs(
    trusting: httpx.AsyncClient, team: str, body: dict[str, Any]
) -> None:
    response = await trusting.post("/graphql", json=body)
    assert response.json() == {"data": {"team": {"name": team}}}


@pytest.mark.parametrize(
    "body",
    [
        {"documentId": "sha256:9e1d"},
        {"documentId": "9e1d"},
        {"extensions": persisted("9e1d")},
        {"extensions": persisted("sha256:9e1d")},
    ],
)
async def test_the_hash_may_have_its_algorithm_before_it_in_the_file_too(
    trusting: httpx.AsyncClient, body: dict[str, Any]
) -> None:
    """As the client preset of graphql-codegen writes it, whatever a client then sends."""
    response = await trusting.post("/graphql", json=body)
    assert response.json() == {"data": {"viewer": {"id": "user-1"}}}


async def test_trusted_document_takes_variables(trusting: httpx.AsyncClient) -> None:
    body = {"documentId": "c0de", "variables": {"n": "Ada"}}
    response = await trusting.post("/graphql", json=body)
    assert response.json() == {"data": {"createResource": {"resource": {"name": "Ada"}}}}


async def test_trusted_query_runs_by_get_and_a_mutation_does_not(
    trusting: httpx.AsyncClient, team: str
) -> None:
    query = await trusting.get("/graphql", params={"documentId": "5f1d"})
    assert query.json() == {"data": {"team": {"name": team}}}
    extensions = json.dumps(persisted("5f1d"))
    query = await trusting.get("/graphql", params={"extensions": extensions})
    assert query.json() == {"data": {"team": {"name": team}}}
    mutation = await trusting.get("/graphql", params={"documentId": "c0de"})
    assert is_refused(mutation, 405)


@pytest.mark.parametrize(
    "body",
    [
        {"query": "{ team { name } }"},
        {"query": "{ __schema { queryType { name } } }"},
        {"query": CREATE + " ", "variables": {"n": "Ada"}},
        {"documentId": "nowhere"},
        {"query": "{ team { id } }", "documentId": "nowhere"},
        {"extensions": persisted("nowhere")},
        {"documentId": 5},
        {"documentId": ["5f1d"]},
        {"extensions": {"persistedQuery": "5f1d"}},
        {"extensions": persisted("5f1d") | {"persistedQuery": {"sha256Hash": {}}}},
        {"extensions": {"persistedQuery": {}}},
    ],
)
async def test_nothing_else_runs(trusting: httpx.AsyncClient, body: dict[str, Any]) -> None:
    assert is_refused(await trusting.post("/graphql", json=body), 400)


async def test_without_trusted_documents_a_hash_is_refused_and_says_why(api: Api) -> None:
    response = await api.http.post("/graphql", json={"documentId": "5f1d"}, headers=api.headers)
    assert is_refused(response, 400)
    [error] = response.json()["errors"]
    assert error["message"] == "This server has no trusted documents: send `query`."
