"""Over a socket: whatever was refused, the next request on the connection is answered (S-11,
S-13)."""

import gzip
import json
from dataclasses import dataclass
from urllib.parse import quote

import pytest

from data.store import Store
from tests.api.http import GRAPHQL, MUTATION, QUERY
from tests.api.samples import nothing_written
from tests.http.wire import BEARER, TEAM, chunked, enveloped, get, head, post, refused
from tests.live import Connection


@dataclass(frozen=True)
class Bad:
    """A request, the status that it gets, and what the message must say."""

    request: bytes
    status: int = 400
    says: str = ""


OBJECT = "must be an object"
WRONG_TYPES: dict[str, tuple[object, ...]] = {
    "query": (None, 1, True, [], {}, [QUERY], "", " \n"),
    "variables": ("{}", 1, False, [], [{}]),
    "operationName": (1, False, [], {}),
    "extensions": ("{}", 1, True, []),
}
NOT_JSON = {
    "nothing": b"",
    "whitespace": b" \r\n\t",
    "half an object": b'{"query": "{ team',
    "something after it": enveloped() + b"x",
    "two of them": enveloped() + enveloped(),
    "single quotes": b"{'query': '{ team { name } }'}",
    "a comment": b"/* */" + enveloped(),
    "a trailing comma": enveloped()[:-1] + b",}",
    "NaN": enveloped(variables={"a": float("nan")}),
    "Infinity": enveloped(variables={"a": float("inf")}),
    "a number of 5,000 digits": enveloped()[:-1] + b', "variables": {"a": ' + b"9" * 5_000 + b"}}",
    "a byte order mark": b"\xef\xbb\xbf" + enveloped(),
    "UTF-16": enveloped().decode().encode("utf-16"),
    "bytes that are no UTF-8": enveloped()[:-1] + b', "x": "\xff\xfe"}',
    "a surrogate in UTF-8": enveloped()[:-1] + b', "x": "\xed\xa0\x80"}',
    "100,000 arrays": b"[" * 100_000 + b"]" * 100_000,
    "50,000 objects": b'{"query":' * 50_000 + b"1" + b"}" * 50_000,
}
NOT_AN_OBJECT = {
    "a string": json.dumps(QUERY).encode(),
    "a number": b"1e5",
    "null": b"null",
    "true": b"true",
    "an empty batch": b"[]",
    "a batch of one": b"[" + enveloped() + b"]",
    "a batch of 1,000": b"[" + b",".join([enveloped()] * 1_000) + b"]",
}
TWICE = "twice"
TWO_NAMES = quote('{"a": 1, "a": 2}')
BAD: dict[str, Bad] = {
    **{
        f"{member} is {json.dumps(value)}": Bad(post(enveloped(**{member: value})), says=member)
        for member, values in WRONG_TYPES.items()
        for value in values
    },
    **{what: Bad(post(body), says="JSON") for what, body in NOT_JSON.items()},
    **{what: Bad(post(body), says="") for what, body in NOT_AN_OBJECT.items()},
    "variables as JSON in a string": Bad(post(enveloped(variables='{"a": 1}')), says=OBJECT),
    "a query twice": Bad(post(b'{"query": "{ viewer { id } }", ' + enveloped()[1:]), says=TWICE),
    "a variable twice": Bad(
        post(enveloped()[:-1] + b', "variables": {"a": 1, "a": 2}}'), says=TWICE
    ),
    "an empty object": Bad(post(b"{}"), says="query"),
    "a lone surrogate in the query": Bad(
        post(b'{"query": "{ team { name } } #\\ud800"}', Accept=GRAPHQL), says="surrogate"
    ),
    "a lone surrogate as operation": Bad(
        post(enveloped(operationName="\ud800"), Accept=GRAPHQL), says="operation"
    ),
    "two operations and no name": Bad(
        post(enveloped(query=f"query A {QUERY} query B {QUERY}"), Accept=GRAPHQL),
        says="operation",
    ),
    "an operation that is not there": Bad(
        post(enveloped(operationName="C"), Accept=GRAPHQL), says="operation"
    ),
    "a document that is none": Bad(post(enveloped(query="{"), Accept=GRAPHQL), says="Syntax"),
    "compressed": Bad(
        post(gzip.compress(enveloped()), Content_Encoding="gzip"), 415, says="uncompressed"
    ),
    "called compressed": Bad(post(enveloped(), Content_Encoding="br"), 415, says="uncompressed"),
    "chunks of no JSON": Bad(chunked(b"{", b'"query"'), says="JSON"),
    "two content types": Bad(
        post(enveloped(), Content_Type="application/json\r\nContent-Type: text/plain"), 415
    ),
    "nothing acceptable": Bad(post(enveloped(), Accept="text/html"), 406, says=GRAPHQL),
    "an address that is none": Bad(head("GET", "/nowhere", BEARER), 404),
    "an address with a slash": Bad(head("GET", "/graphql/", BEARER), 404),
    "an asset without a playground": Bad(head("GET", "/graphql/assets/x.js", BEARER), 404),
    "an address that is not UTF-8": Bad(head("GET", "/%ff%fe", BEARER), 404),
    "GET without a query": Bad(get(""), says="query"),
    "GET with two queries": Bad(get(f"query={quote(QUERY)}&query={quote(MUTATION)}"), says=TWICE),
    "GET with two sets of variables": Bad(
        get(f"query={quote(QUERY)}&variables={{}}&variables={{}}"), says=TWICE
    ),
    "GET with variables in a string": Bad(
        get(f"query={quote(QUERY)}&variables={quote(json.dumps('{}'))}"), says=OBJECT
    ),
    "GET with broken variables": Bad(get(f"query={quote(QUERY)}&variables={{"), says="JSON"),
    "GET with a name twice in variables": Bad(
        get(f"query={quote(QUERY)}&variables={TWO_NAMES}"), says=TWICE
    ),
    "GET of a mutation": Bad(get(f"query={quote(MUTATION)}"), 405),
    "PUT": Bad(post(enveloped()).replace(b"POST", b"PUT"), 405),
    "DELETE": Bad(post(enveloped()).replace(b"POST", b"DELETE"), 405),
    "PATCH": Bad(post(enveloped()).replace(b"POST", b"PATCH"), 405),
    "OPTIONS": Bad(head("OPTIONS", "/graphql", BEARER), 405),
    "OPTIONS of everything": Bad(head("OPTIONS", "*", BEARER), 404),
    "TRACE": Bad(head("TRACE", "/graphql", BEARER), 405),
    "PROPFIND": Bad(head("PROPFIND", "/graphql", BEARER), 405),
    "POST to the health check": Bad(post(b"").replace(b"/graphql", b"/healthz"), 405),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_what_is_refused_leaves_the_connection_as_it_was(
    connection: Connection, store: Store, bad: Bad
) -> None:
    """S-11: JSON with `errors`, nothing written, and the next request is answered."""
    async with nothing_written(store, TEAM):
        await connection.send(bad.request)
        answer = await connection.receive()
    assert bad.says.lower() in refused(answer, bad.status).lower()
    assert (answer.header("allow") is not None) == (bad.status == 405)
    assert answer.header("connection") is None
    assert await connection.is_open()


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 4_000, "0.1", "1e-400"])
async def test_a_number_that_is_out_of_range_is_the_clients_fault(
    connection: Connection, number: str
) -> None:
    query = "query($a: Int) { node(id: $a) { id } a: team { name @include(if: $a) } }"
    body = enveloped(query=query)[:-1] + f', "variables": {{"a": {number}}}}}'.encode()
    await connection.send(post(body, Accept=GRAPHQL))
    answer = await connection.receive()
    assert answer.status == 400
    assert {each["extensions"]["code"] for each in answer.json()["errors"]} == {"BAD_USER_INPUT"}
    assert await connection.is_open()


