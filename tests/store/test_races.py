"""Many callers at once, each through a context of its own: nothing is orphaned, doubled or back
from the dead, and every caller hears the truth."""

import asyncio
import random
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import pytest

from data.entities import Assignment, EntityType, Project, Resource
from data.errors import Refused
from data.metering import Operation
from data.store import Store
from resolvers import assignment_writes, owner_writes
from resolvers.global_ids import raw_id, to_global_id
from tests.api_client import everything, put
from tests.engines import DEEP
from tests.store.scenarios import STAMPS, assignment, context, patch
from tests.tombstones import deletions

DAY = date(2024, 1, 10)
CALLERS = 25 if DEEP else 10
"""How many create, and how many move, while somebody deletes."""

Delete = Callable[..., Awaitable[list[str]]]


@dataclass
class Witness:
    """What the callers were told."""

    created: set[str] = field(default_factory=set)
    deleted: list[str] = field(default_factory=list)
    refusals: set[str] = field(default_factory=set)
    versions: list[int] = field(default_factory=list)
    is_busy: asyncio.Event = field(default_factory=asyncio.Event)


async def small_team(store: Store, team: str) -> None:
    await put(
        store,
        team,
        [
            *(Resource(id=f"r{n}", name=f"R{n}", **STAMPS) for n in (1, 2)),
            *(Project(id=f"p{n}", name=f"P{n}", color="#000000", **STAMPS) for n in (1, 2)),
            *(assignment(f"a{n}", DAY, DAY + timedelta(3), "r1", "p1") for n in range(30)),
        ],
    )


async def assignments(store: Store, team: str) -> list[dict[str, str]]:
    """What is stored, as plain text."""
    return [
        {name: next(iter(value.values())) for name, value in item.items()}  # type: ignore[misc]
        for item in await everything(store, team)
        if item["EntityType"] == {"S": "Assignment"}
    ]


async def keep_creating(store: Store, team: str, witness: Witness, stop: asyncio.Event) -> None:
    """Creates until told to stop, or the owner is gone."""
    while not stop.is_set():
        id = str(uuid.uuid4())
        try:
            await assignment_writes.create_assignment(
                context(store, team),
                id=id,
                resource_id=to_global_id(EntityType.RESOURCE, "r1"),
                project_id=to_global_id(EntityType.PROJECT, "p1"),
                start_date=DAY + timedelta(days=random.randrange(20)),
                end_date=DAY + timedelta(days=30),
                note=None,
            )
        except Refused as refused:
            witness.refusals |= {problem.code for problem in refused.problems}
            return
        witness.created.add(id)
        if len(witness.created) >= CALLERS:
            witness.is_busy.set()


async def keep_moving(store: Store, team: str, stop: asyncio.Event) -> None:
    """Moves assignments to other days and to and from other owners, until told to stop."""
    while not stop.is_set():
        fields: dict[str, Any] = {
            "start_date": DAY + timedelta(days=random.randrange(-40, 3)),
            "end_date": DAY + timedelta(days=random.randrange(3, 90)),
        }
        if random.random() < 0.5:
            fields["resource_id"] = to_global_id(EntityType.RESOURCE, random.choice(["r1", "r2"]))
        if random.random() < 0.5:
            fields["project_id"] = to_global_id(EntityType.PROJECT, random.choice(["p1", "p2"]))
        change = patch(f"a{random.randrange(30)}", **fields)
        try:
            await assignment_writes.update_assignment(context(store, team), change)
        except Refused:
            continue  # Deleted, given to an owner that is going, or in much demand.


@pytest.mark.deep
@pytest.mark.parametrize(
    ("delete", "type", "attribute"),
    [
        (owner_writes.delete_resource, EntityType.RESOURCE, "resourceId"),
        (owner_writes.delete_project, EntityType.PROJECT, "projectId"),
    ],
    ids=["resource", "project"],
)
async def test_a_deletion_amid_creators_and_movers_leaves_nothing_behind(
    store: Store, rounds: int, delete: Delete, type: EntityType, attribute: str
) -> None:
    for _ in range(rounds):
        team = f"race-{uuid.uuid4().hex}"
        await small_team(store, team)
        witness, stop = Witness(), asyncio.Event()
        callers = [
            asyncio.create_task(keep_creating(store, team, witness, stop)) for _ in range(CALLERS)
        ]
        callers += [asyncio.create_task(keep_moving(store, team, stop)) for _ in range(CALLERS)]
        await witness.is_busy.wait()
        owner = "r1" if type is EntityType.RESOURCE else "p1"
        deleters = [delete(context(store, team), id=to_global_id(type, owner)) for _ in range(2)]
        answers = await asyncio.gather(*deleters, return_exceptions=True)
        stop.set()
        await asyncio.gather(*callers)
        for answer in answers:
            if isinstance(answer, list):
                witness.deleted += (raw_id(EntityType.ASSIGNMENT, id) or "" for id in answer)
            else:
                assert isinstance(answer, Refused)
        left = await assignments(store, team)
        ids = [each["id"] for each in left]
        assert not [each for each in left if each[attribute] == owner], "an orphan"
        assert Counter(ids).most_common(1)[0][1] == 1 if ids else True, "a double"
        assert not set(ids) & set(witness.deleted), "back from the dead, or never deleted"
        assert len(witness.deleted) == len(set(witness.deleted)), "deleted twice"
        # Nothing is lost: what was ever there is still there, or somebody was told it is not.
        known = witness.created | {f"a{n}" for n in range(30)}
        assert set(ids) | set(witness.deleted) == known
        assert witness.refusals <= {"NOT_FOUND"}
        said = await deletions(store, team)
        assert Counter(each[:2] for each in said) == Counter(
            [*(("Assignment", id) for id in witness.deleted), (str(type), owner)]
        ), "whatever is gone is remembered once, and nothing else is"


