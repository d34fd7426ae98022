"""One tiny round of everything: our server against the stand-in, and the page that comes of it."""

from pathlib import Path

import pytest

from bench import comparison
from bench.data import SMALL
from bench.endpoints import REPLAY, database
from bench.measure import Plan
from bench.report import page
from bench.run import Effort, Run
from bench.servers import SERVERS, peers_folder
from bench.workloads import WORKLOADS
from server.assets import AssetError
from tests.engines import HOME, require, require_engine

EFFORT = Effort(
    {REPLAY: Plan(rounds=1, warm_up=0.01, phase=0.01)}, load_seconds=0, is_quotable=False
)


@pytest.fixture(scope="module")
def peers() -> Path:
    """The folder of the peers; without npm the test is skipped."""
    try:
        return peers_folder(HOME)
    except AssetError as missing:
        require(False, str(missing))
        raise


def test_a_round_of_ours_and_a_peer_becomes_a_page(peers: Path) -> None:
    require_engine("local")
    said: list[str] = []
    done: list[None] = []
    servers = [each for each in SERVERS if each.name in ("ours", "Mercurius + JIT")]
    with database(HOME, [SMALL], said.append) as port:
        run = Run(
            EFFORT,
            [WORKLOADS["small"]],
            servers,
            [REPLAY],
            port,
            peers,
            said.append,
            lambda: done.append(None),
        )
        text = page(EFFORT, [REPLAY], [comparison.SECTION.write(run)], 60)
    assert "not for quoting" in text
    assert "| small | CPU per request / Mercurius + JIT | ≤ 0.80 |" in text
    rows = [line for line in text.splitlines() if line.startswith("| ours |")]
    assert len(rows) == 2
    assert "1 Query" in rows[1]
    assert len(done) == comparison.SECTION.parts(run) == 1
