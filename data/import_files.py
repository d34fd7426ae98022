"""The files of an import: which there are, whether they are whole, and what of them is wanted.

All of them are looked at to the end before anything is written.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from data.archive import MANIFEST, checksum, read_manifest
from data.entities import EntityType
from data.expressions import Item, s
from data.jsonl import FILES, FileError, file_of, item_of, lines
from data.keys import META, TEAMS, team_in, team_pk

__all__ = ["COPIED", "Entry", "Selection", "check_files", "entries", "find_files"]

COPIED: Final = frozenset(
    {EntityType.TEAM, EntityType.RESOURCE, EntityType.PROJECT, EntityType.ASSIGNMENT}
)
"""What goes along when a team is imported under another id: its plan. Who belongs to the copy, and
what of it can be seen from outside, is said anew."""

Counted = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Entry:
    """An item, and the bytes of its line."""

    item: Item
    size: int


@dataclass(slots=True)
class Selection:
    """Which items are wanted: those of `teams`, or of all if it names none; under the id `rename`,
    if it says one. `left_out` counts the others by reason, `absent` are the teams of which there
    was nothing yet."""

    teams: Collection[str] = ()
    rename: str | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    absent: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.absent = set(self.teams)

    def take(self, item: Item) -> Item | None:
        """The item as it is wanted, or None."""
        team_id = team_in(item["pk"]["S"])
        self.absent.discard(team_id or "")
        if team_id is None:
            self.left_out["belong to no team"] += 1
        elif self.teams and team_id not in self.teams:
            self.left_out["belong to other teams"] += 1
        elif self.rename is None:
            return item
        elif item.get("EntityType", {}).get("S") in COPIED:
            return _renamed(item, self.rename)
        else:
            self.left_out["do not go into a copy"] += 1
        return None


def _renamed(item: Item, team_id: str) -> Item:
    """The item as one of another team."""
    moved: Item = {**item, "pk": s(team_pk(team_id))}
    if item["sk"] == s(META):
        moved |= {"id": s(team_id), "GSI1PK": s(TEAMS), "GSI1SK": moved["pk"]}
    return moved


def find_files(folder: Path) -> tuple[Path, ...]:
    """The files of items in a folder, in the order in which they are imported. Raises FileError
    when there are none, or other ones than the manifest says."""
    found = tuple(path for name in FILES if (path := folder / name).is_file())
    if not found:
        raise FileError(f"{folder} has none of the files that `planner export` writes")
    manifest = read_manifest(folder)
    if manifest:
        other = {path.name for path in found} ^ manifest["files"].keys()
        if other:
            raise FileError(f"{folder / min(other)} is {_NOT_THAT}")
    return found


_NOT_THAT: Final = f"not as {MANIFEST} says; remove that to import what there is"


def check_files(paths: Collection[Path], on_bytes: Counted) -> None:
    """Reads all lines. Raises FileError for the first that is no item of its file, and for a file
    that was changed since it was exported."""
    for path in paths:
        manifest = read_manifest(path.parent)
        if manifest and checksum(path) != manifest["files"][path.name]["sha256"]:
            raise FileError(f"{path} is {_NOT_THAT}")
        for _ in _items(path, on_bytes):
            pass


def entries(path: Path, selection: Selection, on_bytes: Counted) -> Iterator[Entry]:
    """The items of a file that are wanted."""
    for item, size in _items(path, on_bytes):
        wanted = selection.take(item)
        if wanted is not None:
            yield Entry(wanted, size)


def _items(path: Path, on_bytes: Counted) -> Iterator[tuple[Item, int]]:
    with path.open("rb") as file:
        for number, line in lines(file, str(path)):
            on_bytes(len(line))
            try:
                item = item_of(line)
            except ValueError as error:
                raise FileError(f"{path}, line {number}: {error}") from None
            kind = item.get("EntityType", {}).get("S")
            if file_of(kind) != path.name:
                raise FileError(f"{path}, line {number}: the item is of the type {kind}")
            yield item, len(line)
