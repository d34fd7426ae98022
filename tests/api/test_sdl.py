"""`schema.graphql` is what the server runs, byte for byte, in whatever order it is built (C-01)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from graphql import (
    build_client_schema,
    get_introspection_query,
    lexicographic_sort_schema,
    print_schema,
)

from tests.api_client import Api
from tests.engines import DEEP

pytestmark = pytest.mark.engines("local")

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "schema.graphql"
EXPORT = "import sys; from schema import sdl; sys.stdout.buffer.write(sdl().encode())"
ORDERS = (
    EXPORT,
    f"import schema.types, schema.payloads, schema.mutation; {EXPORT}",
    f"import resolvers.reads, schema.execution, server.app; {EXPORT}",
)


@pytest.mark.deep
@pytest.mark.parametrize("seed", [str(n) for n in (range(21) if DEEP else (0, 20))])
def test_export_is_the_same_for_any_hash_seed_and_order_of_imports(seed: str) -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", order],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
        )
        for order in (ORDERS if seed == "0" else ORDERS[:1])
    ]
    assert {run.communicate()[0] for run in runs} == {COMMITTED.read_bytes()}
    assert {run.returncode for run in runs} == {0}


async def test_introspection_of_the_running_server_is_the_committed_file(api: Api) -> None:
    query = get_introspection_query(specified_by_url=True)
    running = build_client_schema(await api.data(query))  # type: ignore[arg-type]
    assert print_schema(lexicographic_sort_schema(running)) == COMMITTED.read_text().rstrip("\n")
