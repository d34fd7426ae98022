"""`planner team` and `planner member`: who there is."""

from typing import Annotated

import typer

from data.entities import Membership, Role, Team
from data.members import add_member, create_team, find_team, remove_member
from data.rules import Check
from data.store import Store
from server.commands.running import TeamOption, UserOption, check_team, check_user, in_store
from server.commands.typed import App
from server.console import stop

__all__ = ["member_app", "team_app"]

team_app = App(help="Teams.", no_args_is_help=True)
member_app = App(help="Members of teams.", no_args_is_help=True)


@team_app.command("create")
def team_create(
    id: Annotated[str, typer.Option("--id", help="The team's id: what the session names.")],
    name: Annotated[str, typer.Option("--name", help="What people call it.")],
) -> None:
    """Create a team."""
    check_team(id)
    check = Check()
    check.name(name, "name")
    check.refuse_problems()
    in_store(lambda store: create_team(store, Team(id=id, name=name)))
    typer.echo(f"created team {id}")


@member_app.command("add")
def member_add(
    team: TeamOption,
    user: UserOption,
    role: Annotated[Role, typer.Option(help="What the user may do.")] = Role.MEMBER,
) -> None:
    """Add a user to a team, or change their role."""
    check_team(team)
    check_user(user)
    member = Membership(team_id=team, user_id=user, role=role)

    async def add(store: Store) -> None:
        if not (await find_team(store, team)).teams:
            # A slip in the name would give the user a second team.
            stop(f"There is no team {team}; `planner team create` makes it.")
        await add_member(store, member)

    in_store(add)
    typer.echo(f"{user} is {role} of {team}")


@member_app.command("remove")
def member_remove(team: TeamOption, user: UserOption) -> None:
    """Remove a user from a team. With PLANNER_MEMBERSHIP=table they are out within a minute."""
    check_team(team)
    check_user(user)
    in_store(lambda store: remove_member(store, team, user))
    typer.echo(f"{user} is no member of {team}")
