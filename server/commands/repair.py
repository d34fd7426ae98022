"""`planner backfill` and `planner doctor`: what items lack, and what is wrong with them."""

import json
from collections import Counter
from typing import Annotated

import typer

from data.doctor import Fault, Finding, examine, fix
from data.parallel import for_each
from data.repairs import apply, lacking
from data.store import Store
from data.transactions import Update
from server.commands.chosen import (
    Chosen,
    TeamsFileOption,
    TeamsOption,
    UserTeamsOption,
    chosen,
    stop_if_absent,
)
from server.commands.running import in_store
from server.console import counted, progress, stop

__all__ = ["backfill", "doctor"]

_UPDATES_AT_ONCE = 16


def backfill(
    team: TeamsOption = None,
    teams_file: TeamsFileOption = None,
    user: UserTeamsOption = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write it. Without this, only say what it would be.")
    ] = False,
) -> None:
    """Add what items written elsewhere lack: EntityType, longEnd, keys of indexes.

    Only what follows from an item's key and its other attributes, and only where the item can be
    read with it; nothing that is there is changed. One that broke off is run again.
    """

    async def work(store: Store) -> None:
        teams = await chosen(store, team, teams_file, user)
        added: Counter[str] = Counter()
        changed = items = 0
        absent: list[str] = []

        async def carry_out(update: Update) -> None:
            nonlocal changed
            if not write or await apply(store, update):
                added.update(update.set.keys())
            else:
                changed += 1

        with progress() as bars:
            read = bars.add_task("items", total=None)
            done = bars.add_task("teams", total=len(teams.ids))
            for team_id in teams.ids:
                before = items
                async for page, updates in lacking(store, team_id):
                    items += len(page)
                    bars.advance(read, len(page))
                    await for_each(updates, carry_out, at_once=_UPDATES_AT_ONCE)
                if items == before:
                    absent.append(team_id)
                bars.advance(done)
        verb = "added" if write else "would be added"
        typer.echo(_extent(items, teams))
        for name, count in sorted(added.items()):
            typer.echo(f"{name}: {verb} to {count}")
        if not added:
            typer.echo("nothing is missing that can be added")
        elif not write:
            typer.echo("Nothing was written; --write does.")
        stop_if_absent(absent)
        if changed:
            stop(f"Somebody else wrote {counted(changed, 'item')} meanwhile: run it again.")

    in_store(work)


def doctor(
    team: TeamsOption = None,
    teams_file: TeamsFileOption = None,
    user: UserTeamsOption = None,
    repair: Annotated[
        bool, typer.Option("--fix", help="Put right what is safe to put right.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each fault as a line of JSON.")
    ] = False,
) -> None:
    """Look for items that are wrong. The exit code is 1 if any of them was not put right."""

    async def work(store: Store) -> None:
        teams = await chosen(store, team, teams_file, user)
        found: Counter[Fault] = Counter()
        fixed = items = 0
        absent: list[str] = []
        with progress() as bars:
            read = bars.add_task("items", total=None)
            done = bars.add_task("teams", total=len(teams.ids))
            for team_id in teams.ids:
                before = items
                async for count, findings in examine(store, team_id):
                    items += count
                    bars.advance(read, count)
                    for finding in findings:
                        is_fixed = repair and await fix(store, finding)
                        found[finding.fault] += 1
                        fixed += is_fixed
                        typer.echo(_line(finding, is_fixed, as_json))
                if items == before:
                    absent.append(team_id)
                bars.advance(done)
        if not as_json:
            typer.echo(f"{_extent(items, teams)}: {_sum(found, fixed)}")
        stop_if_absent(absent)
        if found.total() > fixed:
            raise SystemExit(1)

    in_store(work)


def _extent(items: int, teams: Chosen) -> str:
    return f"{counted(items, 'item')} of {counted(len(teams.ids), 'team')}"


def _line(finding: Finding, is_fixed: bool, as_json: bool) -> str:
    if as_json:
        return json.dumps(
            {
                "fault": finding.fault,
                "team": finding.team_id,
                "pk": finding.pk,
                "sk": finding.sk,
                "says": finding.says,
                "fixable": finding.repair is not None,
                "fixed": is_fixed,
            },
            ensure_ascii=False,
        )
    state = "fixed" if is_fixed else "can be fixed" if finding.repair else "needs people"
    return f"{finding.fault} {finding.pk} {finding.sk}: {finding.says} ({state})"


def _sum(found: Counter[Fault], fixed: int) -> str:
    if not found:
        return "nothing is wrong"
    each = ", ".join(f"{count} {fault}" for fault, count in sorted(found.items()))
    return f"{each}; {fixed} fixed"
