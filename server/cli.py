"""The command `planner`."""

import asyncio
import sys
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import structlog
import typer
from starlette.applications import Starlette

from data.administration import create_table, describe_table
from data.entities import Role
from data.errors import PlannerError
from data.jsonl import FileError
from data.store import STORE_ERRORS
from schema import sdl
from server.app import GRAPHQL_PATH, create_app
from server.commands import repair, table, teams, transfer
from server.commands.running import (
    TeamOption,
    UserOption,
    check_team,
    check_user,
    in_store,
    read_settings,
    work_in,
)
from server.console import complain, say, stop
from server.demo import DEMO_TEAM, DEMO_USER, seed_demo
from server.dev import LOOPBACK, dev_secret, dev_settings, dev_sign_in, dev_token
from server.engines import EngineError
from server.issuing import issue_stored, issue_token
from server.logs import log_for_machines, log_for_people
from server.memory import prepare_memory
from server.serving import ListenError, listen, serve_in_workers, url_of
from server.serving import serve as run_server
from server.settings import SessionStrategy, Settings, StoreKind
from server.stores import running_store
from server.trusted_documents import TrustedDocumentsError

__all__ = ["app", "main"]

app = typer.Typer(
    help="A team's whole planning timeline over GraphQL, from one DynamoDB table.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(table.app, name="table")
app.add_typer(teams.team_app, name="team")
app.add_typer(teams.member_app, name="member")
app.command("export")(transfer.export)
app.command("import")(transfer.import_)
app.command("backfill")(repair.backfill)
app.command("doctor")(repair.doctor)

log = structlog.get_logger(__name__)
_WHERE = {
    StoreKind.EMBEDDED: "The store is embedded: in memory, and gone when the server stops.",
    StoreKind.LOCAL: "The store is DynamoDB Local; its data is kept in {home}/dynamodb-local.",
    StoreKind.DYNAMODB: "The store is the endpoint that the environment names.",
}
_HINTS = {
    "ResourceNotFound": "; `planner table create` makes the table",
    "must specify a region": " AWS_REGION names it.",
    "Unable to locate credentials": ": AWS_ACCESS_KEY_ID, AWS_PROFILE or a role give them.",
}
"""What to do about some of boto's messages, by a part of them."""

HostOption = Annotated[
    str | None, typer.Option(help="The address to listen on; else HOST, or 127.0.0.1.")
]
PortOption = Annotated[int | None, typer.Option(help="The port to listen on; else PORT, or 8000.")]


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
def dev(host: HostOption = None, port: PortOption = None) -> None:
    """Serve the demo team, signed in, with a timeline and GraphiQL; in memory, unless PLANNER_STORE
    says else."""
    settings = dev_settings(read_settings(host, port))
    log_for_people()
    if settings.store is StoreKind.DYNAMODB and not settings.endpoint_url:
        stop("`planner dev` fills the table with a demo team; for a table on AWS: planner serve")
    with listen(settings.host, settings.port) as listening, running_store(settings) as store:
        running, credentials = store
        asyncio.run(work_in(running, credentials, seed_demo))
        say(_WHERE[settings.store].format(home=settings.home.resolve()))
        if settings.host not in LOOPBACK:
            say("Whoever reaches this address is signed in, since this is for development.")
        if running.session_strategy is SessionStrategy.JWT:
            say(f"For scripts: {sys.argv[0]} token --team {DEMO_TEAM} --user {DEMO_USER}")
        else:
            bearer = asyncio.run(work_in(running, credentials, partial(dev_token, running)))
            say(f"For scripts: Authorization: Bearer {bearer}")
        if running.timeline:
            say(f"Open {url_of(listening, '/')} for the timeline")
        graphql = "GraphiQL" if running.playground else "the API"
        say(f"Open {url_of(listening, GRAPHQL_PATH)} for {graphql}")
        application = create_app(running, credentials=credentials, sign_in=dev_sign_in(running))
        run_server(
            application,
            listening,
            log_level="warning",
            shutdown_seconds=running.shutdown_seconds,
        )


@app.command()
def serve(
    host: HostOption = None,
    port: PortOption = None,
    workers: Annotated[
        int | None, typer.Option(help="How many processes; else PLANNER_WORKERS, or 1.")
    ] = None,
) -> None:
    """Serve the table that the environment names."""
    settings = read_settings(host, port, workers)
    log_for_machines()
    if settings.session_strategy is SessionStrategy.JWT and not settings.secrets:
        stop("AUTH_SECRET is not set: without the secret of Auth.js nobody can be known.")
    with listen(settings.host, settings.port) as listening, running_store(settings) as store:
        running, credentials = store
        if running.store is StoreKind.EMBEDDED:
            asyncio.run(work_in(running, credentials, create_table))
        elif asyncio.run(work_in(running, credentials, describe_table)) is None:
            # Better no start than one where every request fails.
            stop(f"There is no table {running.table}; `planner table create` makes it.")
        # What is wrong with the settings is said here, once, whoever serves.
        application = create_app(running, credentials=credentials)
        log.info("listening", url=url_of(listening, GRAPHQL_PATH))
        seconds = running.shutdown_seconds
        if running.workers == 1:
            run_server(application, listening, log_level="info", shutdown_seconds=seconds)
            return
        serve_in_workers(
            partial(_worker, running, credentials),
            listening,
            workers=running.workers,
            log_level="info",
            shutdown_seconds=seconds,
        )


def _worker(settings: Settings, credentials: Mapping[str, Any]) -> Starlette:
    """The application of one worker, in the process that has it."""
    log_for_machines()
    application = create_app(settings, credentials=credentials)
    prepare_memory()
    return application


@app.command()
def token(
    team: TeamOption,
    user: UserOption,
    role: Annotated[Role, typer.Option(help="What the user may do.")] = Role.MEMBER,
    days: Annotated[int, typer.Option(min=1, max=3650, help="How long it lasts.")] = 30,
) -> None:
    """Print a session token, for development: a cookie's value, or for `Authorization: Bearer`.

    With PLANNER_SESSION_STRATEGY=database it starts a session in the table; the role is then that
    of the user's membership.
    """
    settings = read_settings()
    check_team(team)
    check_user(user)
    lifetime = timedelta(days=days)
    if settings.session_strategy is SessionStrategy.DATABASE:
        typer.echo(in_store(partial(issue_stored, user_id=user, team_id=team, lifetime=lifetime)))
        return
    if settings.secrets:
        secret = settings.secrets[0]
    else:
        secret = dev_secret(settings.home)
        say(f"AUTH_SECRET is not set; signed for `planner dev` with {settings.home.resolve()}.")
    typer.echo(
        issue_token(settings, secret, user_id=user, team_id=team, role=role, lifetime=lifetime)
    )


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
    except (PlannerError, EngineError, FileError, ListenError, OSError) as error:
        stop(str(error))
    except TrustedDocumentsError as error:
        complain(f"PLANNER_TRUSTED_DOCUMENTS: {error}")
        raise SystemExit(2) from None
    except STORE_ERRORS as error:
        hint = next((hint for word, hint in _HINTS.items() if word in str(error)), "")
        stop(f"The store says: {error}{hint}")
