"""What the documents list is what the code has: settings, codes, commands, packages, decisions."""

import enum
import re
import tomllib
from collections.abc import Iterator

import pytest
import typer

from data.decoding import SkipCode
from data.errors import PlannerError, ProblemCode
from server.cli import app
from server.settings import Settings, variables
from tests.docs.documents import DOCUMENTS, ROOT, rows, text

DOCS = ROOT / "docs"
ADRS = sorted((DOCS / "adr").glob("[0-9]*.md"))


def shown(default: object) -> str:
    """A default as the table shows it."""
    if default is None or default in ("", ()):
        return "not set"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default.value if isinstance(default, enum.Enum) else default}`"


def error_codes(type: type[PlannerError] = PlannerError) -> Iterator[str]:
    yield type.code
    for each in type.__subclasses__():
        yield from error_codes(each)


def commands(group: typer.Typer, *above: str) -> Iterator[str]:
    for command in group.registered_commands:
        callback = command.callback
        yield " ".join([*above, command.name or (callback.__name__ if callback else "")])
    for below in group.registered_groups:
        if below.typer_instance:
            yield from commands(below.typer_instance, *above, str(below.name))


def packages() -> Iterator[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in sum(project["optional-dependencies"].values(), project["dependencies"]):
        name = re.split(r"[^\w.-]", requirement)[0]
        if name != project["name"]:
            yield name


def test_every_setting_has_its_row_with_its_default() -> None:
    expected = {
        variables(name)[0]: shown(field.default) for name, field in Settings.model_fields.items()
    }
    found = {name: cells[0] for name, cells in rows(DOCS / "settings.md").items()}
    assert found == expected


def test_every_other_name_of_a_setting_is_in_its_row() -> None:
    table = rows(DOCS / "settings.md")
    for name in Settings.model_fields:
        first, *others = variables(name)
        assert all(f"`{other}`" in table[first][1] for other in others)


def test_every_error_code_is_listed_and_no_other() -> None:
    assert rows(DOCS / "errors.md").keys() == {*error_codes(), *ProblemCode, *SkipCode}


@pytest.mark.parametrize("command", list(commands(app)))
def test_every_command_is_named_in_the_documents(command: str) -> None:
    assert any(f"planner {command}" in text(document) for document in DOCUMENTS)


@pytest.mark.parametrize("package", list(packages()))
def test_contributing_says_why_each_package_is_here(package: str) -> None:
    assert f"`{package}`" in text(ROOT / "CONTRIBUTING.md")


def test_contributing_names_every_target_of_make() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    contributing = text(ROOT / "CONTRIBUTING.md")
    assert [target for target in targets if f"`make {target}`" not in contributing] == []


def test_decisions_are_numbered_without_a_gap_and_indexed() -> None:
    assert [int(path.name[:4]) for path in ADRS] == list(range(1, len(ADRS) + 1))
    index = text(DOCS / "adr" / "README.md")
    assert [path.name for path in ADRS if f"]({path.name})" not in index] == []


def test_every_decision_has_the_same_four_parts() -> None:
    parts = ["Context", "Decision", "Consequences", "Alternatives"]
    for path in ADRS:
        assert re.findall(r"^## (.+)$", text(path), re.MULTILINE) == parts, path.name
