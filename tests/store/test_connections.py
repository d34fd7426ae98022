"""The pool of connections, beside a server that does as it is told, on both event loops."""

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final

import pytest
import uvloop

from data.connection import Answer, Disconnected, ReadTimeout
from data.connections import Connections, ConnectTimeout
from data.endpoint import Endpoint, endpoint_of
from tests.store.certificates import certificate
from tests.store.stub import no_complaints

PATIENCE: Final = 20.0
"""Seconds after which what is waited for counts as never coming."""

LOOPS: Final[dict[str, Callable[[], asyncio.AbstractEventLoop]]] = {
    "asyncio": asyncio.SelectorEventLoop,
    "uvloop": uvloop.new_event_loop,
}

Test = Callable[[], Coroutine[Any, Any, None]]
OnLoop = Callable[[Test], None]


@pytest.fixture(params=LOOPS)
def on_loop(request: pytest.FixtureRequest) -> OnLoop:
    """Runs a test on a loop of its own, which nothing may complain about."""

    def run(test: Test) -> None:
        async def in_time() -> None:
            async with asyncio.timeout(PATIENCE):
                await test()

        with no_complaints(), asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            runner.run(in_time())

    return run


class Call:
    """A request that has come; `connection` says on which connection, counted from 1."""

    def __init__(self, connection: int, body: str, writer: asyncio.StreamWriter) -> None:
        self.connection, self.body, self._writer = connection, body, writer

    def answer(self, body: str, *, more: str = "") -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
        self._writer.write(f"{head}{body}{more}".encode())

    def close(self) -> None:
        self._writer.close()


