"""The schema and the example operations are as graphql-eslint recommends, but for what
`eslint.config.mjs` gives a reason for."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.docs.documents import ROOT
from tests.npm import asker

pytestmark = pytest.mark.web


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of what is linted."""
    shutil.copy(ROOT / "schema.graphql", tmp_path)
    shutil.copytree(ROOT / "examples" / "operations", tmp_path / "operations")
    return tmp_path.resolve()


def lint(npm: Path, folder: Path) -> list[dict[str, Any]]:
    """What is wrong, after each file was looked at."""
    told = asker(npm, "lint.mjs")(folder=str(folder))
    assert isinstance(told, dict)
    assert told["files"] == len([*folder.rglob("*.graphql")])
    wrong: list[dict[str, Any]] = told["told"]
    return wrong


def test_schema_and_operations_pass(npm: Path, folder: Path) -> None:
    assert lint(npm, folder) == []


ASKING = '\n"""Who is asking."""\n'
PAGES = '\n"""Pages."""\ntype LinkConnection {\n  """A key."""\n  key: ID!\n}\n'
VIEWER = "operations/viewer.graphql"
BROKEN = [
    ("schema.graphql", '  """The first day."""\n  startDate', "  startDate", "require-description"),
    ("schema.graphql", "  updatedAt: String", "  updated_at: String", "naming-convention"),
    ("schema.graphql", ASKING, PAGES + ASKING, "no-unreachable-types"),
    ("schema.graphql", "Pages", "The same", "strict-id-in-types"),
    ("schema.graphql", "A key", "The same", "relay-connection-types"),
    (VIEWER, "query Viewer", "query GetViewer", "naming-convention"),
    (VIEWER, "      teamId\n", "      team\n", "fields-on-correct-type"),
    (VIEWER, "teams {\n      id\n", "teams {\n", "require-selections"),
]


def test_what_breaks_a_rule_is_found(npm: Path, folder: Path) -> None:
    """All at once, since each look at the schema takes seconds."""
    for file, before, after, _ in BROKEN:
        path = folder / file
        assert before in path.read_text()
        path.write_text(path.read_text().replace(before, after, 1))
    found = {(each["file"], str(each["rule"]).split("/")[-1]) for each in lint(npm, folder)}
    assert found == {(file, rule) for file, _, _, rule in BROKEN}
