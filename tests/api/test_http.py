"""GraphQL over HTTP: statuses, media types and methods; a 4xx is JSON and asks nothing."""

import json
from typing import Any

import httpx
import pytest

from data.store import Store
from tests.api.http import GRAPHQL, JSON, MUTATION, QUERY, is_refused, named
from tests.api.samples import gid, nothing_written
from tests.api_client import Api, Capture

pytestmark = pytest.mark.engines("local")


async def send(api: Api, method: str, content: bytes = b"", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await api.http.request(
        method, "/graphql", content=content, headers={**api.headers, **named}
    )


async def post(api: Api, body: Any, **headers: str) -> httpx.Response:
    return await send(api, "POST", json.dumps(body).encode(), **{"Content_Type": JSON, **headers})


async def test_query_by_get_is_answered_and_not_cached(api: Api) -> None:
    parameters = {
        "query": "query A($n: Boolean!) { team { id name @include(if: $n) } }",
        "variables": '{"n": false}',
        "operationName": "A",
    }
    response = await api.http.get("/graphql", params=parameters, headers=api.headers)
    assert response.status_code == 200
    assert response.json()["data"]["team"].keys() == {"id"}
    assert response.headers["cache-control"] == "no-store"
    head = await api.http.head("/graphql", params=parameters, headers=api.headers)
    assert head.status_code == 200


TWO = f"query A {QUERY} {MUTATION.replace('mutation', 'mutation B')}"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "parameters",
    [{"query": MUTATION}, {"query": TWO, "operationName": "B"}],
    ids=["alone", "of two operations"],
)
async def test_mutation_by_get_is_refused_and_not_carried_out(
    api: Api, store: Store, method: str, parameters: dict[str, str]
) -> None:
    async with nothing_written(store, api.team):
        response = await api.http.request(
            method, "/graphql", params=parameters, headers=api.headers
        )
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert method == "HEAD" or is_refused(response, 405)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_body_of_a_get_means_nothing(api: Api, store: Store, method: str) -> None:
    """S-01: with a query in the URL and a mutation in the body; RFC 9110 §9.3.1."""
    headers = {**api.headers, "Content-Type": JSON}
    body = json.dumps({"query": MUTATION}).encode()
    async with nothing_written(store, api.team):
        for parameters, status in (({"query": QUERY}, 200), ({}, 400), ({"query": MUTATION}, 405)):
            response = await api.http.request(
                method, "/graphql", params=parameters, content=body, headers=headers
            )
            assert response.status_code == status


async def test_the_url_of_a_post_means_nothing(api: Api, store: Store) -> None:
    """S-01: the mutation is in the URL, where a link or a form could have put it."""
    async with nothing_written(store, api.team):
        response = await api.http.post(
            "/graphql", params={"query": MUTATION}, json={"query": QUERY}, headers=api.headers
        )
        assert response.json() == named(api.team)
        response = await api.http.post(
            "/graphql", params={"query": MUTATION}, json={}, headers=api.headers
        )
        assert is_refused(response, 400)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
async def test_other_methods_are_refused_in_json(api: Api, store: Store, method: str) -> None:
    async with nothing_written(store, api.team):
        body = json.dumps({"query": MUTATION}).encode()
        response = await send(api, method, body, Content_Type=JSON)
    assert is_refused(response, 405)
    assert response.headers["allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/graphql",
        "text/plain; x=application/json",
        "application/json; charset=latin-1",
        "application/jsonx",
        "",
    ],
)
async def test_body_that_is_not_json_by_its_type_is_refused(
    api: Api, store: Store, content_type: str
) -> None:
    async with nothing_written(store, api.team):
        response = await post(api, {"query": MUTATION}, Content_Type=content_type)
    assert is_refused(response, 415)


@pytest.mark.parametrize("content_type", [JSON, "Application/JSON", f'{JSON}; charset="UTF-8"'])
async def test_json_in_utf8_is_taken_however_it_is_spelled(api: Api, content_type: str) -> None:
    response = await post(api, {"query": QUERY}, Content_Type=content_type)
    assert response.json() == named(api.team)


MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "not UTF-8": b'{"query": "{ team { name } } #\xff"}',
    "UTF-16": '{"query": "{ team { name } }"}'.encode("utf-16"),
    "NaN": b'{"query": "{ team { name } }", "variables": {"a": NaN}}',
    "deep": b"[" * 100_000,
    "a string": b'"{ team { name } }"',
    "a number": b"1",
    "null": b"null",
    "an empty batch": b"[]",
    "a batch": b'[{"query": "{ team { name } }"}]',
    "a large batch": b"[" + b",".join([b'{"query": "{ team { name } }"}'] * 1_000) + b"]",
    "no query": b"{}",
    "a null query": b'{"query": null}',
    "a query that is a number": b'{"query": 1}',
    "an empty query": b'{"query": " "}',
    "variables as a string": b'{"query": "{ team { name } }", "variables": "{}"}',
    "variables as a list": b'{"query": "{ team { name } }", "variables": []}',
    "a numeric operation name": b'{"query": "{ team { name } }", "operationName": 1}',
    "extensions as a list": b'{"query": "{ team { name } }", "extensions": []}',
}


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
async def test_malformed_envelope_is_400_in_either_media_type(
    api: Api, captured: Capture, body: bytes, accept: str
) -> None:
    response = await send(api, "POST", body, Content_Type=JSON, Accept=accept)
    assert is_refused(response, 400)
    assert captured.requests == []


