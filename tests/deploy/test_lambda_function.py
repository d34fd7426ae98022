"""The entry point, `server.lambda_function.handler`, in a process of its own as Lambda has it."""

import json
import signal
import sys
from pathlib import Path
from typing import Final

import pytest

from data.store import Store
from tests.api.http import QUERY, named
from tests.api_client import SECRET
from tests.deploy.environment import HANDLER, RUNTIME, ask
from tests.deploy.events import get, graphql
from tests.docs.documents import ROOT
from tests.programs import PATIENCE, deployment, program

pytestmark = pytest.mark.engines("embedded")

COMMAND: Final = (sys.executable, "-W", "error", RUNTIME)


def environment_of(engine: str, table: str) -> dict[str, str]:
    return {**deployment(engine, table), "_HANDLER": HANDLER, "PYTHONPATH": str(ROOT)}


async def test_handler_serves_the_table_that_the_environment_names(
    store: Store, engine: str, team: str, tmp_path: Path
) -> None:
    environment = environment_of(engine, store.table)
    with program(COMMAND, environment, folder=tmp_path) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        assert ask(process, graphql(team, QUERY)).json() == named(team)
        assert ask(process, get("/readyz")).status == 200
        assert ask(process, get("/nothing")).status == 404
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0
    lines = [json.loads(line) for line in said.splitlines()]
    assert [line["event"] for line in lines] == ["operation", "request refused"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"AUTH_SECRET": "hunter2"}, "AUTH_SECRET and its rotations need 32 characters or more"),
        ({"PLANNER_MAX_SECONDS": "soon"}, "PLANNER_MAX_SECONDS: Input should be a valid number"),
        ({"PLANNER_STORE": "embedded"}, "PLANNER_STORE: on AWS Lambda it is dynamodb"),
        ({"AUTH_SECRET_1": SECRET, "AUTH_SECRET": "short"}, "AUTH_SECRET and its rotations"),
    ],
    ids=str,
)
def test_settings_that_do_not_fit_are_the_reason_in_the_log_without_a_secret(
    wrong: dict[str, str], said: str, tmp_path: Path
) -> None:
    environment = {**environment_of("http://127.0.0.1:9", "planner"), **wrong}
    with program(COMMAND, environment, folder=tmp_path) as process:
        output, log = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (1, "")
    assert f"RuntimeError: {said}" in log.splitlines()[-1]
    assert not [secret for secret in ("hunter2", SECRET) if secret in log]
