"""Commands that end in the middle: run again, the outcome is the same as of one that did not."""

import asyncio
import json
import re
import signal
from pathlib import Path
from typing import Final

import pytest

from data.entities import Entity, Team
from data.expressions import Item, s
from data.items import encode
from data.stamps import created
from data.store import Store
from tests.api.samples import assignment, project, resource
from tests.api_client import everything, put
from tests.engines import DEEP, Engines
from tests.transfer.commands import planner, start
from tests.transfer.files import items_in, sorted_items, write_s3_export

KILLED: Final = -signal.SIGKILL


@pytest.fixture(scope="module")
def engine(engines: Engines) -> str:
    """The address of DynamoDB Local: what is killed here is the command, not what it asks."""
    return engines("local")


def dying(after: int, where: str) -> str:
    """Code that has the process killed at one of the calls of a method."""
    return f"""
import os, signal
import data.archive, data.store
owner, name = {where}
real, calls = getattr(owner, name), 0
def dying(*arguments, **options):
    global calls
    calls += 1
    if calls == {after}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)
setattr(owner, name, dying)
"""


async def killed(store: Store | None, *arguments: str | Path, after: int, where: str) -> int | None:
    """The exit code of the command that is killed at that call."""
    process = await start(store, *arguments, before=dying(after, where))
    await process.communicate()
    return process.returncode


async def seed(store: Store, team: str) -> list[Item]:
    entities: list[Entity] = [
        created(Team(id=team, name="Team")),
        resource("r"),
        project("p"),
        *(assignment("2024-01-10", id=f"a{number:03}") for number in range(150)),
    ]
    await put(store, team, entities)
    return [encode(team, entity) for entity in entities]


EXPORT_DEATHS = [
    ("data.archive.Archive, 'write'", 1),
    ("data.archive.Archive, 'write'", 200),
    ("data.archive.Archive, 'commit'", 1),
    ("data.archive.Archive, 'commit'", 3),
    ("data.archive, 'checksum'", 2),
    ("data.archive.os, 'fsync'", 4),
]


@pytest.mark.parametrize(("where", "after"), EXPORT_DEATHS if DEEP else EXPORT_DEATHS[1::3])
async def test_export_that_was_killed_goes_on_and_ends_like_one_that_was_not(
    store: Store, team: str, tmp_path: Path, where: str, after: int
) -> None:
    teams = [f"{team}-{number}" for number in range(3)]
    items = [item for each in teams for item in await seed(store, each)]
    named = [part for each in teams for part in ("--team", each)]
    out = tmp_path / "out"
    assert await killed(store, "export", out, *named, after=after, where=where) == KILLED
    refused = await planner(store, "import", out)
    assert refused.code == 1, "half an export is not imported"
    assert (await planner(store, "export", out, *named)).code == 0
    assert (await planner(store, "export", tmp_path / "whole", *named)).code == 0
    for path in (tmp_path / "whole").glob("*.jsonl"):
        assert (out / path.name).read_bytes() == path.read_bytes()
    assert sorted_items(items_in(*out.glob("*.jsonl"))) == sorted_items(items)
    sums = [
        json.loads((f / "manifest.json").read_text())["files"] for f in (out, tmp_path / "whole")
    ]
    assert sums[0] == sums[1]


async def test_split_that_was_killed_goes_on_with_the_files_that_are_left(tmp_path: Path) -> None:
    items = [encode("t", assignment("2024-01-10", id=f"a{number}")) for number in range(90)]
    lines = [json.dumps({"Item": item}) + "\n" for item in items]
    files = ["".join(lines[n : n + 30]).encode() for n in (0, 30, 60)]
    write_s3_export(tmp_path / "s3", files, [30, 30, 30])
    arguments = ("export", tmp_path / "out", "--from-s3-export", tmp_path / "s3")
    code = await killed(None, *arguments, after=50, where="data.archive.Archive, 'write'")
    assert code == KILLED
    assert (await planner(None, *arguments)).code == 0
    assert (tmp_path / "out" / "Assignment.jsonl").read_text() == "".join(lines)


IMPORT_DEATHS = [("put", 1), ("put", 3), ("transact", 1), ("transact", 3), ("transact", 5)]


@pytest.mark.parametrize(("method", "after"), IMPORT_DEATHS if DEEP else IMPORT_DEATHS[1::2])
async def test_import_that_was_killed_is_run_again_and_all_is_there_once(
    store: Store, team: str, tmp_path: Path, method: str, after: int
) -> None:
    await seed(store, team)
    await planner(store, "export", tmp_path / "out", "--team", team)
    copy = f"{team}-copy"
    arguments = ("import", tmp_path / "out", "--team", team, "--as", copy)
    where = f"data.store.Store, '{method}'"
    assert await killed(store, *arguments, after=after, where=where) == KILLED
    run = await planner(store, *arguments)
    # What was under way when it was killed may be done or not.
    written, there = map(int, re.findall(r"\d+", run.out))
    assert (run.code, written + there) == (0, 153)
    assert written > 0
    whole = [{**item, "pk": s("")} for item in await everything(store, copy)]
    wanted = [{**item, "pk": s("")} for item in await everything(store, team)]
    for item in (*whole, *wanted):
        if item["sk"] == s("META"):
            item |= {"id": s(""), "GSI1SK": s("")}
    assert sorted_items(whole) == sorted_items(wanted)


async def test_backfill_that_was_killed_is_run_again(store: Store, team: str) -> None:
    items = await seed(store, team)
    untyped = [{k: v for k, v in item.items() if k not in ("pk", "EntityType")} for item in items]
    await put(store, team, untyped)
    arguments = ("backfill", "--team", team, "--write")
    assert await killed(store, *arguments, after=70, where="data.store.Store, 'update'") == KILLED
    run = await planner(store, *arguments)
    # What was under way when it was killed may be done or not.
    [added] = re.findall(r"EntityType: added to (\d+)", run.out)
    assert (run.code, 153 - 70 <= int(added) < 153) == (0, True)
    assert sorted_items(await everything(store, team)) == sorted_items(items)


async def test_ctrl_c_ends_an_import_at_once_and_without_a_traceback(
    store: Store, team: str, tmp_path: Path
) -> None:
    await seed(store, team)
    await planner(store, "export", tmp_path / "out", "--team", team)
    # A request that never ends, which says that it began. Whoever is started in the background of a
    # shell ignores Ctrl-C, and so would this.
    hang = """
import asyncio, data.store, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
async def hang(*arguments, **options):
    print("hanging", flush=True)
    await asyncio.sleep(3600)
data.store.Store.transact = hang
"""
    process = await start(
        store, "import", tmp_path / "out", "--team", team, "--as", f"{team}-copy", before=hang
    )
    assert process.stdout
    assert process.stderr
    assert await asyncio.wait_for(process.stdout.readline(), 60) == b"hanging\n"
    process.send_signal(signal.SIGINT)
    _, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode not in (0, None)
    assert b"Traceback" not in err
    run = await planner(store, "import", tmp_path / "out", "--team", team, "--as", f"{team}-copy")
    assert run.code == 0
