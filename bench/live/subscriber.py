"""A subscriber as clients are one: over WebSocket or server-sent events, and again after a cut."""

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, Final

import httpx
import websockets

from bench.live.ledger import Change, Told

__all__ = ["Subscriber"]

_DOCUMENT: Final = """subscription Changes($since: String) { teamChanged(since: $since) {
  cursor changes {
  kind entityType entityId version changedBy changedAt
  entity { id ... on Assignment { startDate endDate note resourceId projectId version } }
} } }"""
_PAUSE: Final = 0.5
"""Seconds before another attempt, at most; at random, as clients do."""


class Subscriber:
    """Listens to a team until it is cancelled. `address` says where the server is, asked anew for
    each connection; `connected` is set while there is one. `told` is all that it was told."""

    def __init__(
        self,
        team: str,
        headers: Mapping[str, str],
        address: Callable[[], str],
        *,
        over_websocket: bool,
    ) -> None:
        self.team = team
        self.told: list[Told] = []
        self.connections = 0
        self.cuts: list[str] = []
        self.connected = asyncio.Event()
        self._headers = dict(headers)
        self._address = address
        self._answers = self._websocket if over_websocket else self._event_stream
        self._cursor: str | None = None

    async def run(self) -> None:
        """Connects, and again with the last cursor whenever the connection is cut."""
        while True:
            try:
                async with aclosing(self._answers(self._address())) as answers:
                    async for answer in answers:
                        self._take(answer)
            except (OSError, httpx.HTTPError, websockets.ConnectionClosed) as error:
                self.cuts.append(repr(error))
            self.connected.clear()
            await asyncio.sleep(random.uniform(0, _PAUSE))  # noqa: S311 - not for security

    def _take(self, answer: Mapping[str, Any]) -> None:
        now = time.monotonic()
        if "errors" in answer:
            raise RuntimeError(f"a subscriber was refused: {answer['errors']}")
        batch = answer["data"]["teamChanged"]
        for each in batch["changes"]:
            change = Change(each["entityId"], each["version"], each["kind"])
            self.told.append(Told(change, now))
        self._cursor = batch["cursor"]
        if not self.connected.is_set():
            self.connections += 1
            self.connected.set()

    @property
    def _operation(self) -> dict[str, Any]:
        return {"query": _DOCUMENT, "variables": {"since": self._cursor}}

    async def _websocket(self, address: str) -> AsyncGenerator[dict[str, Any], None]:
        async with websockets.connect(
            f"ws://{address}/graphql",
            subprotocols=[websockets.Subprotocol("graphql-transport-ws")],
            additional_headers=self._headers,
            compression=None,
            max_size=None,
        ) as socket:
            await socket.send('{"type":"connection_init"}')
            await socket.recv()
            operation = {"id": "1", "type": "subscribe", "payload": self._operation}
            await socket.send(json.dumps(operation))
            async for text in socket:
                message = json.loads(text)
                if message["type"] == "next":
                    yield message["payload"]
                elif message["type"] == "error":
                    raise RuntimeError(f"a subscriber was refused: {message['payload']}")

    async def _event_stream(self, address: str) -> AsyncGenerator[dict[str, Any], None]:
        headers = {**self._headers, "Accept": "text/event-stream"}
        async with (
            httpx.AsyncClient(timeout=httpx.Timeout(10, read=60)) as client,
            client.stream(
                "POST", f"http://{address}/graphql", json=self._operation, headers=headers
            ) as response,
        ):
            response.raise_for_status()
            async for line in response.aiter_lines():
                if line.startswith("data:") and len(line) > len("data: "):
                    yield json.loads(line.removeprefix("data:"))
