"""Which teams a command is about: those that are named, or all that are listed."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from data.members import memberships_of, team_ids
from data.store import Store
from server.commands.running import check_team, check_user
from server.console import complain, stop

__all__ = [
    "Chosen",
    "TeamsFileOption",
    "TeamsOption",
    "UserTeamsOption",
    "chosen",
    "stop_if_absent",
]

TeamsOption = Annotated[
    list[str] | None,
    typer.Option("--team", metavar="ID", help="A team; may be repeated. Default: all listed."),
]
TeamsFileOption = Annotated[
    Path | None,
    typer.Option("--teams-file", help="A file with the ids of teams, one a line; - is stdin."),
]
UserTeamsOption = Annotated[
    str | None, typer.Option("--user", metavar="ID", help="All teams that this user belongs to.")
]

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ids, each once, and what was asked for, in words."""

    ids: tuple[str, ...]
    words: str


async def chosen(
    store: Store, teams: list[str] | None, file: Path | None, user: str | None
) -> Chosen:
    """The teams that the three options name together; all that are listed if they name none.
    Ends the command where that is nobody."""
    if not teams and file is None and user is None:
        listed = tuple([team_id async for team_id in team_ids(store)])
        if not listed:
            stop("No team is listed. Name some: --team, --teams-file or --user.")
        return Chosen(listed, "all teams that are listed")
    named = [*(teams or ()), *(_read(file) if file else ())]
    for team_id in named:
        check_team(team_id)
    if user is not None:
        check_user(user)
        named += (member.team_id for member in (await memberships_of(store, user)).members)
    if not named:
        stop(f"{user} belongs to no team." if user is not None else f"{file} names no team.")
    ids = tuple(dict.fromkeys(named))
    words = ", ".join(sorted(ids))
    if len(words) > _LONGEST:
        words = f"{len(ids)} teams ({sha256(words.encode()).hexdigest()[:12]})"
    return Chosen(ids, words)


def stop_if_absent(teams: Iterable[str]) -> None:
    """Ends the command with exit code 1 if there is a team here: one of which it found nothing."""
    absent = sorted(teams)
    for team_id in absent:
        complain(f"There is nothing of team {team_id}.")
    if absent:
        raise SystemExit(1)


def _read(file: Path) -> list[str]:
    try:
        content = sys.stdin.read() if file == Path("-") else file.read_text(encoding="utf-8")
    except OSError as error:
        stop(f"--teams-file {file}: {error.strerror}")
    except UnicodeDecodeError:
        stop(f"--teams-file {file}: no text in UTF-8")
    return [line.strip() for line in content.splitlines() if line.strip()]
