"""The guards that keep the tests off AWS (tests/isolation.py) are themselves not blind (B-05)."""

import socket
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest
from aiobotocore.session import get_session

from data.administration import describe_table
from data.opening import open_store
from data.store import STORE_ERRORS
from tests.isolation import DUMMIES, NOWHERE, ReachedOut, forget_aws, on_loopback_only

ELSEWHERE = "192.0.2.1"
"""An address of no machine (RFC 5737)."""

PROFILE = """[default]
aws_access_key_id = REAL
aws_secret_access_key = REAL
region = eu-central-1
[profile real]
"""


@pytest.fixture
def a_machine_with_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All the ways by which boto may find real credentials and a real endpoint, then the guard."""
    (tmp_path / ".aws").mkdir()
    for name in ("config", "credentials"):
        (tmp_path / ".aws" / name).write_text(PROFILE)
    hostile = {
        "HOME": str(tmp_path),
        "AWS_PROFILE": "real",
        "AWS_DEFAULT_PROFILE": "real",
        "AWS_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "REAL",
        "AWS_SECRET_ACCESS_KEY": "REAL",
        "AWS_SESSION_TOKEN": "REAL",
        "AWS_ENDPOINT_URL_DYNAMODB": "https://dynamodb.eu-central-1.amazonaws.com",
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
        "AWS_EC2_METADATA_DISABLED": "false",
        "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/real",
        "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"),
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.2/",
    }
    for name in DUMMIES:
        monkeypatch.delenv(name)
    for name, value in hostile.items():
        monkeypatch.setenv(name, value)
    forget_aws(monkeypatch)


@pytest.mark.usefixtures("a_machine_with_aws")
async def test_boto_finds_dummies_and_no_endpoint_of_aws_whatever_the_machine_has() -> None:
    await finds_dummies()


async def test_boto_finds_dummies_and_no_endpoint_of_aws_in_any_test() -> None:
    await finds_dummies()


async def finds_dummies() -> None:
    session = get_session()
    credentials = await session.get_credentials()
    assert credentials is not None
    frozen = await credentials.get_frozen_credentials()
    assert (frozen.access_key, frozen.secret_key, frozen.token) == ("dummy", "dummy", None)
    assert credentials.method == "env"
    assert session.available_profiles == []
    async with open_store("planner") as store:
        assert store.client.meta.endpoint_url == NOWHERE
        assert store.client.meta.region_name == "us-east-1"


async def test_without_dummies_no_metadata_service_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    assert await get_session().get_credentials() is None


def send_datagram(host: str) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        datagrams.sendto(b"?", (host, 53))


@pytest.mark.parametrize(
    "go",
    [
        lambda: socket.create_connection((ELSEWHERE, 80), timeout=1),
        lambda: socket.create_connection(("dynamodb.us-east-1.amazonaws.com", 443), timeout=1),
        lambda: socket.getaddrinfo("planner.example", 443),
        lambda: socket.gethostbyname("planner.example"),
        lambda: send_datagram(ELSEWHERE),
    ],
    ids=["address", "AWS", "look-up", "old look-up", "datagram"],
)
def test_another_machine_is_out_of_reach(go: Callable[[], object]) -> None:
    with on_loopback_only() as reached, pytest.raises(ReachedOut):
        go()
    assert len(reached) == 1


async def test_the_session_hears_of_it_even_if_it_looks_like_an_outage() -> None:
    with on_loopback_only() as reached:
        async with open_store("planner", endpoint_url=f"http://{ELSEWHERE}") as store:
            with pytest.raises(STORE_ERRORS):
                await describe_table(store)
    assert reached == [f"socket.connect {ELSEWHERE}"]


async def test_this_machine_is_in_reach(engine: str) -> None:
    with on_loopback_only() as reached:
        async with aiohttp.ClientSession() as client, client.get(engine) as answer:
            assert answer.status
        async with open_store("planner", endpoint_url=engine) as store:
            assert await describe_table(store) is None
    assert reached == []


async def test_a_client_without_an_endpoint_goes_where_nobody_is() -> None:
    async with open_store("planner") as store:
        with pytest.raises(STORE_ERRORS, match=NOWHERE):
            await describe_table(store)
