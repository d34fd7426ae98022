"""`planner export` and `planner import`: the items of teams in files, and back."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TaskID

from data.archive import Archive
from data.exports import export_teams, split_s3_export
from data.expressions import Item
from data.import_files import Selection, check_files, entries, find_files
from data.imports import Importer, Outcome, batches
from data.parallel import for_each
from data.s3_export import read_export
from data.store import Store
from server.commands.chosen import (
    TeamsFileOption,
    TeamsOption,
    UserTeamsOption,
    chosen,
    stop_if_absent,
)
from server.commands.running import check_team, in_store
from server.console import complain, counted, progress, say, stop

__all__ = ["export", "import_"]

_BATCHES_AT_ONCE = 8

AtOnceOption = Annotated[
    int, typer.Option(min=1, max=64, help="How many teams are read at the same time.")
]


def export(
    folder: Annotated[
        Path, typer.Argument(help="Where to: new, empty, or that of an export that broke off.")
    ],
    team: TeamsOption = None,
    teams_file: TeamsFileOption = None,
    user: UserTeamsOption = None,
    from_s3_export: Annotated[
        Path | None,
        typer.Option(
            help="Read this folder, a copy of DynamoDB's own export to S3, and not the table."
        ),
    ] = None,
    at_once: AtOnceOption = 4,
) -> None:
    """Write the items of teams into files, one for each EntityType, as JSON Lines.

    One that broke off goes on when it is run again. A team is not a snapshot: others may write
    while it is read. The table at one moment is what DynamoDB's export to S3 has.
    """
    if from_s3_export is not None:
        if teams_file is not None or user is not None:
            stop("With --from-s3-export, teams are named by --team.")
        _split(from_s3_export, folder, team or [])
        return

    async def work(store: Store) -> None:
        teams = await chosen(store, team, teams_file, user)
        with Archive(folder, f"table {store.table}: {teams.words}") as archive, progress() as bars:
            items = bars.add_task("items", total=None)
            done = bars.add_task("teams", total=len(teams.ids))
            await export_teams(
                store,
                archive,
                teams.ids,
                at_once=at_once,
                on_items=lambda count: bars.advance(items, count),
                on_team=lambda count: bars.advance(done, count),
            )
            empty, moving = archive.units("empty"), archive.units("moving")
            archive.finish(teams=len(teams.ids), empty=empty, moving=moving)
        _say_what_there_is(archive)
        for team_id in moving:
            complain(
                f"Others kept moving assignments of {team_id} while it was read: some may be "
                "missing, or twice. Export it again when it is quieter, or by way of S3."
            )
        stop_if_absent(empty)
        if moving:
            raise SystemExit(1)

    in_store(work)


def _split(source: Path, folder: Path, teams: list[str]) -> None:
    for team_id in teams:
        check_team(team_id)
    s3 = read_export(source)
    words = f"{s3.arn}: {', '.join(sorted(set(teams))) or 'all items'}"
    with Archive(folder, words) as archive, progress() as bars:
        items, read = bars.add_task("items", total=None), bars.add_task("bytes", total=s3.bytes)
        absent = split_s3_export(
            s3,
            archive,
            frozenset(teams),
            on_items=lambda count: bars.advance(items, count),
            on_bytes=lambda count: bars.advance(read, count),
        )
        archive.finish(table=s3.table, moment=s3.moment, empty=absent)
    _say_what_there_is(archive)
    stop_if_absent(absent)


def _say_what_there_is(archive: Archive) -> None:
    for name, count in sorted(archive.items.items()):
        typer.echo(f"{archive.folder / name}: {counted(count, 'item')}")


def import_(
    folder: Annotated[Path, typer.Argument(help="The folder that `planner export` wrote.")],
    team: Annotated[
        list[str] | None,
        typer.Option(
            "--team", metavar="ID", help="A team; may be repeated. Default: all in the files."
        ),
    ] = None,
    rename: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="ID", help="Import the one team of --team under this other id."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be written; writes nothing.")
    ] = False,
) -> None:
    """Write the items of such files into the table, where they are missing.

    What is there already and equal is left alone, so an import that broke off is run again. What
    is there and differs is a conflict: it is reported, and never replaced. An assignment whose
    resource or project is missing, or is being deleted, is not written either.
    """
    for team_id in [*(team or ()), *([] if rename is None else [rename])]:
        check_team(team_id)
    if rename is not None and len(team or ()) != 1:
        stop("--as needs exactly one --team: the one to import under another id.")
    paths = find_files(folder)
    with progress() as bars:
        total = sum(path.stat().st_size for path in paths)
        checked = bars.add_task("checked", total=total)
        check_files(paths, lambda count: bars.advance(checked, count))
        selection = Selection(frozenset(team or ()), rename)
        tally = _Tally(bars, bars.add_task("imported", total=total))

        async def work(store: Store) -> None:
            importer = Importer(store, tally.note, dry_run=dry_run)
            # File by file: what assignments refer to has to be there before them.
            for path in paths:
                found = batches(entries(path, selection, tally.advance))
                await for_each(found, importer.take, at_once=_BATCHES_AT_ONCE)

        in_store(work)
    tally.tell(selection, "would be written" if dry_run else "written")
    stop_if_absent(selection.absent)
    if any(tally.outcomes[outcome] for outcome in _NOT_WRITTEN):
        raise SystemExit(1)


_NOT_WRITTEN = {
    Outcome.CONFLICT: "something else is there",
    Outcome.ORPHANED: "their resource or project is not",
}
"""What did not get in, and why."""


class _Tally:
    """Counts what became of the items, and says at once what did not get in."""

    def __init__(self, bars: Progress, task: TaskID) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self._bars, self._task = bars, task

    def advance(self, count: int) -> None:
        self._bars.advance(self._task, count)

    def note(self, item: Item, outcome: Outcome, why: str) -> None:
        self.outcomes[outcome] += 1
        if outcome in _NOT_WRITTEN:
            where = f"{item['pk']['S']} {item['sk']['S']}"
            complain(f"{outcome}: {where}" + (f": {why}" if why else ""))

    def tell(self, selection: Selection, written: str) -> None:
        counts = self.outcomes
        typer.echo(f"{counts[Outcome.WRITTEN]} {written}, {counts[Outcome.SAME]} there already")
        if counts[Outcome.EXPIRED]:
            typer.echo(f"{counted(counts[Outcome.EXPIRED], 'item')} out of date")
        for why, count in sorted(selection.left_out.items()):
            say(f"left out, since they {why}: {counted(count, 'item')}")
        for outcome, why in _NOT_WRITTEN.items():
            if counts[outcome]:
                complain(f"not written, since {why}: {counted(counts[outcome], 'item')}")
