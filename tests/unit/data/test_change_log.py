"""What the log of changes keeps, in which order, and for how long."""

from datetime import UTC, datetime

import pytest

from data.change_log import ChangeLog, Coverage
from data.changes import Change, ChangeKind
from data.entities import EntityType
from data.entries import Entry
from data.lineage import ALL, Need
from data.positions import Positions

CREATED, UPDATED, DELETED = ChangeKind.CREATED, ChangeKind.UPDATED, ChangeKind.DELETED


def entry(
    kind: ChangeKind,
    version: int,
    sequence: int,
    *,
    shard: str = "s",
    at: float = 0.0,
    team: str = "acme",
    id: str = "a",
    made: float = 0.0,
) -> Entry:
    change = Change(
        kind=kind,
        entity_type=EntityType.RESOURCE,
        entity_id=id,
        entity=None,
        version=version,
        at=moment(at),
        by=None,
        created_at=None if kind is DELETED else moment(made),
    )
    past = frozenset({"s"} if shard == "child" else ())
    return Entry(team, change, shard, sequence, at, 10, Positions(0.0, {}), None, past)


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def log(max_changes: int = 100, max_bytes: int = 10_000) -> ChangeLog:
    log = ChangeLog(max_changes=max_changes, max_bytes=max_bytes)
    log.coverage["s"] = Coverage(floor=0)
    return log


@pytest.mark.parametrize(
    ("last", "following", "is_told"),
    [
        (entry(CREATED, 1, 1), entry(UPDATED, 2, 2), True),
        (entry(UPDATED, 2, 1), entry(UPDATED, 2, 2), False),
        (entry(UPDATED, 3, 1), entry(UPDATED, 2, 2, shard="t"), False),
        (entry(UPDATED, 0, 1), entry(UPDATED, 0, 2), True),
        (entry(UPDATED, 2, 1), entry(DELETED, 3, 2), True),
        # Made anew under the same id.
        (entry(DELETED, 3, 1), entry(CREATED, 1, 2), True),
        (entry(DELETED, 3, 1, at=5), entry(CREATED, 1, 9, shard="t", at=6, made=6), True),
        (entry(DELETED, 3, 1, at=5), entry(CREATED, 1, 9, shard="t", at=5, made=5), True),
        # By a server whose clock is behind; what came of a shard comes after it.
        (entry(DELETED, 3, 9, at=5), entry(CREATED, 1, 1, shard="child", at=4, made=4), True),
        (entry(CREATED, 1, 1, shard="child"), entry(DELETED, 3, 9), False),
        # Its deletion is in another shard, and not read yet.
        (entry(UPDATED, 3, 1, made=1), entry(CREATED, 1, 2, at=6, made=6), True),
        (entry(CREATED, 1, 2, at=6, made=6), entry(DELETED, 4, 2, shard="t", at=5), False),
        (entry(CREATED, 1, 2, at=6, made=6), entry(UPDATED, 3, 1, shard="t", made=1), False),
        # Read late, since it is in another shard.
        (entry(DELETED, 3, 1, at=5), entry(UPDATED, 2, 9, shard="t", at=4), False),
        # The end of the one before, read late.
        (entry(UPDATED, 2, 1, at=7, made=6), entry(DELETED, 5, 9, shard="t", at=5), False),
        (entry(UPDATED, 2, 1, at=7, made=6), entry(DELETED, 3, 9, shard="t", at=8), True),
    ],
)
def test_each_version_of_an_id_is_told_once_and_in_order(
    last: Entry, following: Entry, is_told: bool
) -> None:
    changes = log()
    assert changes.append(last)
    assert changes.append(following) is is_told
    assert len([*changes]) == 1 + is_told


@pytest.mark.parametrize(("max_changes", "max_bytes"), [(3, 10_000), (100, 30)])
def test_oldest_is_forgotten_and_with_it_what_the_log_covers(
    max_changes: int, max_bytes: int
) -> None:
    changes = log(max_changes, max_bytes)
    team = changes.join("acme")
    for version in range(1, 6):
        changes.append(entry(UPDATED, version, version, at=float(version)))
    assert [each.sequence for each in changes] == [3, 4, 5]
    assert team.lost == 1
    assert changes.coverage["s"].covers(Need(after=2))
    assert not changes.coverage["s"].covers(Need(after=1))
    assert not changes.coverage["s"].covers(ALL)


def test_memory_of_ids_and_teams_goes_with_their_changes() -> None:
    changes = log(max_changes=5)
    for number in range(100):
        changes.append(entry(CREATED, 1, number + 1, team=f"team-{number}", id=str(number)))
    assert (len(changes), len(changes._last), len(changes._teams)) == (5, 5, 5)
    changes.join("quiet")
    changes.leave("quiet")
    assert len(changes._teams) == 5


def test_what_is_put_before_the_beginning_comes_first_and_keeps_places() -> None:
    changes = log()
    changes.append(entry(UPDATED, 5, 50))
    before = changes.end
    changes.prepend([entry(UPDATED, 3, 30), entry(UPDATED, 4, 40)])
    assert [(each.index, each.change.version) for each in changes] == [(-2, 3), (-1, 4), (0, 5)]
    assert changes.end == before


def test_entity_that_was_made_and_deleted_again_is_not_told_when_read_late() -> None:
    changes = log()
    assert changes.append(entry(DELETED, 3, 1, at=5))
    assert changes.append(entry(DELETED, 2, 2, at=9))
    assert not changes.append(entry(CREATED, 1, 9, shard="t", at=7, made=7))


def test_versions_that_begin_again_are_put_before_the_beginning_in_order() -> None:
    changes = log()
    changes.append(entry(DELETED, 2, 9, at=9))
    earlier = [entry(UPDATED, 5, 2), entry(DELETED, 6, 3), entry(CREATED, 1, 4, made=4)]
    changes.prepend(earlier)
    assert [each.change.version for each in changes] == [5, 6, 1, 2]


def test_newer_version_from_another_shard_is_not_put_before_an_older_one() -> None:
    changes = log()
    changes.append(entry(UPDATED, 2, 50))
    changes.prepend([entry(UPDATED, 1, 30, shard="t"), entry(UPDATED, 3, 40, shard="t")])
    assert [each.change.version for each in changes] == [1, 2, 3]