async def test_variables_as_a_string_are_told_to_be_an_object(api: Api) -> None:
    response = await post(api, {"query": QUERY, "variables": "{}"})
    assert response.json()["errors"][0]["message"] == "`variables` must be an object."


@pytest.mark.parametrize("variables", ["{", "[]", "1", "NaN", '"{}"'])
async def test_malformed_variables_in_a_url_are_400(api: Api, variables: str) -> None:
    parameters = {"query": QUERY, "variables": variables}
    response = await api.http.get("/graphql", params=parameters, headers=api.headers)
    assert is_refused(response, 400)


@pytest.mark.parametrize("name", [None, "", "C"])
async def test_several_operations_need_the_name_of_one(
    api: Api, store: Store, name: str | None
) -> None:
    async with nothing_written(store, api.team):
        response = await post(api, {"query": TWO, "operationName": name}, Accept=GRAPHQL)
    assert is_refused(response, 400)
    response = await post(api, {"query": TWO, "operationName": "A"})
    assert response.json() == named(api.team)


async def test_body_over_the_cap_is_413_and_one_below_it_is_read(api: Api) -> None:
    def padded(length: int) -> dict[str, Any]:
        return {"query": QUERY, "extensions": {"x": "x" * length}}

    frame = len(json.dumps(padded(0)))
    fits = await post(api, padded(1_000_000 - frame))
    assert fits.json() == named(api.team)
    response = await post(api, padded(1_000_001 - frame))
    assert is_refused(response, 413)


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (JSON, JSON),
        (GRAPHQL, GRAPHQL),
        ("*/*", JSON),
        ("application/*", JSON),
        (f"{GRAPHQL}, {JSON};q=0.9", GRAPHQL),
        (f"{GRAPHQL};q=0.1, {JSON}", JSON),
        (f"text/html, {GRAPHQL}; charset=utf-8", GRAPHQL),
        ("", JSON),
        # RFC 9110 §12.5.1: the most specific range that fits is the one that counts.
        (f"{JSON};q=0, */*", GRAPHQL),
        (f"*/*, {JSON};q=0", GRAPHQL),
        (f"{GRAPHQL};q=0.1, application/*;q=0.5", JSON),
        (f"{GRAPHQL}, */*", GRAPHQL),
        (f"{JSON}, {GRAPHQL}", JSON),
        (f"{GRAPHQL}, {JSON}", GRAPHQL),
        (f"{JSON};q=x, {GRAPHQL};q=0.1", GRAPHQL),
        ("text/html,application/xhtml+xml,*/*;q=0.8", JSON),
    ],
)
async def test_answer_has_the_media_type_that_is_accepted_and_its_status(
    api: Api, accept: str, media_type: str
) -> None:
    response = await post(api, {"query": QUERY}, Accept=accept)
    assert response.status_code == 200
    assert response.headers["content-type"] == f"{media_type}; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    # A request error: 400 by the newer media type, 200 as older clients expect of the other.
    response = await post(api, {"query": "{ nothing }"}, Accept=accept)
    assert is_refused(response, 400 if media_type == GRAPHQL else 200)
    assert response.headers["content-type"] == f"{media_type}; charset=utf-8"


@pytest.mark.parametrize(
    "accept",
    ["text/html", "text/plain, image/*", f"{JSON};q=0", f"*/*;q=0, {JSON};q=0", "*/*;q=nan"],
)
async def test_nothing_that_is_accepted_is_406(api: Api, captured: Capture, accept: str) -> None:
    response = await post(api, {"query": QUERY}, Accept=accept)
    assert is_refused(response, 406)
    assert captured.requests == []


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_partial_data_is_200(api: Api, accept: str) -> None:
    failing = """query($i: ID!) { viewer { id } node(id: $i) { ... on Resource {
        assignments(from: "2024-01-02", to: "2024-01-01") { id } } } }"""
    variables = {"i": gid("Resource", "r")}
    response = await post(api, {"query": failing, "variables": variables}, Accept=accept)
    assert response.status_code == 200
    assert response.json()["data"]["node"] is None
    assert response.json()["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_a_document_nested_deeper_than_the_server_can_go_is_refused_and_not_our_fault(
    api: Api, store: Store
) -> None:
    resource, project = await api.resource(), await api.project()
    await api.assignment(resource, project, "2024-01-10", "2024-01-12")
    for depth in (20, 60, 100, 400):
        query = "{ team { resources { " + "assignments { resource { " * depth + "id"
        query += " } }" * depth + " } } }"
        answer = await api.run(query)
        codes = {error["extensions"]["code"] for error in answer.get("errors", [])}
        assert codes <= {"LIMIT_EXCEEDED", "BAD_USER_INPUT"}, (depth, answer)
    assert await api.data("{ team { resources { id } } }")
