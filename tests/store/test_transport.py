"""Our own way to send a request does what boto's client does with it, on the wire and after it."""

import asyncio
import json
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import aioboto3
import botocore.auth
import pytest
from aiobotocore.awsrequest import AioAWSResponse
from aiohttp import ClientTimeout, web
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import ClientError, NoCredentialsError, SSLError

from data.errors import Unavailable
from data.expressions import s
from data.opening import open_store
from data.posting import Proxied
from data.store import Store
from server.engines import DUMMY_CREDENTIALS
from tests.store.certificates import certificate

KEY: Final = {"pk": s("TEAM#é"), "sk": s("META")}
REQUEST: Final[Mapping[str, Any]] = {"TableName": "planner", "Key": KEY, "ConsistentRead": True}


@dataclass
class Endpoint:
    """Gives every request the same answer; None is the end of the connection, or, while it
    `hangs`, nothing."""

    status: int = 200
    body: bytes | None = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: asyncio.Event | None = None
    url: str = ""
    received: list[tuple[web.BaseRequest, bytes]] = field(default_factory=list)

    def answers_like(self, other: "Endpoint") -> None:
        """From now on, and forgets what came."""
        self.status, self.body, self.headers = other.status, other.body, other.headers
        self.received.clear()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.received.append((request, await request.read()))
        if self.hangs:
            await self.hangs.wait()
        if self.body is None:
            assert request.transport
            request.transport.abort()
            return web.Response()
        return web.Response(status=self.status, body=self.body, headers=dict(self.headers))


