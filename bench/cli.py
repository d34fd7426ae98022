"""The command: `python -m bench`, or `make bench`."""

import enum
import os
import signal
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from bench.data import TEAMS
from bench.endpoints import LOCAL, REPLAY, UnknownRequests, database
from bench.equality import Different
from bench.processes import LOAD_CPUS, ProcessFailed
from bench.report import page
from bench.run import FULL, QUICK, Effort, Run, Section
from bench.sections import SECTIONS
from bench.servers import ROOT, SERVERS, Server, peers_folder
from bench.wire import WrongAnswer
from bench.workloads import WORKLOADS, Workload
from server.assets import AssetError
from server.engine_process import EngineError
from server.engines import find_java

__all__ = ["main"]

HOME: Final = ROOT / ".planner"
RESULTS: Final = ROOT / "bench" / "RESULTS.md"
_FAILURES: Final = (
    AssetError,
    EngineError,
    Different,
    ProcessFailed,
    UnknownRequests,
    WrongAnswer,
)
_QUICK_WORKLOADS: Final = ("tiny", "medium", "narrow", "create")
err = Console(stderr=True)


class EndpointName(enum.StrEnum):
    """Where the servers read: see bench/endpoints.py."""

    REPLAY = REPLAY
    LOCAL = LOCAL


def main() -> None:
    """Runs the command."""
    # Ended from outside, it ends what it started, as with Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(_bench)
    app()


def _bench(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Under three minutes, without `small` and `large`; not for quoting."
        ),
    ] = False,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Rounds on each endpoint; else 5 and 3.")
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option(help=f"Only this; may be given again. {', '.join(WORKLOADS)}"),
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option(help="Only servers whose name has this in it; may be given again."),
    ] = None,
    endpoint: Annotated[
        list[EndpointName] | None, typer.Option(help="Only this; may be given again.")
    ] = None,
    section: Annotated[
        list[str] | None,
        typer.Option(help=f"Only this; may be given again. {', '.join(SECTIONS)}"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the results; else bench/RESULTS.md, and .planner/bench/RESULTS.md "
            "for what is no whole run."
        ),
    ] = None,
) -> None:
    """Measure our server and its peers (Apollo Server, GraphQL Yoga, Mercurius) side by side.

    Needs npm and Java. A whole run takes half an hour, in which the machine should do nothing else.
    docs/performance.md says what is measured and how to read it.
    """
    _check("workload", workload, WORKLOADS)
    _check("section", section, SECTIONS)
    servers = [each for each in SERVERS if not server or any(part in each.name for part in server)]
    if not servers:
        raise typer.BadParameter(f"no such server; there are {', '.join(s.name for s in SERVERS)}")
    is_whole = not (quick or rounds or workload or server or endpoint or section)
    # Whoever asks for something in particular wants no more than that.
    parts = section or ([*SECTIONS] if is_whole else ["comparison"])
    names = workload or (_QUICK_WORKLOADS if quick else [*WORKLOADS])
    try:
        text = _measure(
            (QUICK if quick else FULL).with_rounds(rounds),
            [WORKLOADS[name] for name in names],
            servers,
            endpoint or ([REPLAY] if quick else [REPLAY, LOCAL]),
            [SECTIONS[name] for name in parts],
        )
    except _FAILURES as failure:
        err.print(Text(str(failure), "red"), soft_wrap=True)
        raise typer.Exit(1) from None
    file = output or (RESULTS if is_whole else HOME / "bench" / "RESULTS.md")
    file.write_text(text, encoding="utf-8")
    err.print(f"Written: {file}", soft_wrap=True)


def _check(option: str, given: Collection[str] | None, known: Collection[str]) -> None:
    if unknown := sorted({*(given or ())} - {*known}):
        hint = f"--{option}"
        raise typer.BadParameter(f"{', '.join(unknown)}; {', '.join(known)}", param_hint=hint)


def _measure(
    effort: Effort,
    workloads: Sequence[Workload],
    servers: Sequence[Server],
    endpoints: Sequence[str],
    sections: Sequence[Section],
) -> str:
    began = time.monotonic()
    find_java()
    peers = peers_folder(HOME)
    # The load generator is this process; what it starts may run elsewhere.
    os.sched_setaffinity(0, LOAD_CPUS)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, auto_refresh=False, transient=True) as bar:
        task = bar.add_task("")

        def progress(said: str) -> None:
            bar.update(task, description=said, refresh=True)

        def done() -> None:
            bar.update(task, advance=1, refresh=True)

        asked = {each.team for each in workloads} | {t for each in sections for t in each.teams}
        teams = [team for team in TEAMS if team in asked]
        with database(HOME, teams, progress) as port:
            run = Run(
                effort, workloads, servers, endpoints, port, peers, progress=progress, done=done
            )
            bar.update(task, total=sum(section.parts(run) for section in sections))
            texts = [section.write(run) for section in sections]
    return page(effort, endpoints, texts, time.monotonic() - began)
