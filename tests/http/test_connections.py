"""Over a socket: whatever was refused, the next request on the connection is answered; and where
that can't be, the connection says so and ends (S-11, S-13)."""

import asyncio
import gzip
import json
from dataclasses import dataclass
from urllib.parse import quote

import pytest

from data.store import Store
from server.bodies import MAX_DISCARDED_BYTES
from server.protocol import MAX_HEAD_BYTES
from tests.api.http import GRAPHQL, MUTATION, QUERY
from tests.api.samples import nothing_written
from tests.api_client import token
from tests.live import Answer, Connection

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
    varying = {"date"}
    assert [each for each in bare.headers if each[0] not in varying] == [
        each for each in whole.headers if each[0] not in varying
    ]
    assert await connection.is_open()


# Bodies that are not read


async def test_a_body_announced_as_too_large_is_refused_before_it_is_sent(
    connection: Connection,
) -> None:
    size = MAX_DISCARDED_BYTES
    await connection.send(head("POST", "/graphql", {**JSON_BODY, "Content-Length": str(size)}))
    answer = await connection.receive()
    assert "1000000 bytes" in refused(answer, 413)
    assert answer.header("connection") is None
    # What comes of it all the same is thrown away.
    for _ in range(size // 100_000):
        await connection.send(b"x" * 100_000)
    assert await connection.is_open()


async def test_the_connection_ends_where_too_much_of_a_refused_body_would_follow(
    connection: Connection,
) -> None:
    size = str(MAX_DISCARDED_BYTES + 1)
    await connection.send(head("POST", "/graphql", {**JSON_BODY, "Content-Length": size}))
    answer = await connection.receive()
    refused(answer, 413)
    assert answer.header("connection") == "close"
    assert await connection.is_closed()


async def test_chunks_over_the_cap_are_refused_and_end_the_connection(
    connection: Connection,
) -> None:
    start = head("POST", "/graphql", {**JSON_BODY, "Transfer-Encoding": "chunked"})
    connection.write(start + b"".join(b"186a0\r\n" + b"x" * 100_000 + b"\r\n" for _ in range(11)))
    answer = await connection.receive()
    refused(answer, 413)
    assert answer.header("connection") == "close"
    assert await connection.is_closed()


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"Authorization": "Bearer x"}, 401, "UNAUTHENTICATED"),
        ({"Content-Type": "text/plain"}, 415, "BAD_USER_INPUT"),
        ({"Origin": "https://evil.example"}, 403, "FORBIDDEN"),
    ],
)
async def test_a_large_body_ends_the_connection_whatever_it_is_refused_for(
    connection: Connection, change: dict[str, str], status: int, code: str
) -> None:
    headers = {**JSON_BODY, **change, "Content-Length": "1000000000"}
    await connection.send(head("POST", "/graphql", headers))
    answer = await connection.receive()
    refused(answer, status, code)
    assert answer.header("connection") == "close"
    assert await connection.is_closed()


# What is no HTTP, or no end


@pytest.mark.parametrize(
    "start",
    [
        post(enveloped(), Content_Length="100000")[:-10],
        chunked(enveloped())[:-7],
        post(enveloped())[:40],
    ],
    ids=["Content-Length", "chunks", "head"],
)
async def test_a_request_that_breaks_off_writes_nothing_and_harms_nobody(
    url: str, store: Store, start: bytes
) -> None:
    async with nothing_written(store, TEAM):
        broken = await Connection.to(url)
        await broken.send(start)
        broken.end()
        assert await broken.is_closed()
        broken.close()
    after = await Connection.to(url)
    assert await after.is_open()
    after.close()


async def test_a_content_length_that_is_too_small_cuts_the_body_and_ends_the_connection(
    connection: Connection, store: Store
) -> None:
    async with nothing_written(store, TEAM):
        await connection.send(post(enveloped(), Content_Length="10"))
        refused(await connection.receive(), 400)
        assert await connection.is_closed()


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"GET\r\n\r\n",
        b"get / HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
        post(enveloped(), Content_Length="x"),
        post(enveloped(), Content_Length="-1"),
        post(enveloped(), Transfer_Encoding="chunked"),
        post(enveloped(), Content_Length="5\r\nContent-Length: 6"),
    ],
    ids=range(10),
)
async def test_what_is_no_http_is_400_and_the_end(
    connection: Connection, store: Store, garbage: bytes
) -> None:
    async with nothing_written(store, TEAM):
        await connection.send(garbage)
        answer = await connection.receive()
        refused(answer, 400)
        assert answer.header("connection") == "close"
        assert await connection.is_closed()


HUGE = MAX_HEAD_BYTES + 40_000


@pytest.mark.parametrize(
    "start",
    [
        head("GET", "/healthz", {"Host": "x", "X-Large": "x" * HUGE}),
        head("GET", "/healthz", {"Host": "x", "X-Large": "x" * HUGE})[:-10],
        head("GET", "/healthz", {f"X-{number}": "x" * 90 for number in range(1_000)}),
        head("GET", "/healthz?" + "x" * HUGE, {"Host": "x"}),
    ],
    ids=["one header", "one without an end", "many headers", "the URL"],
)
async def test_a_head_over_the_bound_is_431(connection: Connection, start: bytes) -> None:
    connection.write(start)
    answer = await connection.receive()
    refused(answer, 431)
    assert answer.header("connection") == "close"
    assert await connection.is_closed()


async def test_heads_below_the_bound_are_taken_however_many_follow(
    connection: Connection,
) -> None:
    for _ in range(3):
        await connection.send(head("GET", "/healthz", {"Host": "x", "X-Large": "x" * 60_000}))
        assert (await connection.receive()).status == 200


async def test_a_head_in_many_pieces_is_one_head(connection: Connection) -> None:
    for byte in head("GET", "/healthz", {"Host": "x"}):
        await connection.send(bytes([byte]))
        await asyncio.sleep(0)
    assert (await connection.receive()).status == 200
