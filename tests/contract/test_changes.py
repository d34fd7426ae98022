"""What breaks clients of the last release is announced, or it is not in the schema.

`released.graphql` is the schema of the last release; until there is one, that which clients were
first promised. CHANGELOG.md announces a break among what is unreleased, by GraphQL Inspector's
path: a list entry that begins with

    - **Breaking:** `Team.members`, `Membership`: ...
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.docs.documents import ROOT, text
from tests.npm import asker

pytestmark = pytest.mark.web

CURRENT: Final = (ROOT / "schema.graphql").read_text(encoding="utf-8")
RELEASED: Final = Path(__file__).with_name("released.graphql").read_text(encoding="utf-8")

# Inspector calls these dangerous even where they are optional. No client has to send them.
OPTIONAL_INPUT: Final = {"FIELD_ARGUMENT_ADDED", "INPUT_FIELD_ADDED"}


@dataclass(frozen=True)
class Change:
    """One difference between two schemas, as GraphQL Inspector sees it."""

    type: str
    path: str
    message: str
    level: str

    @property
    def is_to_be_announced(self) -> bool:
        """Whether it can break a client that was right before: a value more of an enum, too, since
        strict clients fail on one that they have not heard of (C-04)."""
        if self.level == "DANGEROUS":
            return self.type not in OPTIONAL_INPUT
        return self.level == "BREAKING"


def changes(npm: Path, before: str, after: str) -> list[Change]:
    told = asker(npm, "diff.mjs")(before=before, after=after)
    assert isinstance(told, list)
    # What is of the schema as a whole has no path.
    return [Change(**{"path": "", **each}) for each in told]


def announced(changelog: str) -> set[str]:
    """The paths that are announced as breaking among what is unreleased."""
    unreleased = re.split(r"^## ", changelog, flags=re.MULTILINE)[1]
    assert unreleased.startswith("Unreleased\n")
    lists = re.findall(r"^- \*\*Breaking:\*\* ((?:`[\w.@]+`[,\s]*)+)", unreleased, re.MULTILINE)
    return {path for each in lists for path in re.findall(r"`([^`]+)`", each)}


def test_what_breaks_clients_of_the_last_release_is_announced_and_nothing_else_is(
    npm: Path,
) -> None:
    """C-04. Announced and not found: it is spelled otherwise, or has been taken back."""
    found = {each.path for each in changes(npm, RELEASED, CURRENT) if each.is_to_be_announced}
    assert found == announced(text(ROOT / "CHANGELOG.md"))


NOTE = '  """Free text; lines may break."""\n  note: String\n'
NAME = '  """What people call it."""\n  name: String!\n'
COLOR = '  """`#RRGGBB`."""\n  color: String!\n'
VIEWER = '  """May read."""\n  VIEWER\n'
DELETE = "input DeleteInput {\n"


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        pytest.param(NOTE, "", "Assignment.note", id="a field is gone"),
        pytest.param(NAME, NAME.replace("!", ""), "Project.name", id="a field may be null"),
        pytest.param(VIEWER, VIEWER + "  OWNER\n", "Role.OWNER", id="a value more"),
        pytest.param(VIEWER, "", "Role.VIEWER", id="a value less"),
        pytest.param("nodes(", "nodes(a: Int!", "Query.nodes.a", id="an argument must be sent"),
        pytest.param(DELETE, DELETE + "  a: Int!\n", "DeleteInput.a", id="an input must be sent"),
        pytest.param("type Query {", "type Query { a: Int", None, id="a field more"),
        pytest.param("nodes(", "nodes(a: Int = 1 ", None, id="an argument may be sent"),
        pytest.param(DELETE, DELETE + "  a: Int = 1\n", None, id="an input may be sent"),
        pytest.param(COLOR, COLOR.replace("!", ""), None, id="an input need not be sent"),
        pytest.param(NAME, NAME.replace("What", "How"), None, id="other words"),
    ],
)
def test_a_change_is_to_be_announced_if_it_can_break_a_client(
    npm: Path, before: str, after: str, path: str | None
) -> None:
    """C-04."""
    assert before in CURRENT
    found = changes(npm, CURRENT, CURRENT.replace(before, after, 1))
    assert found
    assert [each.path for each in found if each.is_to_be_announced] == ([path] if path else [])


def test_a_break_is_announced_by_its_path_among_what_is_unreleased() -> None:
    changelog = """# Changelog

## Unreleased

- **Breaking:** `Team.members`, `Role.OWNER`: ask `viewer` instead.
- Not breaking: `Team.name`.
- **Breaking:** `Viewer`
  is gone.

## 1.0.0

- **Breaking:** `Query.node` is gone.
"""
    assert announced(changelog) == {"Team.members", "Role.OWNER", "Viewer"}
