"""gql.tada on the committed schema: every example operation has its types, and a round trip."""

import shutil
from pathlib import Path

import pytest
from graphql import FragmentDefinitionNode, FragmentSpreadNode, print_ast
from graphql.language import Visitor, visit

from tests.clients.examples import Definition, definitions, example, follow, run
from tests.docs.documents import ROOT, block_from

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with its packages."""
    return example("gql-tada", tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="module")
def said(folder: Path, url: str) -> list[str]:
    """What the commands of docs/clients.md print, after the one that installs."""
    page = ROOT / "docs" / "clients.md"
    _, *commands = block_from(page, "npm --prefix examples/gql-tada ci").splitlines()
    return follow(commands, folder.parents[1], url)


def test_round_trip(said: list[str]) -> None:
    assert said[-1].splitlines()[-3:] == [
        "added Katherine Johnson",
        "read Katherine Johnson, among 0 assignments",
        "deleted true",
    ]


class _Spreads(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> None:
        if node.name.value not in self.names:
            self.names.append(node.name.value)


def constant(definition: Definition) -> str:
    """A document as one writes it with gql.tada: with the fragments that it spreads beside it."""
    spreads = _Spreads()
    visit(definition, spreads)
    assert definition.name
    kind = "fragment" if isinstance(definition, FragmentDefinitionNode) else "operation"
    return (
        f"export const {kind}{definition.name.value} = graphql(`{print_ast(definition)}`, "
        f"[{', '.join(f'fragment{name}' for name in spreads.names)}])\n"
    )


TYPES = """
type Timeline = ResultOf<typeof operationTimeline>
type Assignment = Timeline["team"]["assignments"][number]
export const day: Assignment["startDate"] = "2026-03-01"
export const window: VariablesOf<typeof operationTimeline> = { from: day, to: day }
export const role: ResultOf<typeof operationViewer>["viewer"]["role"] = "VIEWER"
// @ts-expect-error a Date is a string
export const number: Assignment["startDate"] = 1
// @ts-expect-error what may dangle may be null
export const name = (assignment: Assignment) => assignment.resource.name
// @ts-expect-error there is no such role
export const other: ResultOf<typeof operationViewer>["viewer"]["role"] = "OWNER"
"""


def test_every_operation_has_its_types(said: list[str], folder: Path) -> None:
    """C-03: and each line that is wrong is an error, or `@ts-expect-error` would be one."""
    ordered = sorted(definitions(), key=lambda each: not isinstance(each, FragmentDefinitionNode))
    head = 'import { type ResultOf, type VariablesOf, graphql } from "./graphql.js"\n'
    documents = "".join(constant(each) for each in ordered)
    other = shutil.copytree(folder, folder.parent / "gql-tada-types", symlinks=True)
    (other / "src" / "operations.ts").write_text(head + documents + TYPES)
    assert "No problems found" in run("npm", "run", "check", cwd=other)
    # The check that finds nothing above does look at them.
    broken = documents.replace("endDateExclusive", "endDateInclusive", 1)
    (other / "src" / "operations.ts").write_text(head + broken)
    assert "endDateInclusive" in run("npm", "run", "check", cwd=other, fails=True)
