"""What docs/data.md shows is what happens: its lines are imported, its commands are run."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from data.administration import create_table
from data.doctor import Fault
from data.entities import EntityType
from data.jsonl import UNKNOWN, item_of
from data.opening import open_store
from data.store import Store
from server.engines import DUMMY_CREDENTIALS
from tests.docs.documents import ROOT, rows, text
from tests.transfer.commands import planner

PAGE: Final = ROOT / "docs" / "data.md"
README: Final = ROOT / "README.md"


def blocks(language: str, page: Path = PAGE) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)


def session() -> list[tuple[list[str], str]]:
    """The commands of all consoles of the page, in their order, with what they print."""
    found = []
    for block in blocks("console"):
        for command in block.split("$ planner ")[1:]:
            arguments, _, output = command.partition("\n")
            found.append((arguments.split(), output))
    return found


@pytest.fixture
async def new_table(engine: str) -> AsyncIterator[Store]:
    """A table of this page's own, since it speaks of all teams."""
    async with open_store(
        "planner-page", endpoint_url=engine, credentials=DUMMY_CREDENTIALS
    ) as store:
        await create_table(store)
        yield store


@pytest.mark.engines("local")
async def test_commands_of_the_page_print_what_it_shows(
    new_table: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [lines] = blocks("json")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / UNKNOWN).write_text(lines)
    commands = session()
    assert {arguments[0] for arguments, _ in commands} == {"import", "backfill", "doctor", "export"}
    for arguments, output in commands:
        run = await planner(new_table, *arguments)
        assert (run.code, run.out, run.err) == (0, output, ""), arguments
    manifest = json.loads((tmp_path / "backup" / "manifest.json").read_text())
    explained = set(re.findall(r"`(\w+)`", " ".join(_cells("files", 0))))
    assert manifest.keys() <= explained
    assert explained - manifest.keys() == {"table", "moment"}
    # What the README shows is the same, with a team that is there.
    [readme] = [block for block in blocks("sh", README) if "planner export" in block]
    (tmp_path / "backup").rename(tmp_path / "before")
    for line in readme.splitlines():
        run = await planner(new_table, *line.split("#")[0].split()[1:])
        assert (run.code, run.err) == (0, ""), line


def _cells(title: str, column: int) -> list[str]:
    """The cells of the first table below a heading."""
    section = re.split(rf"^## The {title}$", text(PAGE), flags=re.MULTILINE)[1]
    table = re.findall(r"(?:^\|.*\|\n)+", section, re.MULTILINE)[0].splitlines()[2:]
    return [line.strip("|").split("|")[column] for line in table]


def test_lines_of_the_page_are_items() -> None:
    [lines] = blocks("json")
    assert [item_of(line.encode())["pk"] for line in lines.splitlines()] == [{"S": "TEAM#acme"}] * 4


def test_every_fault_has_its_row_and_what_can_be_fixed_says_how() -> None:
    faults = rows(PAGE, "[A-Z_]{7,}")
    assert faults.keys() == set(Fault)
    assert {fault for fault, cells in faults.items() if cells[1]} == {
        Fault.UNTYPED,
        Fault.WRONG_ATTRIBUTE,
        Fault.STUCK_DELETION,
    }


def test_files_of_the_plan_are_named() -> None:
    named = {EntityType.TEAM, EntityType.MEMBERSHIP, EntityType.RESOURCE, EntityType.PROJECT}
    for kind in named | {EntityType.ASSIGNMENT, EntityType.CLAIM, EntityType.SESSION}:
        assert f"`{kind}.jsonl`" in text(PAGE)
