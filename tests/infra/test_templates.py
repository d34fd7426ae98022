"""The templates of `infra/` are sound, and make the table that `planner table create` makes."""

from pathlib import Path
from typing import Any

import pytest
from botocore import xform_name
from cfnlint.api import lint_file

from data.administration import create_table
from data.store import Store
from tests.api_client import Capture
from tests.infra.templates import TEMPLATES, calls, resources
from tests.store.stub import planner


def properties(table: str) -> dict[str, Any]:
    found: dict[str, Any] = resources("table", table)["Table"]["Properties"]
    return found


async def deploy(store: Store) -> None:
    """What CloudFormation does with the template; backups are what DynamoDB Local does not know."""
    for operation, parameters in calls(properties(store.table)).items():
        if operation != "UpdateContinuousBackups":
            await getattr(store.client, xform_name(operation))(**parameters)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_template_has_nothing_that_cfn_lint_would_say(template: Path) -> None:
    assert [str(problem) for problem in lint_file(template)] == []


async def test_template_and_planner_table_create_send_the_same(nothing: Store) -> None:
    capture = Capture(nothing)
    await create_table(nothing)
    sent = {name: body for name, body in capture.requests if not name.startswith("Describe")}
    assert sent == calls(properties(nothing.table))


async def test_a_table_from_the_template_serves_the_api(nothing: Store, engine: str) -> None:
    await deploy(nothing)
    async with planner(engine, table=nothing.table) as running:
        api = running.api("acme")
        owner, job = await api.resource("Ada"), await api.project()
        long = await api.assignment(owner, job, "2026-01-01", "2026-12-31")
        # One read on each index that the server asks: of long assignments, and of ids.
        window = '{ team { assignments(from: "2026-06-01", to: "2026-06-01") { id } } }'
        assert await api.data(window) == {"team": {"assignments": [{"id": long}]}}
        node = "query($id: ID!) { node(id: $id) { id } }"
        assert await api.data(node, id=long) == {"node": {"id": long}}


async def test_create_table_finds_nothing_to_do_on_a_table_from_the_template(
    nothing: Store,
) -> None:
    await deploy(nothing)
    assert await create_table(nothing) is False


def test_the_table_outlives_its_stack() -> None:
    table = resources("table", "planner")["Table"]
    assert {table["DeletionPolicy"], table["UpdateReplacePolicy"]} == {"Retain"}
