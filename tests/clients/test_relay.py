"""Relay on the committed schema: its compiler takes every example operation, its store follows a
mutation without another request, and its hashes are trusted documents."""

import json
import shutil
from pathlib import Path

import pytest
from graphql import print_ast

from server.settings import Settings
from tests.api_client import token
from tests.clients.examples import definitions, documents, example, follow, run
from tests.docs.documents import ROOT, block_from
from tests.live import live

pytestmark = pytest.mark.web

CLIENTS = ROOT / "docs" / "clients.md"
PERSIST = '"persistConfig": {'
TOUR = [
    "planned: 2026-03-02",
    "moved: 2026-03-09 to 2026-03-13, without a request",
    "deleted, with 1 assignment; left in the store: 0",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, before anything is generated."""
    return example("relay", tmp_path_factory.mktemp("clone"))


def copy(folder: Path, name: str) -> Path:
    return shutil.copytree(folder, folder.parent / f"relay-{name}", symlinks=True)


def adapt(folder: Path, **options: object) -> None:
    """Sets options of the compiler."""
    config = folder / "relay.config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), **options}))


def variables(url: str) -> dict[str, str]:
    return {"PLANNER_URL": url, "PLANNER_TOKEN": token("team-of-relay")}


def test_round_trip_and_the_store(folder: Path, url: str) -> None:
    """C-02: Relay knows an object by its id alone; it warns of one that two types share."""
    _, *commands = block_from(CLIENTS, "npm --prefix examples/relay ci").splitlines()
    _, said = follow(commands, folder.parents[1], url)
    assert said.splitlines()[-3:] == TOUR
    assert "Warning" not in said


def test_compiler_takes_every_operation(folder: Path) -> None:
    """C-03: the types that it writes check, and a Date in them is a string."""
    other = copy(folder, "operations")
    # Else it wants `@alias`, which no other client knows, where a fragment may not match.
    adapt(other, featureFlags={"enforce_fragment_alias_where_ambiguous": {"kind": "disabled"}})
    tags = [f"export const d{n} = graphql`{print_ast(d)}`" for n, d in enumerate(definitions())]
    head = 'import { graphql } from "relay-runtime"\n'
    (other / "src" / "operations.ts").write_text(head + "\n".join(tags))
    run("npm", "run", "generate", cwd=other)
    written = {file.name for file in (other / "src" / "__generated__").iterdir()}
    assert {f"{name}.graphql.ts" for name in documents()} <= written
    (other / "src" / "types.ts").write_text(
        'import type { AssignmentFields$data } from "./__generated__/AssignmentFields.graphql.js"\n'
        'export const day: AssignmentFields$data["startDate"] = "2026-03-01"\n'
        "// @ts-expect-error a Date is a string\n"
        'export const number: AssignmentFields$data["startDate"] = 1\n'
    )
    run("npm", "run", "check", cwd=other)


def test_server_trusts_what_the_compiler_wrote(folder: Path, settings: Settings) -> None:
    other = copy(folder, "trusted")
    documented = json.loads(f"{{{block_from(CLIENTS, PERSIST)}}}")
    manifest = other / documented["persistConfig"]["file"]
    manifest.write_text("{}")
    adapt(other, **documented)
    run("npm", "run", "generate", cwd=other)
    with live(settings.model_copy(update={"trusted_documents": manifest})) as address:
        said = run("npm", "start", cwd=other, variables=variables(f"{address}/graphql"))
    assert said.splitlines()[-3:] == TOUR
