"""The servers that are compared: ours and its peers, one row each, and how to ask them."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from bench.data import USER
from bench.processes import Process, running
from bench.wire import post
from bench.workloads import Workload
from server.authjs import cookie_name, mint
from server.engines import DUMMY_CREDENTIALS
from server.npm import install

__all__ = [
    "ROOT",
    "SERVERS",
    "TABLE",
    "WORKERS",
    "Server",
    "peers_folder",
    "requests_of",
    "servers_of",
    "started",
]

ROOT: Final = Path(__file__).parents[1]
TABLE: Final = "bench"
_SECRET: Final = "a secret of the benchmark, long enough for anybody"  # noqa: S105 - opens nothing
_PEERS: Final = Path(__file__).parent / "peers"


@dataclass(frozen=True, slots=True)
class Server:
    """One row of the tables. `script` is the peer's in `bench/peers`; ours has none.
    `windows_only` is a form that differs from the others only where a window is read."""

    name: str
    script: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    windows_only: bool = False

    @property
    def is_ours(self) -> bool:
        return self.script is None

    def command(self) -> list[str]:
        """What starts it, on a port that the system picks."""
        if self.script:
            return ["node", self.script]
        return [sys.executable, "-c", "from server.cli import main; main()", "serve"]

    def environment_at(self, endpoint: str) -> dict[str, str]:
        """Its environment: that of production, over the table at the endpoint."""
        shared = {
            "AWS_ENDPOINT_URL_DYNAMODB": endpoint,
            "AWS_REGION": DUMMY_CREDENTIALS["region_name"],
            "AWS_ACCESS_KEY_ID": DUMMY_CREDENTIALS["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": DUMMY_CREDENTIALS["aws_secret_access_key"],
            "PLANNER_TABLE": TABLE,
        }
        own = {"NODE_ENV": "production"}
        if self.is_ours:
            own = {"AUTH_SECRET": _SECRET, "PLANNER_METRICS": "true", "PORT": "0"}
        return {**shared, **own, **self.environment}

    def headers(self, team: str) -> dict[str, str]:
        """How it is told who asks: ours by a session, the peers by a header that they believe."""
        if self.script:
            return {"x-team": team}
        name = cookie_name(secure=False)
        token = mint(
            _SECRET,
            cookie_name=name,
            user_id=USER,
            team_id=team,
            role="member",
            lifetime=timedelta(days=1),
            now=time.time(),
        )
        return {"Cookie": f"{name}={token}"}


def _peer(name: str, script: str, environment: Mapping[str, str] | None = None) -> list[Server]:
    """A peer in both ways of reading a window."""
    own = dict(environment or {})
    return [
        Server(name, script, own),
        Server(f"{name}, ranged", script, {**own, "BENCH_RANGED": "true"}, windows_only=True),
    ]


SERVERS: Final = (
    Server("ours"),
    Server("ours, PLANNER_FAST_PATH=false", environment={"PLANNER_FAST_PATH": "false"}),
    *_peer("Apollo Server", "apollo.mjs"),
    *_peer("GraphQL Yoga", "yoga.mjs"),
    *_peer("Mercurius", "mercurius.mjs"),
    *_peer("Mercurius + JIT", "mercurius.mjs", {"BENCH_JIT": "1"}),
)


WORKERS: Final = tuple(
    Server(f"ours, {count} workers", environment={"PLANNER_WORKERS": str(count)})
    for count in (2, 4)
)
"""Ours in more than one process, which only concurrent requests can tell from one."""


def servers_of(workload: Workload, servers: Sequence[Server]) -> list[Server]:
    """Those of the servers that run a workload: the second form of a peer only where it differs."""
    return [each for each in servers if workload.windowed or not each.windows_only]


def peers_folder(home: Path) -> Path:
    """Where the peers are installed; raises `server.assets.AssetError` when they can't be."""
    return install(_PEERS, home / "bench")


@contextmanager
def started(server: Server, endpoint: str, peers: Path) -> Iterator[Process]:
    """The server while it runs, over the table at the endpoint. Raises ProcessFailed."""
    environment = server.environment_at(endpoint)
    folder = ROOT if server.is_ours else peers
    with running(server.name, server.command(), cwd=folder, environment=environment) as process:
        yield process


def requests_of(server: Server, workload: Workload) -> Callable[[int], bytes]:
    """Makes the n-th request of a workload, as it goes over the wire."""
    headers = {
        "Accept": "application/graphql-response+json, application/json;q=0.9",
        "Content-Type": "application/json",
        **server.headers(workload.team.id),
    }
    if workload.is_write:
        return lambda number: post("/graphql", headers, workload.body(number))
    same = post("/graphql", headers, workload.body(0))
    return lambda number: same
