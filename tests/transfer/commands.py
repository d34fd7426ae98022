"""The command `planner` as operators run it, on the table of a store."""

import asyncio
import io
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from data.store import Store
from server.cli import main
from tests.programs import PLANNER

__all__ = ["Run", "planner", "start"]


@dataclass(frozen=True, slots=True)
class Run:
    """How it ended, and what it said."""

    code: int
    out: str
    err: str


async def planner(store: Store | None, *arguments: str | Path) -> Run:
    """The command, to its end, in a thread of this process: a new one takes seconds to start."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in _environment(store).items():
            patch.setenv(name, value)
        patch.setattr("sys.argv", ["planner", *map(str, arguments)])
        code = await asyncio.to_thread(_run)
    return Run(code, out.getvalue(), err.getvalue())


def _run() -> int:
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


async def start(
    store: Store | None, *arguments: str | Path, before: str = ""
) -> asyncio.subprocess.Process:
    """The command as it begins, in a process of its own; `before` is a line of code that it runs
    first."""
    python, flag, code = PLANNER
    return await asyncio.create_subprocess_exec(
        *(python, flag, f"{before}\n{code}", *map(str, arguments)),
        env={**os.environ, **_environment(store)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


def _environment(store: Store | None) -> dict[str, str]:
    table = (
        {
            "AWS_ENDPOINT_URL_DYNAMODB": store.client.meta.endpoint_url,
            "PLANNER_TABLE": store.table,
        }
        if store
        else {}
    )
    return {"COLUMNS": "200", **table}
