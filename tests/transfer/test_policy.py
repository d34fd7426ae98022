"""What the commands send is what `DataPolicy` of `infra/` allows: nothing less, nothing more."""

from pathlib import Path

import pytest

from data.clock import now
from data.entities import Entity, Membership, Role
from data.expressions import Item, s
from data.items import encode
from data.store import Store
from tests.api.audit import faults
from tests.api.samples import assignment, project, resource
from tests.api_client import put
from tests.infra.iam import needs, permits, statements
from tests.transfer.commands import planner
from tests.transfer.sent import recorded


@pytest.mark.engines("embedded")
async def test_every_statement_is_used_with_every_action_and_no_scan_is_sent(
    store: Store, team: str, tmp_path: Path
) -> None:
    user = f"user-{team}"
    await planner(store, "team", "create", "--id", team, "--name", "Team")
    asn = encode(team, assignment("2024-01-10", 90, id="a2"))
    del asn["pk"], asn["longEnd"]
    stuck = encode(team, resource("gone")) | {"deletingAt": s("2024-01-01T00:00:00.000Z")}
    del stuck["pk"]
    of_it = assignment("2024-02-01", id="a3", resource="gone")
    member = Membership(team_id=team, user_id=user, role=Role.ADMIN, joined_at=now())
    rows: list[Entity | Item] = [
        member,
        resource("r"),
        project("p"),
        assignment("2024-01-10", id="a1"),
        asn,
        stuck,
    ]
    await put(store, team, [*rows, of_it])
    with recorded(page_size=2) as sent:
        for arguments in (
            ("export", tmp_path / "out"),
            ("import", tmp_path / "out", "--dry-run"),
            ("import", tmp_path / "out", "--team", team, "--as", f"{team}-copy"),
            ("backfill", "--user", user, "--write"),
            ("doctor", "--team", team, "--fix"),
        ):
            run = await planner(store, *arguments)
            assert run.code == 0 or "gone" in run.err, run.err
    used = {
        (need.action, need.resource)
        for operation, request in sent
        for need in needs(operation, request)
    }
    refused = [
        need
        for operation, request in sent
        for need in needs(operation, request)
        if not permits("DataPolicy", need)
    ]
    assert refused == []
    allowed = {
        (action, each.resource)
        for each in statements("DataPolicy", store.table)
        for action in each.actions
    }
    assert used == allowed
    placeless = [
        fault
        for operation, request in sent
        for fault in faults(operation, request, team=None)
        if "placeholder" in fault or "legacy" in fault or "none of the operations" in fault
    ]
    assert placeless == []
