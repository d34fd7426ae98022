"""What requests go out by: connections of our own, set up and failing as those of boto's client.

Through a proxy they go by that client's session, which knows how.
"""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ReadTimeoutError,
    SSLError,
)
from botocore.httpsession import create_urllib3_context, get_cert_path

from data.connection import Answer, Disconnected, ReadTimeout
from data.connections import Connections, ConnectTimeout
from data.endpoint import Endpoint

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.client import DynamoDBClient
    from types_aiobotocore_dynamodbstreams.client import DynamoDBStreamsClient

__all__ = ["Direct", "Poster", "Proxied", "open_poster"]

_IDLE: Final = 12.0
"""Seconds, as aiobotocore has it, and fewer than DynamoDB waits for: whoever closes first knows."""


class Poster(Protocol):
    """What a request goes out by, once."""

    async def post(self, endpoint: Endpoint, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer, whatever its status, or an exception of boto's where there is none."""


class Direct:
    """Over connections of our own."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections

    async def post(self, endpoint: Endpoint, headers: Mapping[str, str], body: bytes) -> Answer:
        try:
            return await self.connections.post(endpoint, headers, body)
        except (OSError, ValueError) as error:
            raise _as_boto_says(error, endpoint.url) from error


def _as_boto_says(error: OSError | ValueError, url: str) -> Exception:
    if isinstance(error, Disconnected):
        return ConnectionClosedError(endpoint_url=url, error=error)
    if isinstance(error, ReadTimeout):
        return ReadTimeoutError(endpoint_url=url, error=error)
    if isinstance(error, ConnectTimeout):
        return ConnectTimeoutError(endpoint_url=url, error=error)
    if isinstance(error, ssl.SSLError):
        return SSLError(endpoint_url=url, error=error)
    if isinstance(error, OSError):
        return EndpointConnectionError(endpoint_url=url, error=error)
    return HTTPClientError(error=error)


class Proxied:
    """Over a session of boto's client."""

    def __init__(self, http: Any) -> None:
        self._http = http

    async def post(self, endpoint: Endpoint, headers: Mapping[str, str], body: bytes) -> Answer:
        prepared = AWSPreparedRequest("POST", endpoint.url, cast("Any", headers), body, False)
        response = await self._http.send(prepared)
        return Answer(response.status_code, response.headers, await response.content)


@asynccontextmanager
async def open_poster(
    client: "DynamoDBClient | DynamoDBStreamsClient",
) -> AsyncIterator[Poster]:
    """What this client's requests go out by: its number of connections, its timeouts, and the
    certificates and the proxy that boto has found for it."""
    # Untyped, for names that are not public. The version is pinned, and a test looks at them.
    http = cast("Any", client)._endpoint.http_session
    meta = client.meta
    config: Any = meta.config
    if http._proxy_config.proxy_url_for(meta.endpoint_url):
        yield Proxied(http)
        return
    connections = Connections(
        config.max_pool_connections,
        _tls(http._verify),
        connect_timeout=config.connect_timeout,
        read_timeout=config.read_timeout,
        idle_timeout=_IDLE,
    )
    async with aclosing(connections):
        yield Direct(connections)


def _tls(verify: bool | str) -> ssl.SSLContext:
    """`verify` is boto's: whether, or by the certificates of which file."""
    context: ssl.SSLContext = create_urllib3_context()
    context.set_alpn_protocols(["http/1.1"])
    if not verify:
        context.verify_mode = ssl.CERT_NONE
        return context
    # urllib3 looks at the name itself, and so has it off.
    context.check_hostname = True
    context.load_verify_locations(get_cert_path(cast("Any", verify)))
    return context