@pytest.mark.parametrize("place", ["value", "name of a field", "name of a variable"])
async def test_a_lone_surrogate_is_the_clients_fault_wherever_it_is(
    connection: Connection, store: Store, place: str
) -> None:
    """S-13: JSON may have it escaped; no answer is ever encoded from it."""
    query = """mutation($input: CreateResourceInput!) {
      createResource(input: $input) { errors { code } } }"""
    variables = {
        "value": {"input": {"name": "a\ud800"}},
        "name of a field": {"input": {"name": "Ada", "a\udfff": 1}},
        "name of a variable": {"\ud800": 1},
    }[place]
    async with nothing_written(store, TEAM):
        await connection.send(post(enveloped(query=query, variables=variables), Accept=GRAPHQL))
        answer = await connection.receive()
    if place == "value":
        # A form can send it, so it is told as what is wrong with a field.
        assert answer.json()["data"] == {"createResource": {"errors": [{"code": "INVALID"}]}}
    else:
        refused(answer, 400)
    assert await connection.is_open()


@pytest.mark.parametrize(
    "request_bytes",
    [
        post(enveloped(query=QUERY)),
        chunked(*(bytes([byte]) for byte in enveloped(query=QUERY))),
        post(enveloped(query=QUERY, variables=None, operationName=None, extensions={}, more=[1])),
        post(enveloped(query=QUERY), Content_Encoding="identity"),
        post(enveloped(query=QUERY), Expect="100-continue"),
        post(enveloped(query=QUERY)).replace(b"/graphql", b"/graphql?query=" + quote("x").encode()),
    ],
    ids=["whole", "in chunks", "nulls and more", "identity", "expecting", "the URL's is not used"],
)
async def test_what_is_well_formed_is_answered(
    connection: Connection, request_bytes: bytes
) -> None:
    await connection.send(request_bytes)
    answer = await connection.receive()
    if answer.status == 100:
        answer = await connection.receive()
    assert (answer.status, answer.json()) == (200, {"data": {"team": {"name": TEAM}}})
    assert await connection.is_open()


async def test_requests_sent_at_once_are_answered_in_their_order(connection: Connection) -> None:
    await connection.send(post(b"{") + get(f"query={quote(QUERY)}") + post(b"[]"))
    answers = [await connection.receive() for _ in range(3)]
    assert [answer.status for answer in answers] == [400, 200, 400]


@pytest.mark.parametrize(
    ("target", "status"),
    [(f"/graphql?query={quote(QUERY)}", 200), ("/graphql", 400), ("/healthz", 200), ("/no", 404)],
)
async def test_head_is_get_without_a_body(connection: Connection, target: str, status: int) -> None:
    """RFC 9110 §9.3.2."""
    await connection.send(head("GET", target, BEARER))
    whole = await connection.receive()
    await connection.send(head("HEAD", target, BEARER))
    bare = await connection.receive(head=True)
    assert (whole.status, bare.status) == (status, status)
    varying = {"date", "x-correlation-id"}
    assert [each for each in bare.headers if each[0] not in varying] == [
        each for each in whole.headers if each[0] not in varying
    ]
    assert await connection.is_open()