@asynccontextmanager
async def serving(
    endpoint: Endpoint, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Endpoint]:
    runner = web.ServerRunner(web.Server(endpoint.answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        scheme = "https" if tls else "http"
        endpoint.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"
        yield endpoint
    finally:
        if endpoint.hangs:
            endpoint.hangs.set()
        await runner.cleanup()


def opened(url: str | None = None, **credentials: str) -> Any:
    """A store at that address, for one request at a time."""
    return open_store("planner", endpoint_url=url, credentials={**DUMMY_CREDENTIALS, **credentials})


Wired = tuple[Endpoint, Store]


@pytest.fixture(scope="module")
async def wired() -> AsyncIterator[Wired]:
    """An endpoint, and a store whose requests go there."""
    async with serving(Endpoint()) as endpoint, opened(endpoint.url) as store:
        yield endpoint, store


# What is sent


async def test_a_request_is_signed_json_and_asks_for_no_compression() -> None:
    async with (
        serving(Endpoint(body=b'{"Item":{}}')) as endpoint,
        opened(endpoint.url, aws_session_token="a token") as store,
    ):
        assert await store.transport.send("GetItem", REQUEST) == b'{"Item":{}}'
    [(request, body)] = endpoint.received
    assert (request.method, request.path_qs) == ("POST", "/")
    assert json.loads(body) == REQUEST
    assert request.headers["Host"] == endpoint.url.removeprefix("http://")
    assert request.headers["Content-Type"] == "application/x-amz-json-1.0"
    assert request.headers["Accept-Encoding"] == "identity"
    assert request.headers["X-Amz-Target"] == "DynamoDB_20120810.GetItem"
    assert request.headers["X-Amz-Security-Token"] == "a token"
    assert request.headers["User-Agent"].startswith("aiobotocore/")
    assert request.headers["Authorization"] == signature_of(request, endpoint.url, body)


def signature_of(request: web.BaseRequest, url: str, body: bytes) -> Any:
    """What botocore would have signed such a request with, at the time that it says."""
    names = ("Content-Type", "X-Amz-Target")
    signed = AWSRequest("POST", url, {name: request.headers[name] for name in names}, body)
    keys = ReadOnlyCredentials(
        DUMMY_CREDENTIALS["aws_access_key_id"],
        DUMMY_CREDENTIALS["aws_secret_access_key"],
        request.headers.get("X-Amz-Security-Token"),
        None,
    )
    sent = datetime.strptime(request.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - sent) < timedelta(minutes=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.auth, "get_current_datetime", lambda: sent)
        SigV4Auth(keys, "dynamodb", DUMMY_CREDENTIALS["region_name"]).add_auth(signed)
    return signed.headers["Authorization"]


class Frozen(NamedTuple):
    access_key: str
    secret_key: str
    token: str | None
    account_id: str | None


class Renewed:
    """Credentials that are others each time they are asked for; the third are of an account."""

    def __init__(self) -> None:
        self.given = 0

    async def get_frozen_credentials(self) -> Frozen:
        self.given += 1
        account = "123456789012" if self.given == 3 else None
        return Frozen(f"key-{self.given}", "secret", f"token-{self.given}", account)


async def test_every_request_asks_for_the_credentials_as_they_are() -> None:
    async with serving(Endpoint()) as endpoint, opened(endpoint.url) as store:
        store.transport._credentials = Renewed()
        for _ in range(2):
            await store.transport.send("GetItem", REQUEST)
    for number, (request, _) in enumerate(endpoint.received, 1):
        assert f"Credential=key-{number}/" in request.headers["Authorization"]
        assert request.headers["X-Amz-Security-Token"] == f"token-{number}"
    assert len(endpoint.received) == 2


async def test_without_credentials_nothing_is_sent() -> None:
    async with serving(Endpoint()) as endpoint, opened(endpoint.url) as store:
        store.transport._credentials = None
        with pytest.raises(NoCredentialsError):
            await store.transport.send("GetItem", REQUEST)
    assert endpoint.received == []


# Where it is sent

AWS: Final[dict[str, dict[str, str]]] = {
    "a region": {"AWS_DEFAULT_REGION": "eu-central-1"},
    "another partition": {"AWS_DEFAULT_REGION": "cn-north-1"},
    "FIPS": {"AWS_USE_FIPS_ENDPOINT": "true"},
    "dual stack": {"AWS_USE_DUALSTACK_ENDPOINT": "true"},
    "an account": {"AWS_ACCOUNT_ID": "123456789012"},
    "no endpoints of accounts": {
        "AWS_ACCOUNT_ID": "123456789012",
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
    },
    "an endpoint": {"AWS_ENDPOINT_URL_DYNAMODB": "https://vpce-1.example:444/base"},
}


@pytest.mark.parametrize("environment", AWS.values(), ids=AWS.keys())
async def test_it_goes_where_boto_would_send_it(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    sent: list[Any] = []

    async def keep(request: Any, **_: Any) -> AioAWSResponse:
        """Takes a request before it leaves, and answers it."""
        sent.append(request)
        headers: Any = {}
        return AioAWSResponse(request.url, 200, headers, Nothing())

    async with open_store("planner") as store:
        store.client.meta.events.register("before-send.dynamodb.GetItem", keep)  # type: ignore[arg-type]
        await store.client.get_item(TableName="planner", Key=KEY)
        monkeypatch.setattr(store.transport, "poster", Proxied(Sends(keep)))
        await store.transport.send("GetItem", REQUEST)
    theirs, ours = sent
    assert ours.url == theirs.url
    assert scope(ours) == scope(theirs)


class Nothing:
    async def read(self) -> bytes:
        return b"{}"


class Sends:
    def __init__(self, send: Callable[[Any], Any]) -> None:
        self.send = send


def scope(request: Any) -> str:
    """The region and service of a signature."""
    authorization = request.headers["Authorization"]
    text = authorization.decode() if isinstance(authorization, bytes) else authorization
    return str(text).split(",")[0].split("/", 2)[2]


async def test_where_it_goes_is_found_again_for_credentials_of_another_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    asked: list[str | None] = []
    async with open_store("planner") as store:
        transport: Any = store.transport
        resolve = transport._client._resolve_endpoint_ruleset

        async def noted(*arguments: Any) -> Any:
            asked.append("resolved")
            return await resolve(*arguments)

        async def keep(request: Any) -> AioAWSResponse:
            asked.append(request.url)
            headers: Any = {}
            return AioAWSResponse(request.url, 200, headers, Nothing())

        monkeypatch.setattr(transport._client, "_resolve_endpoint_ruleset", noted)
        monkeypatch.setattr(transport, "poster", Proxied(Sends(keep)))
        transport._credentials = Renewed()
        for _ in range(4):
            await transport.send("GetItem", REQUEST)
    url = "https://dynamodb.us-east-1.amazonaws.com/"
    assert asked == ["resolved", url, url, "resolved", url, "resolved", url]


async def test_it_goes_through_the_proxy_that_boto_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(Endpoint()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        async with opened("http://dynamodb.example") as store:
            assert await store.transport.send("GetItem", REQUEST) == b"{}"
    [(request, _)] = proxy.received
    assert request.headers["Host"] == "dynamodb.example"
    assert request.headers["Accept-Encoding"] == "identity"


async def test_it_goes_past_the_proxy_where_boto_does(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(Endpoint()) as proxy, serving(Endpoint()) as endpoint:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        async with opened(endpoint.url) as store:
            await store.transport.send("GetItem", REQUEST)
    assert len(endpoint.received) == 1
    assert proxy.received == []


async def test_a_server_is_trusted_as_boto_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "server.pem"
    file.write_bytes(certificate())
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(file)
    async with serving(Endpoint(), tls=tls) as endpoint:
        async with opened(endpoint.url) as store:
            await both_fail(store)
        monkeypatch.setenv("AWS_CA_BUNDLE", str(file))
        async with opened(endpoint.url) as store:
            assert await store.transport.send("GetItem", REQUEST) == b"{}"


async def test_a_server_with_the_name_of_another_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """botocore looks at the name; aiobotocore's session, for once, does not."""
    file = tmp_path / "server.pem"
    file.write_bytes(certificate("127.0.0.2"))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(file)
    monkeypatch.setenv("AWS_CA_BUNDLE", str(file))
    async with serving(Endpoint(), tls=tls) as endpoint, opened(endpoint.url) as store:
        with pytest.raises(SSLError):
            await store.transport.send("GetItem", REQUEST)
    assert endpoint.received == []


# What comes back

TYPE: Final = "com.amazonaws.dynamodb.v20120810#"
ITEM: Final = {**KEY, "data": {"B": "AAEC"}, "n": {"N": "1"}}
CANCELED: Final = {
    "__type": f"{TYPE}TransactionCanceledException",
    "Message": "cancelled",
    "CancellationReasons": [
        {"Code": "None"},
        {"Code": "ConditionalCheckFailed", "Item": KEY, "Message": "no"},
    ],
}
HTML: Final = b"<html><body>Bad Gateway</body></html>"


def said(code: str, **more: Any) -> bytes:
    return json.dumps({"__type": f"{TYPE}{code}", **more}).encode()


ERRORS: Final[dict[str, Endpoint]] = {
    "message": Endpoint(400, said("ValidationException", message="no")),
    "Message": Endpoint(400, said("AccessDeniedException", Message="no")),
    "without a message": Endpoint(400, said("ThrottlingException")),
    "an item": Endpoint(400, said("ConditionalCheckFailedException", message="no", Item=KEY)),
    "reasons": Endpoint(400, json.dumps(CANCELED).encode()),
    "of the server": Endpoint(500, said("InternalServerError", message="no")),
    "with an id": Endpoint(
        400, said("ResourceNotFoundException"), {"x-amzn-RequestId": "ABC", "X-Other": "x"}
    ),
    "with an address": Endpoint(
        400, b'{"__type":"ValidationException:http://example.com/","message":"no"}'
    ),
    "without a type": Endpoint(400, b'{"message":"no"}'),
    "a page of a proxy": Endpoint(502, HTML),
    "an empty answer": Endpoint(503, b""),
}


@pytest.mark.parametrize("endpoint", ERRORS.values(), ids=ERRORS.keys())
async def test_an_error_is_the_one_that_boto_raises(wired: Wired, endpoint: Endpoint) -> None:
    here, store = wired
    here.answers_like(endpoint)
    with pytest.raises(ClientError) as ours:
        await store.transport.send("TransactWriteItems", {"TableName": "planner"})
    assert len(here.received) == 1
    delete: Any = {"Delete": {"TableName": "planner", "Key": KEY}}
    with pytest.raises(ClientError) as theirs:
        await store.client.transact_write_items(TransactItems=[delete])
    mine, boto = dict(ours.value.response), dict(theirs.value.response)
    for each in (mine, boto):
        metadata: Any = each["ResponseMetadata"]
        for moving in ("Date", "date"):
            metadata["HTTPHeaders"].pop(moving, None)
        for attempts in ("RetryAttempts", "MaxAttemptsReached"):
            metadata.pop(attempts, None)
    # Beside it boto says these once more, as the model of an error has them.
    for again in ("message", "Message"):
        boto.pop(again, None)
    assert mine == boto
    assert str(ours.value) == str(theirs.value).replace(" (reached max retries: 0)", "")


@pytest.mark.parametrize(
    ("status", "body"), [(304, b""), (413, b""), (413, b"large"), (400, b"[1]"), (400, b"\xff")]
)
async def test_what_something_in_between_answers_is_an_error_by_its_status(
    wired: Wired, status: int, body: bytes
) -> None:
    """boto has the text for a message; here it is that of the status."""
    here, store = wired
    here.answers_like(Endpoint(status, body))
    with pytest.raises(ClientError) as raised:
        await store.transport.send("GetItem", REQUEST)
    assert raised.value.response["Error"]["Code"] == str(status)
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == status


async def test_a_page_of_a_proxy_is_asked_for_again(
    wired: Wired, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)
    here, store = wired
    here.answers_like(Endpoint(502, HTML))
    with pytest.raises(Unavailable):
        await store.get(KEY)
    assert len(here.received) == 6


async def test_items_of_an_error_stay_in_wire_form(wired: Wired) -> None:
    """What is read there may be written again as it was."""
    here, store = wired
    here.answers_like(Endpoint(400, said("ConditionalCheckFailedException", Item=ITEM)))
    with pytest.raises(ClientError) as raised:
        await store.transport.send("PutItem", {"TableName": "planner"})
    assert dict(raised.value.response)["Item"] == ITEM


@pytest.mark.parametrize("status", [200, 400])
async def test_an_answer_that_is_not_what_its_checksum_says_is_asked_for_again(
    wired: Wired, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)
    here, store = wired
    checksum = {"x-amz-crc32": str(zlib.crc32(b'{"Item":{}}'))}
    here.answers_like(Endpoint(body=b'{"Item":{}}', headers=checksum))
    assert await store.get(KEY) == {}
    here.answers_like(Endpoint(status, b'{"Item":{ }}', checksum))
    with pytest.raises(Unavailable):
        await store.get(KEY)
    assert len(here.received) == 6


async def both_fail(store: Store) -> None:
    """Without an answer there is the same exception as from boto, after one attempt each."""
    with pytest.raises(Exception) as theirs:  # noqa: PT011 (whatever it is)
        await store.client.get_item(TableName="planner", Key=KEY)
    with pytest.raises(type(theirs.value)) as ours:
        await store.transport.send("GetItem", REQUEST)
    assert type(ours.value) is type(theirs.value)


async def test_a_connection_that_ends_is_the_error_that_boto_raises() -> None:
    async with serving(Endpoint(body=None)) as endpoint, opened(endpoint.url) as store:
        await both_fail(store)
    assert len(endpoint.received) == 2


async def test_nobody_who_listens_is_the_error_that_boto_raises() -> None:
    async with serving(Endpoint()) as endpoint:
        pass
    async with opened(endpoint.url) as store:
        await both_fail(store)


async def test_no_answer_in_time_is_the_error_that_boto_raises() -> None:
    async with (
        serving(Endpoint(hangs=asyncio.Event())) as endpoint,
        opened(endpoint.url) as store,
    ):
        http = store.client._endpoint.http_session
        http._timeout = ClientTimeout(sock_connect=2, sock_read=0.05)
        store.transport.poster.connections.read_timeout = 0.05
        await both_fail(store)
    assert len(endpoint.received) == 2


# What is not public


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("_endpoint.http_session.send", "data/posting.py sends through proxies"),
        ("_endpoint.http_session._proxy_config.proxy_url_for", "data/posting.py finds proxies"),
        ("_endpoint.http_session._verify", "data/posting.py learns whom to trust"),
        ("_get_credentials", "data/transport.py gets credentials"),
        ("_resolve_endpoint_ruleset", "data/transport.py learns where to send"),
    ],
)
async def test_aiobotocore_still_has_what_is_used_of_it_though_it_is_not_public(
    name: str, use: str
) -> None:
    session = aioboto3.Session(**DUMMY_CREDENTIALS)
    async with session.client("dynamodb") as client:
        found: object = client
        for part in name.split("."):
            found = getattr(found, part, None)
        assert found is not None, (
            f"aiobotocore has moved client.{name}, by which {use}:"
            " see docs/adr/0016-own-requests.md"
        )
