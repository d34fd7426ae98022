"""The command `planner`, put together of those in `server.commands`, and how it fails."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from data.errors import PlannerError
from data.jsonl import FileError
from data.store import STORE_ERRORS
from schema import sdl
from server.commands import repair, serving, table, teams, token, transfer
from server.commands.typed import App
from server.console import complain, stop
from server.engine_process import EngineError
from server.serving import ListenError
from server.trusted_documents import TrustedDocumentsError

__all__ = ["app", "main"]

app = App(
    help="A team's whole planning timeline over GraphQL, from one DynamoDB table.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (serving.dev, serving.serve, token.token, repair.backfill, repair.doctor):
    app.command()(command)
app.command("export")(transfer.export)
app.command("import")(transfer.import_)
app.add_typer(table.app, name="table")
app.add_typer(teams.team_app, name="team")
app.add_typer(teams.member_app, name="member")

_HINTS = {
    "ResourceNotFound": "; `planner table create` makes the table",
    "must specify a region": (
        " AWS_REGION names it. For a table that is here and not at AWS, set PLANNER_STORE=local, "
        "or AWS_ENDPOINT_URL_DYNAMODB and any region."
    ),
    "Unable to locate credentials": ": AWS_ACCESS_KEY_ID, AWS_PROFILE or a role give them.",
}
"""What to do about some of boto's messages, by a part of them."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("resource-planner"))
        raise typer.Exit


@app.callback()
def planner(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """A team's whole planning timeline over GraphQL, from one DynamoDB table."""


@app.command()
def schema(
    file: Annotated[Path | None, typer.Argument(help="Where to write it; default: print.")] = None,
) -> None:
    """Export the GraphQL schema."""
    if file is None:
        typer.echo(sdl(), nl=False)
    else:
        file.write_text(sdl(), encoding="utf-8")


def main() -> None:
    """Runs the command; an expected failure is one line and exit code 1."""
    try:
        app()
    except (PlannerError, EngineError, FileError, ListenError) as error:
        stop(str(error))
    except TrustedDocumentsError as error:
        complain(f"PLANNER_TRUSTED_DOCUMENTS: {error}")
        raise SystemExit(2) from None
    except OSError as error:
        stop(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except STORE_ERRORS as error:
        hint = next((hint for word, hint in _HINTS.items() if word in str(error)), "")
        stop(f"The store says: {error}{hint}")
