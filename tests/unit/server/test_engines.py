import asyncio
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path

import aioboto3
import pytest
from types_aiobotocore_dynamodb import DynamoDBClient

from server import engines
from server.engines import (
    DUMMY_CREDENTIALS,
    EngineMissing,
    dynamodb_local,
    embedded,
    find_java,
)
from tests.engines import ENGINES, HOME, require, require_engine, running

TABLE = "engines"


@pytest.fixture(scope="module", params=ENGINES)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each engine in turn."""
    with running(request.param) as url:
        yield url


@asynccontextmanager
async def client_of(url: str) -> AsyncIterator[DynamoDBClient]:
    session = aioboto3.Session()
    async with session.client("dynamodb", endpoint_url=url, **DUMMY_CREDENTIALS) as client:
        yield client


async def create_table(client: DynamoDBClient) -> None:
    await client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
    )


async def put_once(client: DynamoDBClient, sk: str) -> bool:
    """Whether this was the one that created the item."""
    try:
        await client.put_item(
            TableName=TABLE,
            Item={"pk": {"S": "A"}, "sk": {"S": sk}},
            ConditionExpression="attribute_not_exists(sk)",
        )
    except client.exceptions.ConditionalCheckFailedException:
        return False
    return True


async def stored(client: DynamoDBClient) -> list[str]:
    answer = await client.query(
        TableName=TABLE,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": "A"}},
    )
    return [item["sk"]["S"] for item in answer["Items"]]


def accepts(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=1).close()
    except OSError:
        return False
    return True


async def test_an_engine_serves_tables_conditions_and_transactions(url: str) -> None:
    async with client_of(url) as client:
        await create_table(client)
        created = await asyncio.gather(*(put_once(client, "1") for _ in range(20)))
        assert created.count(True) == 1
        await client.transact_write_items(
            TransactItems=[
                {
                    "ConditionCheck": {
                        "TableName": TABLE,
                        "Key": {"pk": {"S": "A"}, "sk": {"S": "1"}},
                        "ConditionExpression": "attribute_exists(sk)",
                    }
                },
                {"Put": {"TableName": TABLE, "Item": {"pk": {"S": "A"}, "sk": {"S": "2"}}}},
            ]
        )
        assert await stored(client) == ["1", "2"]


def test_an_engine_sends_no_header_twice(url: str) -> None:
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    with closing(connection):
        connection.request("POST", "/", b"{}", {"X-Amz-Target": "DynamoDB_20120810.ListTables"})
        sent = Counter(name.lower() for name, _ in connection.getresponse().getheaders())
    assert {"content-length", "date", "server"} <= sent.keys()
    assert set(sent.values()) == {1}


def test_an_engine_listens_on_one_loopback_address_only(url: str) -> None:
    port = int(url.rpartition(":")[2])
    assert url == f"http://127.0.0.1:{port}"
    assert accepts("127.0.0.1", port)
    # On Linux every 127.x.x.x is this machine: a wildcard socket would answer at this one.
    assert not accepts("127.0.0.2", port)
    assert not accepts("::1", port)


def test_an_engine_lets_no_web_page_in(url: str) -> None:
    port = int(url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(
            b"OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\n"
            b"Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n"
        )
        answer = b"".join(iter(lambda: connection.recv(4096), b"")).lower()
    assert answer.startswith(b"http/1.1 ")
    assert b"access-control-allow-origin: *" not in answer
    assert b"access-control-allow-origin: http://evil" not in answer


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_ends_with_its_context(name: str) -> None:
    with running(name) as url:
        port = int(url.rpartition(":")[2])
        assert accepts("127.0.0.1", port)
    assert not accepts("127.0.0.1", port)


PARENTS = {
    "embedded": "embedded()",
    "local": f"dynamodb_local(Path({str(HOME)!r}), data_dir=None)",
}


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("name", PARENTS)
def test_an_engine_dies_when_its_parent_is_killed(name: str) -> None:
    require_engine(name)
    code = (
        "import time; from pathlib import Path; from server.engines import *\n"
        f"with {PARENTS[name]} as url: print(url, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        port = int(parent.stdout.readline().strip().rpartition(":")[2])
        assert accepts("127.0.0.1", port)
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while accepts("127.0.0.1", port):
        assert time.monotonic() < deadline, "the engine outlived its parent"
        time.sleep(0.05)


async def test_dynamodb_local_keeps_its_data_in_a_folder(tmp_path: Path) -> None:
    require_engine("local")
    for expected in ([], ["kept"]):
        with dynamodb_local(HOME, data_dir=tmp_path / "data") as url:
            async with client_of(url) as client:
                if not expected:
                    await create_table(client)
                assert await stored(client) == expected
                await put_once(client, "kept")


async def test_dynamodb_local_is_one_for_all_who_want_its_folder(tmp_path: Path) -> None:
    require_engine("local")
    with dynamodb_local(HOME, data_dir=tmp_path) as url, ExitStack() as command:
        assert command.enter_context(dynamodb_local(HOME, data_dir=tmp_path)) == url
        async with client_of(url) as client:
            await create_table(client)
            command.close()
            await put_once(client, "after it left")
            assert await stored(client) == ["after it left"]
    assert not accepts("127.0.0.1", int(url.rpartition(":")[2]))


def test_embedded_is_ready_within_three_seconds() -> None:
    started = time.monotonic()
    with embedded():
        assert time.monotonic() - started < 3


def test_without_moto_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_importable", lambda name: name != "moto")
    with pytest.raises(EngineMissing, match=r"needs moto: pip install '\.\[emb"):
        embedded().__enter__()


@pytest.mark.skipif(os.name == "nt", reason="the pretended Java is a shell script")
@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo 'Unrecognized option: --list-modules' >&2; exit 1", "older, or not really there"),
        ("echo java.base@11.0.2; echo jdk.compiler@11.0.2", "is Java 11"),
        ("echo java.base@21.0.1; echo java.sql@21.0.1", "runtime without the compiler"),
    ],
)
def test_a_java_that_does_not_do_is_named(
    script: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineMissing, match=f"{told}.*install a JDK"):
        find_java()


def test_without_java_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineMissing, match="not installed: install a JDK, 17 or newer"):
        dynamodb_local(tmp_path, data_dir=None).__enter__()


def test_what_is_missing_is_skipped_here_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no such thing"):
        require(False, "no such thing")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="CI must have this: no such thing"):
        require(False, "no such thing")
