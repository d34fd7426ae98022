"""The command `planner`."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import structlog
import typer
from pydantic import AliasChoices, ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text
from starlette.applications import Starlette

from data.entities import Membership, Role, Team
from data.errors import PlannerError
from data.members import add_member, create_team, find_team, remove_member
from data.rules import Check
from data.store import STORE_ERRORS, Store, open_store
from data.team_id import MAX_TEAM_ID_LENGTH, MAX_USER_ID_LENGTH, is_team_id, is_user_id
from schema import sdl
from server.app import GRAPHQL_PATH, create_app
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
table_app = typer.Typer(help="The DynamoDB table.", no_args_is_help=True)
team_app = typer.Typer(help="Teams.", no_args_is_help=True)
member_app = typer.Typer(help="Members of teams.", no_args_is_help=True)
app.add_typer(table_app, name="table")
app.add_typer(team_app, name="team")
app.add_typer(member_app, name="member")

log = structlog.get_logger(__name__)
out = Console()
err = Console(stderr=True)
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
Result = TypeVar("Result")

HostOption = Annotated[
    str | None, typer.Option(help="The address to listen on; else HOST, or 127.0.0.1.")
]
PortOption = Annotated[int | None, typer.Option(help="The port to listen on; else PORT, or 8000.")]
TeamOption = Annotated[str, typer.Option("--team", help="The team's id.")]
UserOption = Annotated[str, typer.Option("--user", help="The user's id.")]


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
    """Serve the demo team, signed in, with GraphiQL; in memory, unless PLANNER_STORE says else."""
    settings = dev_settings(_settings(host, port))
    log_for_people()
    if settings.store is StoreKind.DYNAMODB and not settings.endpoint_url:
        _stop("`planner dev` fills the table with a demo team; for a table on AWS: planner serve")
    with listen(settings.host, settings.port) as listening, running_store(settings) as store:
        running, credentials = store
        asyncio.run(_work(running, credentials, seed_demo))
        _say(_WHERE[settings.store].format(home=settings.home.resolve()))
        if settings.host not in LOOPBACK:
            _say("Whoever reaches this address is signed in, since this is for development.")
        if running.session_strategy is SessionStrategy.JWT:
            _say(f"For scripts: {sys.argv[0]} token --team {DEMO_TEAM} --user {DEMO_USER}")
        else:
            bearer = asyncio.run(_work(running, credentials, partial(dev_token, running)))
            _say(f"For scripts: Authorization: Bearer {bearer}")
        _say(f"Open {url_of(listening, GRAPHQL_PATH)}")
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
    settings = _settings(host, port, workers)
    log_for_machines()
    if settings.session_strategy is SessionStrategy.JWT and not settings.secrets:
        _stop("AUTH_SECRET is not set: without the secret of Auth.js nobody can be known.")
    with listen(settings.host, settings.port) as listening, running_store(settings) as store:
        running, credentials = store
        if running.store is StoreKind.EMBEDDED:
            asyncio.run(_work(running, credentials, Store.create_table))
        elif asyncio.run(_work(running, credentials, Store.describe_table)) is None:
            # Better no start than one where every request fails.
            _stop(f"There is no table {running.table}; `planner table create` makes it.")
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
    settings = _settings()
    _check_team(team)
    _check_user(user)
    lifetime = timedelta(days=days)
    if settings.session_strategy is SessionStrategy.DATABASE:
        typer.echo(_in_store(partial(issue_stored, user_id=user, team_id=team, lifetime=lifetime)))
        return
    if settings.secrets:
        secret = settings.secrets[0]
    else:
        secret = dev_secret(settings.home)
        _say(f"AUTH_SECRET is not set; signed for `planner dev` with {settings.home.resolve()}.")
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


@table_app.command("create")
def table_create() -> None:
    """Create the table with its indexes, unless it is there."""
    created = _in_store(Store.create_table)
    typer.echo(f"{_settings().table}: " + ("created" if created else "it is there already"))


@table_app.command("describe")
def table_describe() -> None:
    """Show the table's status, size and indexes."""
    description = _in_store(Store.describe_table)
    if description is None:
        _stop(f"There is no table {_settings().table}; `planner table create` makes it.")
    table = Table("index", "partition key", "sort key", "status")
    for index in (description, *description.get("GlobalSecondaryIndexes", ())):
        keys = {key["KeyType"]: key["AttributeName"] for key in index["KeySchema"]}
        name = index.get("IndexName", description["TableName"])
        status = index.get("IndexStatus", description["TableStatus"])
        table.add_row(name, keys["HASH"], keys.get("RANGE", ""), status)
    out.print(table)
    typer.echo(f"{description.get('ItemCount', 0)} items (counted every six hours)")


