"""What the servers ask: DynamoDB Local itself, and a stand-in that replays its answers."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import orjson

from bench.data import TeamSize, team_of
from bench.processes import LOAD_CPUS, running
from bench.servers import ROOT, TABLE
from bench.wire import Connection, WrongAnswer, connected, dynamodb_request
from data.administration import create_table
from data.items import encode
from data.opening import open_store
from server.engines import DUMMY_CREDENTIALS, dynamodb_local

__all__ = ["LOCAL", "REPLAY", "Endpoint", "Traffic", "UnknownRequests", "database", "endpoint_of"]

LOCAL: Final = "local"
REPLAY: Final = "replay"
_WRITERS: Final = 4


class UnknownRequests(Exception):
    """A server asked in a timed phase what it had not asked before, so nobody knows the answer."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What was asked of DynamoDB: requests by operation, and the capacity units it reported."""

    requests: Counter[str]
    read_units: float
    write_units: float

    def __sub__(self, before: "Traffic") -> "Traffic":
        return Traffic(
            self.requests - before.requests,
            self.read_units - before.read_units,
            self.write_units - before.write_units,
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint by its name and address."""

    name: str
    url: str

    def traffic(self) -> Traffic | None:
        """What was asked so far; only the stand-in counts."""
        if self.name == LOCAL:
            return None
        counts = self._control("counts")
        requests = Counter(counts["requests"])
        return Traffic(requests, counts["read_units"], counts["write_units"])

    @contextmanager
    def sealed(self) -> Iterator[None]:
        """Meanwhile the stand-in records nothing more. Raises UnknownRequests at the end."""
        if self.name == LOCAL:
            yield
            return
        before = self._control("seal")["unknown"]
        yield
        unknown = self._control("unseal")["unknown"] - before
        if unknown:
            raise UnknownRequests(f"{unknown} requests to DynamoDB were never seen before")

    def _control(self, what: str) -> dict[str, Any]:
        with urlopen(f"{self.url}/{what}") as answer:  # noqa: S310 - loopback
            counts: dict[str, Any] = json.load(answer)
        return counts


@contextmanager
def database(
    home: Path, teams: Collection[TeamSize], progress: Callable[[str], None]
) -> Iterator[int]:
    """DynamoDB Local with these teams, in memory: yields its port."""
    with dynamodb_local(home, data_dir=None) as url:
        port = int(url.rpartition(":")[2])

        async def prepare() -> None:
            async with open_store(TABLE, endpoint_url=url, credentials=DUMMY_CREDENTIALS) as store:
                await create_table(store)
            async with connected(port, _WRITERS) as connections:
                for team in teams:
                    progress(f"DynamoDB Local is filled: team {team.id}")
                    await _fill(connections, team)

        asyncio.run(prepare())
        yield port


async def _fill(connections: Sequence[Connection], team: TeamSize) -> None:
    """Writes the team into the table, 25 items at a time (the AWS limit of BatchWriteItem)."""
    puts = [{"PutRequest": {"Item": encode(team.id, entity)}} for entity in team_of(team)]
    starts = iter(range(0, len(puts), 25))

    async def write(connection: Connection) -> None:
        for start in starts:
            content = orjson.dumps({"RequestItems": {TABLE: puts[start : start + 25]}})
            request = dynamodb_request("DynamoDB_20120810.BatchWriteItem", content)
            status, answer = await connection.ask(request)
            if status != 200 or orjson.loads(answer)["UnprocessedItems"]:
                raise WrongAnswer(f"DynamoDB Local did not write a batch: {answer[:300]!r}")

    await asyncio.gather(*map(write, connections))


@contextmanager
def endpoint_of(name: str, database: int) -> Iterator[Endpoint]:
    """The endpoint of that name, over the DynamoDB Local on that port."""
    if name == LOCAL:
        yield Endpoint(name, f"http://127.0.0.1:{database}")
        return
    command = [sys.executable, "-m", "bench.replay", str(database)]
    with running(name, command, cwd=ROOT, environment={}, cpus=LOAD_CPUS) as process:
        yield Endpoint(name, f"http://127.0.0.1:{process.port}")
