"""The results as one page of Markdown: what was measured, on what, and how."""

import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from json import loads
from pathlib import Path
from typing import Final

from bench.markdown import table
from bench.run import Effort
from bench.servers import ROOT
from server.assets import DYNAMODB_LOCAL

__all__ = ["page"]

_PACKAGES: Final = ("uvicorn", "uvloop", "strawberry-graphql", "graphql-core", "aioboto3", "orjson")
_NPM: Final = (
    "@apollo/server",
    "graphql-yoga",
    "mercurius",
    "fastify",
    "graphql-jit",
    "graphql",
    "@aws-sdk/lib-dynamodb",
)

_METHOD: Final = """\
Every server is a process of its own in its production settings, over the same table. Before
anything is timed, all of them must answer the same JSON. Then each is warmed up, and measured in
rounds, all in turn; in each round first one request after the other, then sixteen at a time. CPU
is user and system time of the whole process, all threads, divided by the requests. The load
generator and the stand-in for DynamoDB run on one core; the servers may use both.

`replay` is a stand-in for DynamoDB that answers from memory what DynamoDB Local answered before,
so that what is measured is the server; `local` is DynamoDB Local itself.

* Absolute milliseconds move by a factor of up to two between runs and machines. Quote ratios:
  both sides of one were measured in the same round.
* The peers share [one module of resolvers](peers/timeline.mjs): AWS SDK for JavaScript v3 with
  its document client, one Query for a whole timeline, relations by look-up in maps, synchronous
  resolvers. A peer that is *ranged* reads a window as three ranges of keys at once; the others
  read the whole partition and filter.
* Handicap of ours: it reads the session of every request, holds each against its limits,
  checks every item that it reads, and counts for its metrics. The peers believe a header, and do
  none of this.
* Memory: RSS is what a server has after the workload, peak the most it ever had."""


def page(effort: Effort, endpoints: Sequence[str], sections: Sequence[str], seconds: float) -> str:
    """The whole page."""
    quotable = "" if effort.is_quotable else "**A quick run: not for quoting.**\n\n"
    plans = ", ".join(f"{effort.plans[name].rounds} rounds on `{name}`" for name in endpoints)
    took = f"It took {seconds / 60:.0f} minutes: {plans}."
    head = f"# Results of the benchmark\n\n{quotable}{_when()} {took}\n\n{_versions()}"
    return "\n\n".join([head, f"## Method\n\n{_METHOD}", *sections]) + "\n"


def _when() -> str:
    commit = _said("git", "rev-parse", "--short", "HEAD") or "no commit"
    dirty = (
        ", with changes"
        if _said("git", "status", "--porcelain", "--", ":!bench/RESULTS.md")
        else ""
    )
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit}{dirty}."


def _versions() -> str:
    lock = loads((Path(__file__).parent / "peers" / "package-lock.json").read_text())["packages"]
    rows = [
        ("Linux", platform.release().split("-")[0]),
        ("processor", _processor()),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in _PACKAGES),
        ("Node", _said("node", "--version")),
        *((name, lock[f"node_modules/{name}"]["version"]) for name in _NPM),
        ("DynamoDB Local", f"of {DYNAMODB_LOCAL.name} {DYNAMODB_LOCAL.version}"),
    ]
    return table(("", "version"), rows)


def _processor() -> str:
    info = Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*: (.*)$", info, re.MULTILINE)
    count = len(re.findall(r"^processor\s*:", info, re.MULTILINE))
    return f"{count} × {name[1] if name else platform.machine()}"


def _said(command: str, *arguments: str) -> str:
    found = shutil.which(command)
    if found is None:
        return ""
    ran = subprocess.run(  # noqa: S603 - commands of this module only
        [found, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return ran.stdout.strip()