@team_app.command("create")
def team_create(
    id: Annotated[str, typer.Option("--id", help="The team's id: what the session names.")],
    name: Annotated[str, typer.Option("--name", help="What people call it.")],
) -> None:
    """Create a team."""
    _check_team(id)
    check = Check()
    check.name(name, "name")
    check.refuse_problems()
    _in_store(lambda store: create_team(store, Team(id=id, name=name)))
    typer.echo(f"created team {id}")


@member_app.command("add")
def member_add(
    team: TeamOption,
    user: UserOption,
    role: Annotated[Role, typer.Option(help="What the user may do.")] = Role.MEMBER,
) -> None:
    """Add a user to a team, or change their role."""
    _check_team(team)
    _check_user(user)
    member = Membership(team_id=team, user_id=user, role=role)

    async def add(store: Store) -> None:
        if not (await find_team(store, team)).teams:
            # A slip in the name would give the user a second team.
            _stop(f"There is no team {team}; `planner team create` makes it.")
        await add_member(store, member)

    _in_store(add)
    typer.echo(f"{user} is {role} of {team}")


@member_app.command("remove")
def member_remove(team: TeamOption, user: UserOption) -> None:
    """Remove a user from a team. With PLANNER_MEMBERSHIP=table they are out within a minute."""
    _check_team(team)
    _check_user(user)
    _in_store(lambda store: remove_member(store, team, user))
    typer.echo(f"{user} is no member of {team}")


def main() -> None:
    """Runs the command; an expected failure is one line and exit code 1."""
    try:
        app()
    except (PlannerError, EngineError, ListenError, OSError) as error:
        _stop(str(error))
    except TrustedDocumentsError as error:
        _complain(f"PLANNER_TRUSTED_DOCUMENTS: {error}")
        raise SystemExit(2) from None
    except STORE_ERRORS as error:
        hint = next((hint for word, hint in _HINTS.items() if word in str(error)), "")
        _stop(f"The store says: {error}{hint}")


def _in_store(work: Callable[[Store], Awaitable[Result]]) -> Result:
    settings = _settings()
    if settings.store is StoreKind.EMBEDDED:
        _stop("The embedded store lives inside `planner dev`; set PLANNER_STORE to another.")
    with running_store(settings) as (running, credentials):
        return asyncio.run(_work(running, credentials, work))


async def _work(
    settings: Settings, credentials: Mapping[str, Any], work: Callable[[Store], Awaitable[Result]]
) -> Result:
    async with open_store(
        settings.table, endpoint_url=settings.endpoint_url, credentials=credentials
    ) as store:
        return await work(store)


def _settings(
    host: str | None = None, port: int | None = None, workers: int | None = None
) -> Settings:
    given: dict[str, Any] = {"host": host, "port": port, "workers": workers}
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        for each in error.errors():
            where = "".join(f"{_variable(str(part))}: " for part in each["loc"])
            _complain(where + each["msg"].removeprefix("Value error, "))
        raise SystemExit(2) from None


def _variable(field: str) -> str:
    """The environment variable of a setting, by the name that pydantic has for it."""
    info = Settings.model_fields.get(field)
    if info is None:
        return field
    alias = info.validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"PLANNER_{field.upper()}"


def _check_team(team: str) -> None:
    if not is_team_id(team):
        limit = f"1 to {MAX_TEAM_ID_LENGTH} characters"
        _stop(f"A team id has {limit}, without `#` and control characters.")


def _check_user(user: str) -> None:
    if not is_user_id(user):
        _stop(f"A user id has 1 to {MAX_USER_ID_LENGTH} characters, all of them printable.")


def _stop(message: str) -> NoReturn:
    _complain(message)
    raise SystemExit(1)


def _say(message: str) -> None:
    err.print(Text(message), soft_wrap=True)


def _complain(message: str) -> None:
    err.print(Text(message, "red"), soft_wrap=True)
