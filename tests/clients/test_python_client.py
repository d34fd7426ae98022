"""The Python client that ariadne-codegen generates: its types are strict, its days are dates."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.examples import clean_copy, documents, environment, follow, run
from tests.docs.documents import ROOT, block_from

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def programs() -> Path:
    """The programs of a Python that has ariadne-codegen and what it needs."""
    return environment("python")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, as it is in a clone."""
    return clean_copy(tmp_path_factory.mktemp("clone")) / "examples" / "python"


@pytest.fixture(scope="module")
def said(folder: Path, programs: Path, url: str) -> list[str]:
    """What the commands of docs/clients.md print, after those that install."""
    (folder / ".venv").symlink_to(programs.parent)
    commands = block_from(ROOT / "docs" / "clients.md", "cd examples/python").splitlines()
    assert commands[2] == ".venv/bin/pip install --require-hashes -r requirements.txt"
    return follow(commands[3:], folder, url)


def test_round_trip(said: list[str]) -> None:
    """C-03: and what an update leaves out stays."""
    assert said[-1].splitlines() == [
        "Ada Lovelace: 2026-03-09, 5 days, By hand",
        "deleted, with 1 assignment",
    ]


def test_every_operation_is_a_method(said: list[str], folder: Path, programs: Path) -> None:
    listed = "from planner_client import Planner; print(*vars(Planner))"
    methods = run(programs / "python", "-c", listed, cwd=folder).split()
    assert {name.lower() for name in documents()} <= {name.replace("_", "") for name in methods}


RIGHT = """
from datetime import date
from planner_client import AssignmentFields, CreateAssignmentInput, ResourceFields
def first(assignment: AssignmentFields) -> date:
    return assignment.start_date
"""
WRONG = """
def number(assignment: AssignmentFields) -> int:
    return assignment.start_date
def dangling(assignment: AssignmentFields) -> None:
    print(assignment.resource.name)
CreateAssignmentInput(resource_id="1", project_id="1", start_date="today", end_date=date.max)
def absent(resource: ResourceFields) -> None:
    print(resource.email)
"""


def test_types_are_strict(said: list[str], folder: Path, programs: Path) -> None:
    """C-03: a Date is a `datetime.date`; each wrong line is an error, and no other is."""
    (folder / "typed.py").write_text(RIGHT + WRONG)
    mypy = [sys.executable, "-m", "mypy", "--python-executable", str(programs / "python")]
    cache = ["--cache-dir", str(folder.parent / ".mypy_cache"), "--no-error-summary", "."]
    checked = subprocess.run([*mypy, *cache], cwd=folder, capture_output=True, text=True)
    assert checked.stderr == ""
    found = [line.rpartition("[")[2].rstrip("]") for line in checked.stdout.splitlines()]
    assert all(line.startswith("typed.py:") for line in checked.stdout.splitlines())
    assert found == ["return-value", "union-attr", "arg-type", "attr-defined"]
