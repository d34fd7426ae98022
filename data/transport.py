"""Requests on items and on the stream, each one signed POST, beside boto's client.

That client validates, writes and reads every request by the model of the service, which takes
several times as long as all else. What it knows is taken from it: the credentials, the endpoint
and the region. See docs/adr/0016-own-requests.md.
"""

import json
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from http.client import responses
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import msgspec
from botocore.exceptions import ClientError, NoCredentialsError, ResponseStreamingError

from data.endpoint import Endpoint, endpoint_of
from data.metering import Operation
from data.posting import Poster
from data.signing import Keys, signed_headers

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.client import DynamoDBClient
    from types_aiobotocore_dynamodbstreams.client import DynamoDBStreamsClient

__all__ = ["OpenRequestSpan", "RequestSpan", "Sender", "Transport"]

_DETAILS: Final = ("Item", "CancellationReasons")
"""What an error of these operations has besides its code and message."""


class Sender(Protocol):
    """What a store sends its requests on items with."""

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        """Sends one request, once. The JSON of its answer, or an error of boto's."""


class RequestSpan(Protocol):
    """The span of a request that is under way."""

    def answered(
        self, status: int, request_id: str | None, code: str | None, capacity: list[str]
    ) -> None:
        """Says what came back: the HTTP status, AWS's id for the request, the code of an error,
        and each entry of ConsumedCapacity as JSON."""


OpenRequestSpan = Callable[[str, Endpoint], AbstractContextManager[RequestSpan | None]]
"""Opens the span of one request; it ends with the exception if there is no answer."""


class FrozenKeys(Keys, Protocol):
    @property
    def account_id(self) -> str | None: ...


class Credentials(Protocol):
    """Credentials that boto renews when they are about to expire."""

    async def get_frozen_credentials(self) -> FrozenKeys: ...


class Transport:
    """Sends with the credentials of a client, to where it would. Nothing is sent again here. A
    request that is cancelled gives its connection up."""

    def __init__(
        self,
        client: "DynamoDBClient | DynamoDBStreamsClient",
        poster: Poster,
        open_span: OpenRequestSpan | None = None,
    ) -> None:
        # Untyped, for two names that are not public: this one and that of the resolver below.
        # The version is pinned, and a test looks at all of them.
        self._client = cast("Any", client)
        self.poster = poster
        self._credentials: Credentials | None = self._client._get_credentials()
        self._open_span = open_span or _no_span
        meta = self._client.meta
        self._targets = meta.service_model.metadata["targetPrefix"]
        self._user_agent = meta.config.user_agent
        self._resolved: tuple[str | None, Endpoint] | None = None

    async def send(self, operation: str, request: Mapping[str, Any]) -> bytes:
        """The body of the answer to one request. Raises ClientError for an answer that is an
        error, and what boto's client raises where there is none: HTTPClientError and its kin, or
        that there are no credentials."""
        if self._credentials is None:
            raise NoCredentialsError
        keys = await self._credentials.get_frozen_credentials()
        endpoint = await self._endpoint(operation, request, keys.account_id)
        body = _json(request)
        target = f"{self._targets}.{operation}"
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        headers = signed_headers(keys, endpoint, target, body, moment)
        headers["User-Agent"] = self._user_agent
        headers["Accept-Encoding"] = "identity"
        with self._open_span(operation, endpoint) as span:
            status, said, answer = await self.poster.post(endpoint, headers, body)
            checksum = said.get("x-amz-crc32")
            if checksum is not None and checksum != str(zlib.crc32(answer)):
                raise ResponseStreamingError(error="its checksum (x-amz-crc32) is another")
            error = _error(operation, status, said, answer) if status >= 300 else None
            if span:
                request_id = said.get("x-amzn-requestid")
                code = error.response["Error"]["Code"] if error else None
                span.answered(status, request_id, code, [] if error else _capacity(answer))
            if error:
                raise error
            return answer

    async def _endpoint(
        self, operation: str, request: Mapping[str, Any], account: str | None
    ) -> Endpoint:
        """Where boto would send this. It depends on settings, on the table, and on the account
        that the credentials are of, which is known no sooner than they are."""
        if self._resolved is None or self._resolved[0] != account:
            meta = self._client.meta
            context: dict[str, Any] = {}
            url, *_ = await self._client._resolve_endpoint_ruleset(
                meta.service_model.operation_model(operation), request, context
            )
            region = context.get("signing", {}).get("region", meta.region_name)
            self._resolved = account, endpoint_of(url, region)
        return self._resolved[1]


def _error(operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ClientError:
    """The exception that boto makes of an answer, but for items, which stay in wire form. What is
    not JSON comes from something in between, and its code is the status."""
    try:
        said = msgspec.json.decode(body)
    except msgspec.DecodeError:
        said = None
    if not isinstance(said, dict):
        said = {"message": responses.get(status, "")}
    code = str(said.get("__type", status)).partition(":")[0].rpartition("#")[2]
    metadata: dict[str, Any] = {"HTTPStatusCode": status, "HTTPHeaders": dict(headers)}
    if "x-amzn-requestid" in headers:
        metadata["RequestId"] = headers["x-amzn-requestid"]
    response: Any = {
        "Error": {"Code": code, "Message": said.get("message") or said.get("Message") or ""},
        "ResponseMetadata": metadata,
        **{name: said[name] for name in _DETAILS if said.get(name) is not None},
    }
    return ClientError(response, operation)


class _Cost(msgspec.Struct):
    consumed: Any = msgspec.field(name="ConsumedCapacity", default=None)


def _capacity(answer: bytes) -> list[str]:
    consumed = msgspec.json.decode(answer, type=_Cost).consumed or []
    entries = [consumed] if isinstance(consumed, dict) else consumed
    return [msgspec.json.encode(entry).decode() for entry in entries]


def _json(request: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(request)
    except UnicodeEncodeError:
        # A lone surrogate, which some row elsewhere may have, is escaped.
        return json.dumps(request).encode()


def _no_span(operation: str, endpoint: Endpoint) -> AbstractContextManager[None]:
    return _NOTHING


_NOTHING: Final = nullcontext()