@pytest.mark.deep
async def test_two_owners_that_are_deleted_at_once_remember_each_assignment_of_both_once(
    store: Store, rounds: int
) -> None:
    for _ in range(rounds):
        team = f"race-{uuid.uuid4().hex}"
        await small_team(store, team)
        answers = await asyncio.gather(
            owner_writes.delete_resource(
                context(store, team), id=to_global_id(EntityType.RESOURCE, "r1")
            ),
            owner_writes.delete_project(
                context(store, team), id=to_global_id(EntityType.PROJECT, "p1")
            ),
        )
        told = [raw_id(EntityType.ASSIGNMENT, id) for answer in answers for id in answer]
        assert sorted(map(str, told)) == sorted(f"a{n}" for n in range(30))
        assert await assignments(store, team) == []
        expected = [("Assignment", f"a{n}", 2, "user-1") for n in range(30)]
        expected += [("Project", "p1", 2, "user-1"), ("Resource", "r1", 2, "user-1")]
        assert await deletions(store, team) == sorted(expected)


async def keep_noting(store: Store, team: str, witness: Witness) -> None:
    """Changes an assignment until it is gone."""
    for n in range(1_000):
        try:
            noted = await assignment_writes.update_assignment(
                context(store, team), patch("a0", note=f"{n}")
            )
        except Refused as refused:
            if "NOT_FOUND" in {problem.code for problem in refused.problems}:
                return
        else:
            witness.versions.append(noted.version)
            witness.is_busy.set()
    raise AssertionError("it is there for ever")


@pytest.mark.deep
@pytest.mark.parametrize("way", ["alone", "with its resource"])
async def test_a_deletion_amid_updates_is_of_a_version_above_all_that_there_were(
    store: Store, rounds: int, way: str
) -> None:
    for _ in range(rounds):
        team = f"race-{uuid.uuid4().hex}"
        await small_team(store, team)
        witness = Witness()
        noting = [asyncio.create_task(keep_noting(store, team, witness)) for _ in range(3)]
        await witness.is_busy.wait()
        planner = context(store, team)
        if way == "alone":
            id = to_global_id(EntityType.ASSIGNMENT, "a0")
            await assignment_writes.delete_assignment(planner, id=id)
        else:
            id = to_global_id(EntityType.RESOURCE, "r1")
            await owner_writes.delete_resource(planner, id=id)
        await asyncio.gather(*noting)
        [said] = [each for each in await deletions(store, team) if each[:2] == ("Assignment", "a0")]
        assert said[2] == max(witness.versions) + 1


@pytest.mark.deep
async def test_concurrent_moves_of_one_assignment_leave_exactly_one_item(
    store: Store, rounds: int
) -> None:
    for _ in range(rounds):
        team = f"race-{uuid.uuid4().hex}"
        await small_team(store, team)
        moves = [
            assignment_writes.update_assignment(
                context(store, team), patch("a0", start_date=DAY - timedelta(days=n))
            )
            for n in range(1, 11)
        ]
        answers = await asyncio.gather(*moves, return_exceptions=True)
        done = [each for each in answers if isinstance(each, Assignment)]
        refused = [each for each in answers if isinstance(each, Refused)]
        assert len(done) + len(refused) == len(answers)
        assert {p.code for each in refused for p in each.problems} <= {"CONFLICT"}
        [stored] = [each for each in await assignments(store, team) if each["id"] == "a0"]
        # Each success is one version, and the last of them is what is stored.
        assert sorted(each.version for each in done) == list(range(2, len(done) + 2))
        last = max(done, key=lambda each: each.version)
        assert (stored["startDate"], stored["version"]) == (
            str(last.start_date),
            str(last.version),
        )


