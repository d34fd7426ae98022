"""What reads of a team's partitions bring, split by `EntityType`."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import structlog

from data.decoding import Skip, SkipCode, decode
from data.entities import (
    Assignment,
    CalendarFeed,
    Deletion,
    Entity,
    Membership,
    Owner,
    Project,
    Resource,
    Team,
)
from data.expressions import Item
from data.items import sort_key
from data.rows import Row, row_of

__all__ = ["Partition", "decoded", "log_once", "split"]

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Partition:
    """The items of one read, split by what they are. Owners that are being deleted stand apart,
    and their assignments are gone with them."""

    teams: list[Team] = field(default_factory=list)
    members: list[Membership] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    projects: list[Project] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    feeds: list[CalendarFeed] = field(default_factory=list)
    deleting: list[Owner] = field(default_factory=list)
    skipped: Counter[SkipCode] = field(default_factory=Counter)

    def take(self, rows: Iterable[Row]) -> None:
        """Dispatches each item on its EntityType. One that can't be read is counted, logged once
        by its keys, and left out: it never fails the others (S-08)."""
        add_assignment = self.assignments.append
        for _, entity in decoded(rows, self.skipped):
            match entity:
                case Assignment():
                    add_assignment(entity)
                case Resource():
                    (self.deleting if entity.deleting_at else self.resources).append(entity)
                case Project():
                    (self.deleting if entity.deleting_at else self.projects).append(entity)
                case Membership():
                    self.members.append(entity)
                case Team():
                    self.teams.append(entity)
                case CalendarFeed():
                    self.feeds.append(entity)
                case Deletion():
                    pass  # It stands outside of every range that is split.

    def take_others(self, other: "Partition") -> None:
        """Takes what another Query brought, of items that stand behind these."""
        self.teams += other.teams
        self.members += other.members
        self.resources += other.resources
        self.projects += other.projects
        self.assignments += other.assignments
        self.deleting += other.deleting
        self.skipped += other.skipped

    def take_earlier(self, long: "Partition") -> None:
        """Takes the long assignments of the index, in the order of sort keys: all of them began
        before these. What has just been moved here may still be there, where it stood before."""
        moved = {each.id for each in self.assignments} if long.assignments else set()
        earlier = sorted((e for e in long.assignments if e.id not in moved), key=sort_key)
        self.assignments[:0] = earlier
        self.skipped += long.skipped

    def keep_latest(self) -> None:
        """Of an assignment that came twice, since it was moved from a page that had been read to
        one that had not, leaves the one of the higher version."""
        latest: dict[str, Assignment] = {}
        for each in self.assignments:
            known = latest.setdefault(each.id, each)
            if each.version > known.version:
                latest[each.id] = each
        if len(latest) < len(self.assignments):
            self.assignments = [each for each in self.assignments if latest[each.id] is each]

    def hide(self) -> None:
        """Leaves out the assignments of owners that are being deleted."""
        if not self.deleting:
            return
        resources, projects = _ids(self.deleting, Resource), _ids(self.deleting, Project)
        self.assignments = [
            each
            for each in self.assignments
            if each.resource_id not in resources and each.project_id not in projects
        ]


def decoded(rows: Iterable[Row], skipped: Counter[SkipCode]) -> Iterator[tuple[Row, Entity]]:
    """The entities of rows, by their EntityType. One that can't be read is counted in `skipped`,
    logged once by its keys, and left out."""
    for row in rows:
        try:
            yield row, decode(row)
        except Skip as skip:
            skipped[skip.code] += 1
            log_once(row, skip)


def split(items: Iterable[Item]) -> Partition:
    """What items are, without those that nobody is to see."""
    partition = Partition()
    partition.take(map(row_of, items))
    partition.hide()
    return partition


def _ids(owners: Iterable[Owner], type: type[Owner]) -> set[str]:
    return {owner.id for owner in owners if isinstance(owner, type)}


_MAX_LOGGED = 10_000
_logged: set[tuple[str, str]] = set()


def log_once(row: Row, skip: Skip) -> None:
    """Says of an item that can't be read that it was left out, the first time that it is."""
    key = (row.pk.S or "", row.sk.S or "")
    if key in _logged:
        return
    if len(_logged) >= _MAX_LOGGED:
        _logged.clear()
    _logged.add(key)
    log.warning("item skipped", pk=key[0], sk=key[1], code=skip.code, reason=str(skip))