class Server:
    """Answers nothing by itself."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[Call] = asyncio.Queue()
        self.ended: asyncio.Queue[int] = asyncio.Queue()
        self.connections = 0
        self.open = 0
        self.most = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        self.most = max(self.most, self.open)
        number = self.connections
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                body = (await reader.readexactly(length)).decode()
                self.calls.put_nowait(Call(number, body, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            self.ended.put_nowait(number)
            writer.close()


@asynccontextmanager
async def serving(
    host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, host, 0, ssl=tls)
    async with listening:
        address, port, *_ = listening.sockets[0].getsockname()
        name = f"[{address}]" if ":" in host else address
        server.url = f"{'https' if tls else 'http'}://{name}:{port}/"
        yield server
        # Each connection is ended by the pool; a server that is closed first would hide it.
        while server.open:
            await server.ended.get()


def pool(number: int = 2, trusts: Path | None = None, **times: Any) -> Any:
    limits = {"connect_timeout": 5.0, "read_timeout": 5.0, "idle_timeout": 12.0, **times}
    return aclosing(Connections(number, ssl.create_default_context(cafile=trusts), **limits))


def endpoint(url: str) -> Endpoint:
    return endpoint_of(url, "us-east-1")


def asks(connections: Connections, server: Server, body: str) -> asyncio.Task[Answer]:
    return asyncio.create_task(connections.post(endpoint(server.url), {"Host": "x"}, body.encode()))


async def refused(task: asyncio.Task[Answer], error: type[BaseException]) -> None:
    with pytest.raises(error):
        await task


async def cancelled(task: asyncio.Task[Answer]) -> None:
    task.cancel()
    await refused(task, asyncio.CancelledError)


def test_connections_are_used_again_and_the_last_one_first(on_loop: OnLoop) -> None:
    async def test() -> None:
        async with serving() as server, pool() as connections:
            first, second = asks(connections, server, "1"), asks(connections, server, "2")
            calls = [await server.calls.get(), await server.calls.get()]
            for call in calls:
                call.answer(call.body)
                await {"1": first, "2": second}[call.body]
            for number in range(3):
                third = asks(connections, server, "3")
                call = await server.calls.get()
                assert call.connection == calls[1].connection
                call.answer(f"{number}")
                assert (await third).body == f"{number}".encode()
            assert server.connections == 2

    on_loop(test)


def test_requests_beyond_the_pool_are_sent_in_turn(on_loop: OnLoop) -> None:
    async def test() -> None:
        async with serving() as server, pool(1) as connections:
            tasks = [asks(connections, server, f"{number}") for number in range(5)]
            for number, task in enumerate(tasks):
                call = await server.calls.get()
                assert call.body == f"{number}"
                assert connections.free == 0
                call.answer(call.body)
                assert (await task).body == call.body.encode()
            assert (connections.free, server.connections) == (1, 1)

    on_loop(test)


def test_a_cancelled_request_takes_its_connection_along_and_leaves_its_place(
    on_loop: OnLoop,
) -> None:
    async def test() -> None:
        async with serving() as server, pool(1) as connections:
            given_up, next_one = asks(connections, server, "1"), asks(connections, server, "2")
            await server.calls.get()
            await cancelled(given_up)
            call = await server.calls.get()
            assert (call.body, call.connection) == ("2", 2)
            assert await server.ended.get() == 1
            call.answer("of the second")
            assert (await next_one).body == b"of the second"
            assert connections.free == 1

    on_loop(test)


def test_a_request_that_is_cancelled_with_its_answer_there_leaves_its_place(
    on_loop: OnLoop,
) -> None:
    async def test() -> None:
        async with serving() as server, pool(1) as connections:
            given_up = asks(connections, server, "1")
            call = await server.calls.get()
            [connection] = connections.open
            connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await cancelled(given_up)
            call.close()
            assert (connections.free, connections.idle) == (1, [])

    on_loop(test)


@pytest.mark.parametrize("has_got_it", [False, True])
def test_a_request_that_is_cancelled_in_the_queue_leaves_its_turn_to_the_next(
    on_loop: OnLoop, has_got_it: bool
) -> None:
    async def test() -> None:
        async with serving() as server, pool(1) as connections:
            first, given_up, last = (asks(connections, server, f"{n}") for n in range(3))
            call = await server.calls.get()
            if has_got_it:
                # The first moves, and gives its place on; then comes this, before that has moved.
                [connection] = connections.open
                connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                asyncio.get_running_loop().call_soon(given_up.cancel)
                await refused(given_up, asyncio.CancelledError)
                assert first.done()
            else:
                await cancelled(given_up)
                call.answer("")
            call = await server.calls.get()
            assert call.body == "2"
            call.answer("")
            await asyncio.gather(first, last)
            assert (connections.free, server.connections) == (1, 1)

    on_loop(test)


def test_a_request_that_is_cancelled_while_it_connects_leaves_its_place(on_loop: OnLoop) -> None:
    async def test() -> None:
        async with serving() as server, pool(1) as connections:
            for turns in range(8):
                given_up = asks(connections, server, "")
                for _ in range(turns):
                    await asyncio.sleep(0)
                await cancelled(given_up)
                assert connections.free == 1
                while not server.calls.empty():
                    server.calls.get_nowait()
            last = asks(connections, server, "last")
            while (call := await server.calls.get()).body != "last":
                pass
            call.answer("")
            await last

    on_loop(test)


@pytest.mark.parametrize("more", ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", "bad", "H"])
def test_a_connection_that_said_more_than_its_answer_is_not_used_again(
    on_loop: OnLoop, more: str
) -> None:
    async def test() -> None:
        async with serving() as server, pool(1) as connections:
            for number in (1, 2):
                task = asks(connections, server, "")
                call = await server.calls.get()
                assert call.connection == number
                call.answer("good", more=more)
                assert (await task).body == b"good"
                assert (connections.free, connections.idle) == (1, [])

    on_loop(test)


def test_a_connection_that_the_server_closes_or_that_nobody_uses_is_forgotten(
    on_loop: OnLoop,
) -> None:
    async def test() -> None:
        async with (
            serving() as server,
            pool(1, read_timeout=0.5, idle_timeout=0.2) as connections,
        ):
            for number, server_closes in ((1, True), (2, False), (3, True)):
                task = asks(connections, server, "")
                call = await server.calls.get()
                assert call.connection == number
                call.answer("")
                await task
                if server_closes:
                    call.close()
                assert await server.ended.get() == number
                while connections.open:  # noqa: ASYNC110 (nobody tells)
                    await asyncio.sleep(0)
                assert connections.idle == []

    on_loop(test)


def test_no_connection_that_was_idle_while_the_process_was_stopped_is_used(on_loop: OnLoop) -> None:
    """Its loop has counted nothing meanwhile, and the other side may be long gone."""
    now = 1_000.0

    async def test() -> None:
        nonlocal now
        async with serving() as server, pool(2, clock=lambda: now) as connections:
            for seconds, expected in ((0.0, {1, 2}), (11.0, {1, 2}), (13.0, {3, 4})):
                now += seconds
                tasks = [asks(connections, server, ""), asks(connections, server, "")]
                calls = [await server.calls.get(), await server.calls.get()]
                assert {call.connection for call in calls} == expected
                for call in calls:
                    call.answer("")
                await asyncio.gather(*tasks)
            assert len(connections.open) == 2

    on_loop(test)


def test_a_connection_that_ends_under_a_request_fails_it_and_leaves_its_place(
    on_loop: OnLoop,
) -> None:
    async def test() -> None:
        async with serving() as server, pool(1) as connections:
            task = asks(connections, server, "")
            (await server.calls.get()).close()
            await refused(task, Disconnected)
            assert connections.free == 1

    on_loop(test)


def test_an_answer_that_does_not_come_in_time_fails_its_request(on_loop: OnLoop) -> None:
    async def test() -> None:
        async with serving() as server, pool(1, read_timeout=0.05) as connections:
            for _ in range(2):
                task = asks(connections, server, "")
                await server.calls.get()
                await refused(task, ReadTimeout)
                assert connections.free == 1

    on_loop(test)


def test_what_has_come_while_the_loop_was_busy_is_in_time(on_loop: OnLoop) -> None:
    """The one silent is ourselves: connection and answer are there when the time is over."""
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as listening,
        ThreadPoolExecutor(1) as thread,
    ):

        def serve() -> None:
            peer, _ = listening.accept()
            with peer:
                while peer.recv(1000):
                    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        async def test() -> None:
            loop = asyncio.get_running_loop()
            ours, theirs = socket.socketpair()
            with ours, theirs:
                theirs.send(b"x")
                # Nobody reads it, so that each turn of the loop takes four times the limit.
                loop.add_reader(ours, time.sleep, 0.2)
                async with pool(1, connect_timeout=0.05, read_timeout=0.05) as connections:
                    for _ in range(5):
                        assert (await connections.post(endpoint(url), {}, b"")).status == 200
                loop.remove_reader(ours)

        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        served = thread.submit(serve)
        on_loop(test)
        served.result(PATIENCE)


def test_a_server_that_never_says_hello_is_no_connection_in_time(on_loop: OnLoop) -> None:
    async def test() -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as silent:
            url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
            async with pool(1, connect_timeout=0.05) as connections:
                for _ in range(2):
                    with pytest.raises(ConnectTimeout):
                        await connections.post(endpoint(url), {}, b"")
                    assert connections.free == 1

    on_loop(test)


def test_an_idle_connection_to_elsewhere_makes_room(on_loop: OnLoop) -> None:
    async def test() -> None:
        async with serving() as here, serving() as there, pool(1) as connections:
            for server in (here, there, here):
                task = asks(connections, server, "")
                (await server.calls.get()).answer("")
                await task
                assert len(connections.idle) == 1
            assert (here.connections, there.connections) == (2, 1)

    on_loop(test)


def test_both_kinds_of_addresses_are_reached(on_loop: OnLoop) -> None:
    async def test() -> None:
        async with serving("::1") as server, pool() as connections:
            task = asks(connections, server, "")
            (await server.calls.get()).answer("six")
            assert (await task).body == b"six"

    on_loop(test)


def test_at_the_end_all_connections_are_closed_and_nobody_waits_for_good(on_loop: OnLoop) -> None:
    async def test() -> None:
        async with serving() as server:
            async with pool(2) as connections:
                tasks = [asks(connections, server, "") for _ in range(4)]
                (await server.calls.get()).answer("")
                await server.calls.get()
                await server.calls.get()
            assert connections.open == set()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert [type(result) for result in results].count(Disconnected) == 3
            await refused(asks(connections, server, ""), Disconnected)
            assert connections.free == 2

    on_loop(test)


def test_a_connection_that_is_being_opened_at_the_end_is_not_used(on_loop: OnLoop) -> None:
    async def test() -> None:
        async with serving() as server:
            async with pool(1) as connections:
                task = asks(connections, server, "")
                await asyncio.sleep(0)
                assert (connections.free, connections.open) == (0, set())
            await refused(task, Disconnected)
            assert (connections.free, connections.open) == (1, set())

    on_loop(test)


def test_all_of_it_holds_over_tls(on_loop: OnLoop, tmp_path: Path) -> None:
    file = tmp_path / "server.pem"
    file.write_bytes(certificate())
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(file)

    async def test() -> None:
        async with serving(tls=tls) as server:
            async with pool(1, file) as connections:
                for number in range(2):
                    task = asks(connections, server, "x" * 1_000_000)
                    call = await server.calls.get()
                    assert (call.connection, len(call.body)) == (1, 1_000_000)
                    call.answer(f"{number}" * 1_000_000)
                    assert (await task).body == f"{number}".encode() * 1_000_000
                task = asks(connections, server, "")
                await server.calls.get()
                await cancelled(task)
                assert await server.ended.get() == 1
                ending = asks(connections, server, "")
                (await server.calls.get()).close()
                await refused(ending, Disconnected)
                left = asks(connections, server, "")
                assert (await server.calls.get()).connection == 3
                assert connections.free == 0
            await refused(left, Disconnected)
            async with pool(1) as strangers:
                await refused(asks(strangers, server, ""), ssl.SSLCertVerificationError)
                assert (strangers.free, strangers.open) == (1, set())

    on_loop(test)


@pytest.mark.parametrize("header", ["a\r\nX-Other: b", "a\n", "\r"])
def test_a_header_that_breaks_its_line_is_not_sent(on_loop: OnLoop, header: str) -> None:
    async def test() -> None:
        async with serving() as server, pool(1) as connections:
            with pytest.raises(ValueError, match="breaks its line"):
                await connections.post(endpoint(server.url), {"X-Amz-Security-Token": header}, b"")
            assert (connections.free, server.connections) == (1, 0)

    on_loop(test)
