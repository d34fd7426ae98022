"""The policies of `infra/` allow what is sent, and nothing that is not.

The audit of the session (tests/api/audit.py) sees whether any test sends what is not allowed.
"""

import ast
import inspect
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

import botocore.session
import pytest
from botocore import xform_name
from starlette.applications import Starlette

import data.administration
import data.store
import data.streams
from data.administration import create_table, describe_table
from data.live import LiveFeed
from data.store import Store
from data.streams import Streams
from tests.api_client import Api, Capture
from tests.infra.iam import TRANSACTION, Need, needs, permits, statements
from tests.infra.templates import service_model, table_arn
from tests.taps import listening_to_stream

TABLE: Final = "resource-planner"
POLICIES: Final = ("ServerPolicy", "OperatorPolicy", "DataPolicy")

OPERATOR: Final = {"create_table", "delete", "describe_table", "get", "put"}
"""What `planner table`, `planner team` and `planner member` call of the store and of
`data.administration`."""
DATA: Final = {"get", "pages", "put", "query", "transact", "update"}
"""What `planner export`, `import`, `backfill` and `doctor` call of the store."""
SERVER: Final = {
    name for known in (Store, Streams) for name in vars(known) if not name.startswith("_")
} | {"describe_table"}


def methods() -> dict[str, ast.AST]:
    """The methods of Store and Streams, and the functions of `data.administration`."""
    bodies = (
        node.body
        for module in (data.store, data.streams)
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.ClassDef) and node.name in ("Store", "Streams")
    )
    return {
        node.name: node
        for node in (*chain(*bodies), *ast.parse(inspect.getsource(data.administration)).body)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def operations(method: str) -> Iterator[str]:
    """The operations that one of `methods` sends, by itself or by another one that it calls."""
    known = methods()
    names = {xform_name(name): name for name in service_model().operation_names}
    model = botocore.session.get_session().get_waiter_model("dynamodb")
    waiters = {xform_name(name): model.get_waiter(name) for name in model.waiter_names}
    for node in ast.walk(known[method]):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="get_waiter"), args=[ast.Constant(value=str(waiter))]
            ):
                yield waiters[waiter].operation
            case ast.Attribute(
                value=ast.Attribute(value=ast.Name(id="self" | "store"), attr="client"), attr=name
            ) if name != "get_waiter":
                yield names[name]
            case ast.Call(
                func=ast.Attribute(attr="_send" | "_conditionally"),
                args=[ast.Constant(value=str(operation)), *_],
            ):
                yield operation
            case (
                ast.Attribute(value=ast.Name(id="self"), attr=name)
                | ast.Call(func=ast.Name(id=name))
            ) if name in known:
                yield from operations(name)


def actions(called: set[str]) -> set[str]:
    """The IAM actions for these of `methods`."""
    found = {operation for method in called for operation in operations(method)}
    if "TransactWriteItems" in found:
        found = found - {"TransactWriteItems"} | set(TRANSACTION.values())
    return {f"dynamodb:{operation}" for operation in found}


@pytest.mark.parametrize(
    ("policy", "called"),
    [("ServerPolicy", SERVER), ("OperatorPolicy", OPERATOR), ("DataPolicy", DATA)],
)
def test_policy_has_the_actions_that_the_code_sends_and_no_other(
    policy: str, called: set[str]
) -> None:
    allowed = {action for each in statements(policy, TABLE) for action in each.actions}
    assert allowed == actions(called)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_allows_a_scan_or_reaches_beyond_its_table(policy: str) -> None:
    for statement in statements(policy, TABLE):
        assert "dynamodb:Scan" not in statement.actions
        assert f"{statement.resource}/".startswith(f"{table_arn(TABLE)}/")


def test_server_may_not_touch_what_belongs_to_no_team() -> None:
    assert permits("ServerPolicy", Need("dynamodb:Query", table_arn(TABLE), "TEAM#acme"))
    assert not permits("ServerPolicy", Need("dynamodb:Query", table_arn(TABLE), "USER#ada"))
    assert not permits("OperatorPolicy", Need("dynamodb:PutItem", table_arn(TABLE), "USER#ada"))
    assert not permits("DataPolicy", Need("dynamodb:PutItem", table_arn(TABLE), "USER#ada"))


def test_server_may_not_list_teams() -> None:
    index = f"{table_arn(TABLE)}/index/GSI1"
    assert permits("DataPolicy", Need("dynamodb:Query", index, "TEAMS"))
    assert not permits("ServerPolicy", Need("dynamodb:Query", index, "TEAMS"))


def test_server_may_look_up_users_and_their_sessions_in_no_other_index() -> None:
    index = f"{table_arn(TABLE)}/index/"
    for key in ("USER#ada", "SESSION#0190c9f0", "FEED#0190c9f0"):
        assert permits("ServerPolicy", Need("dynamodb:Query", f"{index}GSI1", key))
        assert not permits("ServerPolicy", Need("dynamodb:Query", f"{index}byLongEnd", key))
    assert not permits("ServerPolicy", Need("dynamodb:Query", f"{index}GSI1", "ACCOUNT#github"))


def test_server_may_neither_make_nor_change_a_table() -> None:
    for action in ("CreateTable", "DeleteTable", "UpdateTable", "UpdateTimeToLive"):
        assert not permits("ServerPolicy", Need(f"dynamodb:{action}", table_arn(TABLE)))


async def one_of_each(api: Api, store: Store) -> None:
    """A start of the server, and requests that need all that it ever needs."""
    await describe_table(store)
    owner, job = await api.resource(), await api.project()
    long = await api.assignment(owner, job, "2026-01-01", "2026-12-31")
    await api.data("{ team { name } viewer { teams { id } } }")
    await api.data('{ team { assignments(from: "2026-06-01", to: "2026-06-01") { id } } }')
    await api.data("query($id: ID!) { node(id: $id) { id } }", id=long)
    await api.data("{ team { recentChanges { edges { cursor } } } }")
    await api.mutate("updateResource", "errors { code }", id=owner, name="Eve")
    await api.mutate("deleteAssignment", "errors { code }", id=long)
    await api.mutate("deleteResource", "errors { code }", id=owner)


async def test_every_statement_of_the_servers_policy_is_used_with_every_action(
    api: Api, app: Starlette, captured: Capture
) -> None:
    store: Store = app.state.store
    await one_of_each(api, store)
    of_stream: list[tuple[str, Mapping[str, Any]]] = []
    live: LiveFeed = app.state.operations.live
    with listening_to_stream(live.streams, lambda *each: of_stream.append(each)):
        subscription = await live.subscribe(api.team)
        await api.resource()
        await anext(subscription)
        await anext(subscription)
        await subscription.aclose()
    used = {
        (need.action, need.resource)
        for operation, request in [*captured.requests, *of_stream]
        for need in needs(operation, request)
    }
    allowed = {
        (action, each.resource)
        for each in statements("ServerPolicy", store.table)
        for action in each.actions
    }
    assert used == allowed


async def test_operators_policy_allows_all_of_planner_table_create(nothing: Store) -> None:
    capture = Capture(nothing)
    await create_table(nothing)
    refused = [
        need
        for operation, request in capture.requests
        for need in needs(operation, request)
        if not permits("OperatorPolicy", need)
    ]
    assert refused == []
    assert {"CreateTable", "UpdateTimeToLive", "UpdateContinuousBackups"} < {*capture.operations}
