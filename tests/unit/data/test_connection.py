"""What a connection makes of the bytes that come, however the network cuts them."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.connection import TICKS, Answer, Connection, Disconnected, ReadTimeout
from data.endpoint import endpoint_of

ENDPOINT: Final = endpoint_of("http://store.example", "us-east-1")
PLAIN: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Wire(asyncio.Transport):
    """Remembers what was sent, and ends the connection in its own time."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.aborted = False

    def write(self, data: Any) -> None:
        self.sent += data

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted


class Owner:
    idle_timeout = 3.0

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def unusable(self, connection: Connection) -> None:
        assert not connection.usable

    def lost(self, connection: Connection) -> None:
        assert not connection.usable


class Talk:
    """A connection that has just asked, on a loop that stands still."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.wire = Wire()
        self.owner = Owner(self.loop)
        self.connection = Connection(self.owner, ENDPOINT)
        self.connection.connection_made(self.wire)
        self.answer = self.connection.ask(b"request")

    def __enter__(self) -> "Talk":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.connection_lost(None)
        if self.answer.done():
            self.answer.exception()
        self.loop.close()

    def hears(self, *parts: bytes) -> None:
        for part in parts:
            # A transport that was aborted brings nothing more.
            if not self.wire.aborted:
                self.connection.data_received(part)

    @property
    def is_over(self) -> bool:
        return not self.connection.usable and self.wire.aborted


bodies = st.binary(max_size=40)


@st.composite
def wholes(draw: st.DrawFn) -> tuple[bytes, Answer]:
    """An answer as bytes, and as it is to be read."""
    interim = draw(st.sampled_from([b"", b"HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n"]))
    status = draw(st.sampled_from([200, 400, 413, 500, 503]))
    head = f"HTTP/1.1 {status} Whatever\r\nX-Amzn-RequestId: ABC\r\n".encode()
    if draw(st.booleans()):
        body = draw(bodies)
        length = str(len(body))
        data = head + f"Content-Length: {length}\r\n\r\n".encode() + body
        framing = {"content-length": length}
    else:
        chunks = draw(st.lists(st.binary(min_size=1, max_size=12), max_size=4))
        body = b"".join(chunks)
        coded = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
        trailer = draw(st.sampled_from([b"", b"X-Amzn-RequestId: other\r\n"]))
        data = head + b"Transfer-Encoding: chunked\r\n\r\n" + coded + b"0\r\n" + trailer + b"\r\n"
        framing = {"transfer-encoding": "chunked"}
    return interim + data, Answer(status, {"x-amzn-requestid": "ABC", **framing}, body)


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    marks = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(marks)]


places = st.lists(st.integers(min_value=0), max_size=12)


@given(wholes(), places, wholes())
def test_an_answer_is_the_same_however_it_is_cut(
    first: tuple[bytes, Answer], where: list[int], second: tuple[bytes, Answer]
) -> None:
    with Talk() as talk:
        for data, answer in (first, second):
            talk.hears(*cut(data, where))
            assert talk.answer.result() == answer
            assert talk.connection.usable
            talk.answer = talk.connection.ask(b"once more")
        assert talk.wire.sent == b"requestonce moreonce more"


@given(wholes())
def test_an_answer_may_come_byte_by_byte(whole: tuple[bytes, Answer]) -> None:
    data, answer = whole
    with Talk() as talk:
        talk.hears(*(bytes([byte]) for byte in data))
        assert talk.answer.result() == answer
        assert talk.connection.usable


blank = frozenset(b"\r\n")
rests = st.binary(min_size=1, max_size=30).filter(lambda rest: not blank.issuperset(rest))


@given(wholes(), places, st.one_of(rests, st.just(PLAIN), st.just(b"H")))
def test_after_more_than_was_asked_for_it_is_over(
    whole: tuple[bytes, Answer], where: list[int], rest: bytes
) -> None:
    data, answer = whole
    with Talk() as talk:
        talk.hears(*cut(data + rest, where))
        assert talk.answer.result() == answer
        assert talk.is_over


@given(wholes(), places, st.integers(min_value=0))
def test_part_of_an_answer_is_none(
    whole: tuple[bytes, Answer], where: list[int], length: int
) -> None:
    data, _ = whole
    with Talk() as talk:
        talk.hears(*cut(data[: length % len(data)], where))
        talk.connection.eof_received()
        talk.connection.connection_lost(None)
        assert isinstance(talk.answer.exception(), Disconnected)
        assert not talk.connection.usable


@given(bodies, places)
def test_without_a_length_the_end_of_the_connection_is_that_of_the_answer(
    body: bytes, where: list[int]
) -> None:
    with Talk() as talk:
        talk.hears(*cut(b"HTTP/1.1 502 Bad Gateway\r\n\r\n" + body, where))
        assert not talk.answer.done()
        talk.connection.eof_received()
        assert talk.answer.result() == Answer(502, {}, body)
        assert not talk.connection.usable


@pytest.mark.parametrize(
    "data",
    [
        b"hello",
        b"HTTP/1.1 banana\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    ],
)
def test_what_is_no_answer_ends_the_connection(data: bytes) -> None:
    with Talk() as talk:
        talk.hears(data)
        assert isinstance(talk.answer.exception(), Disconnected)
        assert talk.is_over


@pytest.mark.parametrize(
    "data",
    [PLAIN.replace(b"\r\n", b"\r\nConnection: close\r\n", 1), PLAIN.replace(b"1.1", b"1.0", 1)],
    ids=["Connection: close", "HTTP/1.0"],
)
def test_a_connection_that_is_to_be_closed_gives_its_answer_and_is(data: bytes) -> None:
    with Talk() as talk:
        talk.hears(data)
        assert talk.answer.result().body == b"{}"
        assert talk.is_over


@pytest.mark.parametrize("head", [b"Content-Length: 20000000\r\n\r\n", b""])
def test_an_answer_without_bounds_ends_the_connection(head: bytes) -> None:
    with Talk() as talk:
        talk.hears(b"HTTP/1.1 200 OK\r\n" + head)
        part = (b"x" if head else b"X: y\r\n") * 100_000
        for _ in range(200):
            talk.hears(part)
        assert isinstance(talk.answer.exception(), Disconnected)
        assert talk.is_over


def test_an_answer_that_nobody_asked_for_ends_the_connection() -> None:
    with Talk() as talk:
        talk.hears(PLAIN)
        assert talk.connection.usable
        talk.hears(PLAIN)
        assert talk.is_over


def test_an_idle_connection_keeps_no_answer() -> None:
    with Talk() as talk:
        talk.hears(PLAIN)
        kept = [getattr(talk.connection, name) for name in ("_parser", "_answer", "_body")]
        assert kept == [None, None, []]


def test_only_silence_counts_against_an_answer() -> None:
    with Talk() as talk:
        for byte in PLAIN[:-1]:
            for _ in range(TICKS):
                talk.connection.tick(1.0)
            talk.hears(bytes([byte]))
        assert not talk.answer.done()
        for _ in range(TICKS + 1):
            assert not talk.answer.done()
            talk.connection.tick(1.0)
        assert isinstance(talk.answer.exception(), ReadTimeout)
        assert talk.is_over


def test_the_time_that_a_connection_was_idle_does_not_count_against_an_answer() -> None:
    with Talk() as talk:
        talk.hears(PLAIN)
        for _ in range(TICKS):
            talk.connection.tick(0.1)
        talk.answer = talk.connection.ask(b"once more")
        for _ in range(TICKS):
            talk.connection.tick(0.1)
        assert not talk.answer.done()


def test_an_idle_connection_is_closed_after_its_time_and_not_by_that_of_answers() -> None:
    with Talk() as talk:
        talk.hears(PLAIN)
        for _ in range(10):
            talk.connection.tick(0.3)
        assert talk.connection.usable
        talk.connection.tick(0.3)
        assert talk.is_over


@pytest.mark.parametrize("knows", [False, True])
def test_a_request_on_a_connection_that_has_ended_fails(knows: bool) -> None:
    """Also where the transport has failed, and is yet to say so."""
    with Talk() as talk:
        talk.hears(PLAIN)
        if knows:
            talk.connection.connection_lost(None)
        else:
            talk.wire.abort()
        talk.answer = talk.connection.ask(b"late")
        assert isinstance(talk.answer.exception(), Disconnected)
        assert talk.wire.sent == b"request"
