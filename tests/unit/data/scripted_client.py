"""A client and a transport that answer by a script, to see what a store makes of each answer."""

import copy
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError

from data.expressions import Item, s
from data.metering import Operation
from data.store import Store

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.client import DynamoDBClient

__all__ = ["ENDPOINT", "ITEM", "KEY", "Client", "failure", "store_of"]

KEY = {"pk": s("TEAM#t1"), "sk": s("RES#r1")}
ITEM: Item = {**KEY, "name": s("Ada")}
ENDPOINT = {"endpoint_url": "http://store.example"}


class Client:
    """A transport and a client in one. Answers each request with the next step of the script (the
    last one again and again): an exception is raised, and anything else is the answer."""

    def __init__(self, *script: object) -> None:
        self._script = list(script)
        self.requests: list[tuple[str, dict[str, Any]]] = []

    async def _answer(self, operation: str, request: dict[str, Any]) -> object:
        self.requests.append((operation, copy.deepcopy(request)))
        step = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if isinstance(step, Exception):
            raise step
        return step

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        parameters = dict(request)
        assert parameters.pop("ReturnConsumedCapacity") == "TOTAL", "what it costs is asked for"
        return json.dumps(await self._answer(operation, parameters)).encode()

    async def create_table(self, **request: Any) -> object:
        return await self._answer("create_table", request)

    async def describe_table(self, **request: Any) -> object:
        return await self._answer("describe_table", request)


def store_of(client: Client, **options: Any) -> Store:
    return Store(cast("DynamoDBClient", client), client, "planner", **options)


def failure(code: str, status: int = 400, **response: object) -> ClientError:
    answer: dict[str, object] = {
        "Error": {"Code": code, "Message": "secret of AWS"},
        "ResponseMetadata": {"HTTPStatusCode": status},
        **response,
    }
    return ClientError(cast("Any", answer), "Operation")
