"""The command: `python -m bench.live`, or `make bench-live`."""

import asyncio
import signal
import sys
from dataclasses import replace
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from bench.live.report import page, problems
from bench.live.scenario import Outcome, Plan, run
from bench.processes import ProcessFailed
from bench.servers import ROOT
from server.engine_process import EngineError

__all__ = ["main"]

HOME: Final = ROOT / ".planner"
RESULTS: Final = HOME / "bench" / "LIVE.md"
err = Console(stderr=True)


def main() -> None:
    """Runs the command."""
    # Ended from outside, it ends what it started, as with Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(_bench)
    app()


def _bench(
    teams: Annotated[int, typer.Option(min=1, help="How many teams.")] = 20,
    subscribers: Annotated[int, typer.Option(min=1, help="Of each team.")] = 10,
    mutations: Annotated[int, typer.Option(min=10, help="In all.")] = 2_000,
    rate: Annotated[float, typer.Option(min=1, help="Mutations in a second.")] = 50,
) -> None:
    """Measure live updates: two servers on DynamoDB Local, and what each subscriber is told.

    Twice: with both servers to the end, and with one that is killed in the middle. Fails when a
    change was missed, came twice, in the wrong order or to the wrong team, when half of the
    deliveries took 500 ms or more, or when memory grew. Needs Java; takes two minutes.
    """
    plan = Plan(teams, subscribers, mutations, rate)
    outcomes = [_measured(plan), _measured(replace(plan, kill=True))]
    text = "\n\n".join(["# Live updates", *map(page, outcomes)]) + "\n"
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")
    typer.echo(text)
    err.print(f"Written: {RESULTS}", soft_wrap=True)
    wrong = [each for outcome in outcomes for each in problems(outcome)]
    for each in wrong[:20]:
        err.print(Text(each, "red"), soft_wrap=True)
    if wrong:
        raise typer.Exit(1)


def _measured(plan: Plan) -> Outcome:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as bar:
        task = bar.add_task("starting", total=1.0)

        def progress(what: str, part: float) -> None:
            bar.update(task, description=what, completed=part)

        try:
            return asyncio.run(run(plan, HOME, progress))
        except (EngineError, ProcessFailed) as failure:
            err.print(Text(str(failure), "red"), soft_wrap=True)
            raise typer.Exit(1) from None