@pytest.mark.deep
async def test_an_assignment_moved_to_another_resource_survives_the_deletion_of_its_old_one(
    store: Store, rounds: int
) -> None:
    for _ in range(rounds):
        team = f"race-{uuid.uuid4().hex}"
        await small_team(store, team)
        to_r2 = to_global_id(EntityType.RESOURCE, "r2")
        moves = [
            assignment_writes.update_assignment(
                context(store, team), patch(f"a{n}", resource_id=to_r2)
            )
            for n in range(30)
        ]
        deletion = owner_writes.delete_resource(
            context(store, team), id=to_global_id(EntityType.RESOURCE, "r1")
        )
        *answers, deleted = await asyncio.gather(*moves, deletion, return_exceptions=True)
        assert isinstance(deleted, list)
        moved = {each.id for each in answers if isinstance(each, Assignment)}
        gone = {raw_id(EntityType.ASSIGNMENT, id) for id in deleted}
        left = await assignments(store, team)
        assert {each["id"] for each in left} == moved
        assert {each["resourceId"] for each in left} <= {"r2"}
        assert not moved & gone
        assert moved | gone == {f"a{n}" for n in range(30)}


@pytest.mark.deep
async def test_two_one_sided_changes_of_dates_never_make_a_negative_range(
    store: Store, rounds: int
) -> None:
    refusals = 0
    for _ in range(rounds * 3):
        team = f"race-{uuid.uuid4().hex}"
        await small_team(store, team)
        answers = await asyncio.gather(
            assignment_writes.update_assignment(
                context(store, team), patch("a0", start_date=DAY + timedelta(days=2))
            ),
            assignment_writes.update_assignment(context(store, team), patch("a0", end_date=DAY)),
            return_exceptions=True,
        )
        [stored] = [each for each in await assignments(store, team) if each["id"] == "a0"]
        assert stored["startDate"] < stored["endDateExclusive"]
        refusals += sum(isinstance(each, Refused) for each in answers)
    assert refusals == rounds * 3, "exactly one of each two is refused"


@pytest.mark.deep
async def test_one_chosen_id_at_once_on_different_days_makes_one_item(
    store: Store, rounds: int
) -> None:
    for _ in range(rounds):
        team = f"race-{uuid.uuid4().hex}"
        await small_team(store, team)
        id = str(uuid.uuid4())
        creates = [
            assignment_writes.create_assignment(
                context(store, team),
                id=id,
                resource_id=to_global_id(EntityType.RESOURCE, "r1"),
                project_id=to_global_id(EntityType.PROJECT, "p1"),
                start_date=DAY + timedelta(days=n % 3),
                end_date=DAY + timedelta(days=5),
                note=None,
            )
            for n in range(9)
        ]
        answers = await asyncio.gather(*creates, return_exceptions=True)
        done = [each for each in answers if isinstance(each, Assignment)]
        [stored] = [each for each in await assignments(store, team) if each["id"] == id]
        assert {str(each.start_date) for each in done} == {stored["startDate"]}
        assert len(done) == 3, "the same create thrice is the same success thrice"


class Overtaken:
    """A transport whose first transaction comes late: `meanwhile` is done before it."""

    def __init__(self, store: Store, meanwhile: Callable[[], Awaitable[None]]) -> None:
        self._store, self._transport, self._meanwhile = store, store.transport, meanwhile

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        if operation == "TransactWriteItems":
            self._store.transport = self._transport
            await self._meanwhile()
        return await self._transport.send(operation, request)


@pytest.mark.parametrize(
    ("fields", "by_another"),
    [
        ({"note": "hi"}, False),
        ({"start_date": DAY - timedelta(days=1)}, False),
        ({}, True),
    ],
    ids=["changed", "moved", "deleted"],
)
async def test_a_deletion_that_is_overtaken_is_of_what_there_is_then(
    store: Store, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], by_another: bool
) -> None:
    team = f"race-{uuid.uuid4().hex}"
    await small_team(store, team)
    id = to_global_id(EntityType.ASSIGNMENT, "a0")

    async def meanwhile() -> None:
        if by_another:
            await assignment_writes.delete_assignment(context(store, team), id=id)
        else:
            await assignment_writes.update_assignment(context(store, team), patch("a0", **fields))

    monkeypatch.setattr(store, "transport", Overtaken(store, meanwhile))
    await assignment_writes.delete_assignment(context(store, team), id=id)
    version = 2 if by_another else 3
    assert await deletions(store, team) == [("Assignment", "a0", version, "user-1")]
    assert "a0" not in [each["id"] for each in await assignments(store, team)]


async def test_a_slow_deletion_spares_an_owner_that_was_made_anew_under_the_same_id(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = f"race-{uuid.uuid4().hex}"
    await small_team(store, team)
    owner = to_global_id(EntityType.RESOURCE, "r1")

    async def another_life() -> None:
        await owner_writes.delete_resource(context(store, team), id=owner)
        await put(store, team, [Resource(id="r1", name="New", **STAMPS)])
        await put(store, team, [assignment("new", DAY, DAY + timedelta(2), "r1", "p1")])

    monkeypatch.setattr(store, "transport", Overtaken(store, another_life))
    await owner_writes.delete_resource(context(store, team), id=owner)
    assert [each["id"] for each in await assignments(store, team)] == ["new"]
    assert {"S": "New"} in [item.get("name") for item in await everything(store, team)]
