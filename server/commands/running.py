"""What commands share: settings, the store they work in, and the options that several have."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar

import typer
from pydantic import ValidationError

from data.opening import open_store
from data.store import RetryPolicy, Store
from data.team_id import MAX_TEAM_ID_LENGTH, MAX_USER_ID_LENGTH, is_team_id, is_user_id
from server.console import complain, stop
from server.settings import Settings, StoreKind, complaints
from server.stores import running_store

__all__ = [
    "TeamOption",
    "UserOption",
    "check_team",
    "check_user",
    "in_store",
    "read_settings",
    "work_in",
]

Result = TypeVar("Result")

TeamOption = Annotated[str, typer.Option("--team", help="The team's id.")]
UserOption = Annotated[str, typer.Option("--user", help="The user's id.")]


def in_store(work: Callable[[Store], Awaitable[Result]]) -> Result:
    """Runs the work on the table that the environment names, and returns its result."""
    settings = read_settings()
    if settings.store is StoreKind.EMBEDDED:
        stop("The embedded store lives inside `planner dev`; set PLANNER_STORE to another.")
    with running_store(settings) as (running, credentials):
        return asyncio.run(work_in(running, credentials, work, _OPERATORS))


# Who waits for a command waits longer, and a table that scales up throttles for a while.
_OPERATORS = RetryPolicy(attempts=100, seconds=60)


async def work_in(
    settings: Settings,
    credentials: Mapping[str, Any],
    work: Callable[[Store], Awaitable[Result]],
    retries: RetryPolicy | None = None,
) -> Result:
    """Runs the work on a table whose engine is running."""
    async with open_store(
        settings.table,
        endpoint_url=settings.endpoint_url,
        credentials=credentials,
        max_connections=settings.max_connections,
        retries=retries,
    ) as store:
        return await work(store)


def read_settings(
    host: str | None = None, port: int | None = None, workers: int | None = None
) -> Settings:
    """The settings of the environment, with what options say instead. Ends the command with exit
    code 2 where they are wrong, a line for each."""
    given: dict[str, Any] = {"host": host, "port": port, "workers": workers}
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        for complaint in complaints(error):
            complain(complaint)
        raise SystemExit(2) from None


def check_team(team: str) -> None:
    """Ends the command unless a team can have this id."""
    if not is_team_id(team):
        limit = f"1 to {MAX_TEAM_ID_LENGTH} characters"
        stop(f"A team id has {limit}, without `#` and control characters.")


def check_user(user: str) -> None:
    """Ends the command unless a user can have this id."""
    if not is_user_id(user):
        stop(f"A user id has 1 to {MAX_USER_ID_LENGTH} characters, all of them printable.")
