"""Over a socket: where the next request can't be answered after a refusal, the connection says so
and ends; and nothing that is sent is kept without a bound (S-11)."""

import asyncio

import pytest

from data.store import Store
from server.bodies import MAX_DISCARDED_BYTES
from server.protocol import MAX_HEAD_BYTES
from tests.api.samples import nothing_written
from tests.http.wire import JSON_BODY, TEAM, chunked, enveloped, head, post, refused
from tests.live import Connection

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


@pytest.mark.parametrize("hosts", [(), ("planner.test", "evil.test")], ids=["none", "two"])
async def test_a_request_has_one_host(connection: Connection, hosts: tuple[str, ...]) -> None:
    """RFC 9112 §3.2."""
    lines = ["GET /healthz HTTP/1.1", *(f"Host: {host}" for host in hosts)]
    await connection.send(("\r\n".join(lines) + "\r\n\r\n").encode())
    refused(await connection.receive(), 400)


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


READ = chunked(enveloped(query="{ viewer { id } }"))


async def test_trailers_are_read_over(connection: Connection) -> None:
    """RFC 9110 §6.5: whoever understands none may drop them."""
    await connection.send(READ[:-2] + b"Authorization: Bearer x\r\n\r\n")
    answer = await connection.receive()
    assert answer.json() == {"data": {"viewer": {"id": "user-1"}}}
    assert await connection.is_open()


@pytest.mark.parametrize(
    "trailers",
    [b"X-Large: " + b"x" * 1_000_000, (b"X-Many: " + b"x" * 90 + b"\r\n") * 1_100],
    ids=["one without an end", "many"],
)
async def test_trailers_over_the_bound_end_the_connection(
    connection: Connection, store: Store, trailers: bytes
) -> None:
    async with nothing_written(store, TEAM):
        connection.write(chunked(enveloped())[:-2] + trailers)
        refused(await connection.receive(), 431)
        assert await connection.is_closed()


@pytest.mark.parametrize(
    "next",
    [head("GET", "/healthz", {"Host": "x", "X-Large": "x" * HUGE}), b"GARBAGE\r\n\r\n"],
    ids=["a large head", "garbage"],
)
async def test_what_is_refused_does_not_overtake_the_answer_before_it(
    connection: Connection, next: bytes
) -> None:
    """RFC 9112 §9.3.2. What comes in once the answer is out is refused by an answer of its own."""
    connection.write(post(enveloped(query="{ viewer { id } }")) + next)
    answer = await connection.receive()
    assert answer.json() == {"data": {"viewer": {"id": "user-1"}}}
    rest = await connection.rest()
    assert rest == b"" or rest.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 ")), rest
