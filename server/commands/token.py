"""`planner token`: a session without a frontend."""

from datetime import timedelta
from functools import partial
from typing import Annotated

import typer

from data.entities import Role
from server.commands.running import (
    TeamOption,
    UserOption,
    check_team,
    check_user,
    in_store,
    read_settings,
)
from server.console import say, stop
from server.dev import found_dev_secret
from server.issuing import issue_stored, issue_token
from server.settings import SessionStrategy

__all__ = ["token"]


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
        home = settings.home.resolve()
        found = found_dev_secret(home)
        if found is None:
            # One made up here would be one that no server knows.
            stop(
                f"AUTH_SECRET is not set, and there is no secret of `planner dev` in {home}: set "
                "AUTH_SECRET; or run this where `make dev` runs, or with its PLANNER_HOME."
            )
        secret = found
        say(f"AUTH_SECRET is not set; signed for `planner dev` with {home}.")
    typer.echo(
        issue_token(settings, secret, user_id=user, team_id=team, role=role, lifetime=lifetime)
    )
