"""Reading: dispatch on EntityType, what is left out and said so, and one plan for each batch."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta

import msgspec
import pytest
from structlog.testing import capture_logs

import data.loader
import data.partition
from data.days import Window
from data.decoding import SkipCode
from data.entities import Assignment, Membership, Owner, Project, Resource, Role, Team
from data.errors import Unavailable
from data.expressions import Item, KeyQuery, n, s
from data.items import encode
from data.loader import MARK_TIMEOUT, Part, PartitionLoader
from data.partition import split
from data.rows import Row, row_of
from data.slices import (
    AssignmentsSlice,
    ItemSlice,
    MembersSlice,
    ProjectsSlice,
    ResourcesSlice,
    Slice,
    TeamSlice,
    plan,
)
from tests.unit.data.memory_store import TEAM, MemoryStore

MARK = "2024-01-01T00:00:00.000Z"


@pytest.fixture(autouse=True)
def nothing_logged_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data.partition, "_logged", set())


def assignment(
    id: str,
    *,
    resource: str = "r1",
    project: str = "p1",
    start: str = "2024-01-10",
    days: int = 1,
) -> Assignment:
    first = date.fromisoformat(start)
    return Assignment(
        id=id,
        resource_id=resource,
        project_id=project,
        start_date=first,
        end_date_exclusive=first + timedelta(days),
    )


TEAM_ITSELF = Team(id=TEAM, name="Team")
ADA, BO = Resource(id="r1", name="Ada"), Resource(id="r2", name="Bo")
SITE, APP = (Project(id=f"p{n}", name=f"P{n}", color="#000000") for n in (1, 2))
MEMBER = Membership(team_id=TEAM, user_id="u1", role=Role.ADMIN)
A1, A2, A3 = (
    assignment("a1"),
    assignment("a2", resource="r2"),
    assignment("a3", resource="r2", project="p2"),
)
ALL = (A1, A2, A3, MEMBER, TEAM_ITSELF, SITE, APP, ADA, BO)


def items(*entities: Assignment | Membership | Team | Project | Resource) -> list[Item]:
    return [encode(TEAM, entity) for entity in entities]


def without(item: Item, name: str) -> Item:
    return {key: value for key, value in item.items() if key != name}


def test_each_item_goes_where_its_type_says_in_the_order_of_the_keys() -> None:
    partition = split(items(*ALL))
    assert partition.teams == [TEAM_ITSELF]
    assert partition.members == [MEMBER]
    assert partition.resources == [ADA, BO]
    assert partition.projects == [SITE, APP]
    assert partition.assignments == [A1, A2, A3]
    assert partition.deleting == []
    assert not partition.skipped


[UNTYPED] = (without(item, "EntityType") for item in items(assignment("secret-a4")))
[MISSPELT] = (item | {"EntityType": s("assignment")} for item in items(assignment("secret-a5")))
[HOLIDAY] = (item | {"EntityType": s("Holiday")} for item in items(assignment("secret-a6")))
[OWNERLESS] = (without(item, "projectId") for item in items(assignment("secret-a7")))
[GARBAGE] = (item | {"startDate": s("secret")} for item in items(assignment("secret-a8")))
[DISGUISED] = (item | {"EntityType": s("Project")} for item in items(Resource(id="x", name="x")))
BAD = [UNTYPED, MISSPELT, HOLIDAY, OWNERLESS, GARBAGE, DISGUISED]


def test_bad_items_never_fail_or_empty_the_others_and_are_counted_by_why() -> None:
    partition = split([*BAD, *items(*ALL), *BAD])
    assert partition.resources == [ADA, BO]
    assert partition.projects == [SITE, APP]
    assert partition.assignments == [A1, A2, A3]
    assert partition.skipped == {
        SkipCode.MISSING_ENTITY_TYPE: 2,
        SkipCode.UNKNOWN_ENTITY_TYPE: 4,
        SkipCode.MALFORMED_ITEM: 6,
    }


def test_items_of_an_auth_adapter_are_skipped_too() -> None:
    session: Item = {"pk": s("USER#u1"), "sk": s("SESSION#1"), "type": s("SESSION"), "x": n(1)}
    assert split([session]).skipped == {SkipCode.MISSING_ENTITY_TYPE: 1}


def test_each_bad_item_is_logged_once_with_its_keys_and_no_values() -> None:
    with capture_logs() as logs:
        split([*BAD, *items(*ALL)])
        split(BAD)
    assert [(log["pk"], log["sk"]) for log in logs] == [
        (item["pk"]["S"], item["sk"]["S"]) for item in BAD
    ]
    for log in logs:
        assert set(log) == {"event", "log_level", "pk", "sk", "code", "reason"}
        assert log["log_level"] == "warning"
        assert log["code"] in set(SkipCode)
        assert "secret" not in f"{log['event']} {log['reason']}"


def test_good_items_are_not_logged() -> None:
    with capture_logs() as logs:
        split(items(*ALL))
    assert logs == []


def test_what_was_logged_is_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data.partition, "_MAX_LOGGED", 2)
    with capture_logs() as logs:
        split(BAD[:3])
        split(BAD[2:3])
    assert [log["sk"] for log in logs] == [item["sk"]["S"] for item in BAD[:3]]
    assert len(data.partition._logged) <= 2


@pytest.mark.parametrize(
    ("deleting", "shown", "assignments"),
    [
        ((), (ADA, BO, SITE, APP), (A1, A2, A3)),
        ((ADA,), (BO, SITE, APP), (A2, A3)),
        ((BO,), (ADA, SITE, APP), (A1,)),
        ((SITE,), (ADA, BO, APP), (A3,)),
        ((APP,), (ADA, BO, SITE), (A1, A2)),
        ((ADA, APP), (BO, SITE), (A2,)),
        ((ADA, BO), (SITE, APP), ()),
    ],
)
def test_an_owner_being_deleted_is_gone_and_its_assignments_with_it(
    deleting: tuple[Owner, ...], shown: tuple[Owner, ...], assignments: tuple[Assignment, ...]
) -> None:
    marked = [
        item | {"deletingAt": s(MARK)} if owner in deleting else item
        for owner, item in zip((SITE, APP, ADA, BO), items(SITE, APP, ADA, BO), strict=True)
    ]
    partition = split([*items(A1, A2, A3), *marked])
    assert {*partition.resources, *partition.projects} == set(shown)
    assert {owner.id for owner in partition.deleting} == {owner.id for owner in deleting}
    assert partition.assignments == list(assignments)
    assert not partition.skipped


@pytest.mark.parametrize(("resource_goes", "left"), [(True, ["a1"]), (False, ["a2"])])
def test_a_resource_and_a_project_with_one_id_are_not_taken_for_each_other(
    resource_goes: bool, left: list[str]
) -> None:
    resource = Resource(id="same", name="R", deleting_at=MARK if resource_goes else None)
    project = Project(
        id="same", name="P", color="#000000", deleting_at=None if resource_goes else MARK
    )
    of_project = assignment("a1", resource="r1", project="same")
    of_resource = assignment("a2", resource="same", project="p1")
    partition = split(items(of_project, of_resource, project, resource))
    assert [each.id for each in partition.assignments] == left
    assert partition.resources == ([] if resource_goes else [resource])
    assert partition.projects == ([project] if resource_goes else [])


def test_an_assignment_whose_owners_do_not_exist_is_still_shown() -> None:
    dangling = assignment("a1", resource="gone", project="gone")
    assert split(items(dangling, ADA)).assignments == [dangling]


# The loader


def loader(store: MemoryStore, left_behind: list[Owner] | None = None) -> PartitionLoader:
    heard = [] if left_behind is None else left_behind
    return PartitionLoader(store.as_store, TEAM, on_left_behind=heard.append)


WINDOW = AssignmentsSlice(Window(date(2024, 1, 10), date(2024, 1, 31)))
EARLIER = AssignmentsSlice(Window(None, date(2024, 1, 9)))
SLICES: list[Slice] = [
    TeamSlice(),
    MembersSlice(),
    ResourcesSlice(),
    ProjectsSlice(),
    WINDOW,
    EARLIER,
    ItemSlice("RES#r1"),
    ItemSlice("ASN#2024-01-10#a1"),
    ItemSlice("RES#nobody"),
]


async def test_slices_that_are_asked_for_together_cost_one_query() -> None:
    store = MemoryStore(*ALL)
    parts = await loader(store).load(SLICES)
    assert [query for query, _ in store.queries] == [plan(TEAM, SLICES).table]
    assert parts == {
        TeamSlice(): Part(team=TEAM_ITSELF),
        MembersSlice(): Part(members=(MEMBER,)),
        ResourcesSlice(): Part(resources=(ADA, BO)),
        ProjectsSlice(): Part(projects=(SITE, APP)),
        WINDOW: Part(assignments=(A1, A2, A3)),
        EARLIER: Part(),
        ItemSlice("RES#r1"): Part(item=ADA),
        ItemSlice("ASN#2024-01-10#a1"): Part(item=A1),
        ItemSlice("RES#nobody"): Part(),
    }


@pytest.mark.parametrize("slice", SLICES)
async def test_a_slice_alone_holds_what_it_holds_among_others(slice: Slice) -> None:
    store = MemoryStore(*ALL)
    together = await loader(store).load(SLICES)
    alone = await loader(store).load([slice])
    assert alone == {slice: together[slice]}


async def test_a_partition_that_is_empty_has_empty_parts() -> None:
    parts = await loader(MemoryStore()).load(SLICES)
    assert set(parts) == set(SLICES)
    assert all(part == Part() for part in parts.values())


async def test_what_was_read_is_not_read_again_until_it_is_forgotten() -> None:
    store = MemoryStore(ADA)
    reads = loader(store)
    first = await reads.load([ResourcesSlice()])
    store.add(BO)
    assert await reads.load([ResourcesSlice()]) == first
    assert store.requests == 1
    reads.forget()
    assert await reads.load([ResourcesSlice()]) == {
        ResourcesSlice(): Part(resources=(ADA, BO)),
    }
    assert store.requests == 2


async def test_nothing_asked_is_nothing_read() -> None:
    store = MemoryStore(*ALL)
    assert await loader(store).load([]) == {}
    assert store.requests == 0


LONG = [
    assignment("l2", start="2023-02-01", days=900),
    assignment("l1", start="2023-01-01", days=1_200),
    assignment("l0", start="2023-01-01", days=1_000),
]


MIX: list[Slice] = [WINDOW, ResourcesSlice()]


async def test_long_assignments_of_the_index_stand_where_their_first_day_puts_them() -> None:
    store = MemoryStore(A1, A2, A3, *LONG)
    [part] = (await loader(store).load([WINDOW])).values()
    assert [each.id for each in part.assignments] == ["l0", "l1", "l2", "a1", "a2", "a3"]
    assert [query.index for query, _ in store.queries] == [None, "byLongEnd"]


async def test_the_order_is_the_one_of_the_whole_timeline() -> None:
    store = MemoryStore(A1, A2, A3, *LONG, ADA, SITE)
    windowed = await loader(store).load([WINDOW])
    whole = await loader(store).load([WINDOW, ResourcesSlice(), ProjectsSlice()])
    assert windowed[WINDOW].assignments == whole[WINDOW].assignments
    assert len(store.queries) == 3


async def test_a_team_of_more_than_one_page_is_asked_for_the_window_alone_from_then_on() -> None:
    store = MemoryStore(*ALL, *LONG, assignment("old", start="2023-03-03"))
    small = await loader(store).load(MIX)
    planned = plan(TEAM, MIX)
    assert planned.large
    assert [query for query, _ in store.queries] == [planned.table]
    store.page_items = 3
    apart = [planned.large.table, planned.large.companion, planned.large.beside]
    for first_page in ([planned.table], []):
        store.queries.clear()
        assert await loader(store).load(MIX) == small
        assert [query for query, _ in store.queries] == first_page + apart


async def test_a_large_team_without_a_window_is_one_query() -> None:
    store = MemoryStore(*ALL)
    store.page_items = 3
    store.large_teams.add(TEAM)
    await loader(store).load([ResourcesSlice(), ProjectsSlice(), AssignmentsSlice()])
    assert [query.key_condition for query, _ in store.queries] == ["#pk = :pk AND #sk > :deletions"]


async def test_a_team_of_one_page_is_not_taken_for_a_large_one() -> None:
    store = MemoryStore(*ALL)
    store.page_items = len(ALL)
    await loader(store).load(MIX)
    assert len(store.queries) == 1
    assert TEAM not in store.large_teams


@pytest.mark.parametrize("slices", [MIX, [WINDOW]], ids=["large team", "#4"])
async def test_what_the_index_has_where_it_no_longer_stands_is_not_there_twice(
    slices: list[Slice],
) -> None:
    """It was long and has been moved into the range; the index does not know yet."""
    store = MemoryStore(*ALL, *LONG)
    store.large_teams.add(TEAM)
    store.add(assignment("l1", start="2024-01-05", days=900))
    [part] = [part for slice, part in (await loader(store).load(slices)).items() if slice == WINDOW]
    found = [(each.id, each.start_date) for each in part.assignments if each.id.startswith("l")]
    assert found == [
        ("l0", date(2023, 1, 1)),
        ("l2", date(2023, 2, 1)),
        ("l1", date(2024, 1, 5)),
    ]


async def test_an_assignment_that_is_moved_while_pages_are_read_is_there_once() -> None:
    class Moving(MemoryStore):
        async def pages_of_rows(self, query: KeyQuery) -> AsyncIterator[tuple[list[Row], bool]]:
            rows = list(map(row_of, await self.query(query)))
            yield rows[:1], False
            yield rows[1:], True

    old, new = assignment("a", start="2024-01-02"), assignment("a", start="2024-02-02")
    later = msgspec.structs.replace(new, version=2)
    for first, second, expected in ((old, later, later), (old, new, old)):
        store = Moving(first, assignment("b", start="2024-01-20"), second)
        [part] = (await loader(store).load([AssignmentsSlice()])).values()
        assert [each for each in part.assignments if each.id == "a"] == [expected]
        assert len(part.assignments) == 2


async def test_long_items_without_an_id_are_all_reported() -> None:
    store = MemoryStore(*ALL, *LONG)
    broken = [without(item, "id") for item in items(*LONG)]
    store.add_items(*broken, without(items(A1)[0], "id"))
    reads = loader(store)
    [part] = (await reads.load([WINDOW])).values()
    assert [each.id for each in part.assignments] == ["a2", "a3"]
    assert reads.skipped == {SkipCode.MALFORMED_ITEM: 4}


async def test_an_item_that_is_left_out_of_two_reads_is_counted_once() -> None:
    store = MemoryStore(*ALL)
    store.add_items(UNTYPED, OWNERLESS)
    reads = loader(store)
    await reads.load([WINDOW])
    assert reads.skipped == {SkipCode.MISSING_ENTITY_TYPE: 1, SkipCode.MALFORMED_ITEM: 1}
    await reads.load([AssignmentsSlice()])
    assert reads.skipped == {SkipCode.MISSING_ENTITY_TYPE: 1, SkipCode.MALFORMED_ITEM: 1}


def ago(seconds: float) -> str:
    moment = datetime.now(UTC) - timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("mark", "left_behind"),
    [
        (-3_600, False),
        (0, False),
        (MARK_TIMEOUT + 5, True),
        (86_400, True),
        ("no moment at all", True),
        ("2024-01-01T00:00:00", True),
    ],
)
@pytest.mark.parametrize(
    "slices", [[ResourcesSlice()], [ResourcesSlice(), ProjectsSlice(), WINDOW]]
)
async def test_a_read_that_sees_a_mark_left_behind_says_so(
    mark: str | float, left_behind: bool, slices: list[Slice]
) -> None:
    moment = mark if isinstance(mark, str) else ago(mark)
    store = MemoryStore(*ALL, Resource(id="r9", name="Old", deleting_at=moment))
    heard: list[Owner] = []
    await loader(store, heard).load(slices)
    assert [owner.id for owner in heard] == (["r9"] if left_behind else [])


@pytest.mark.parametrize(("age", "left_behind"), [(59.9, False), (60.0, False), (60.1, True)])
async def test_a_mark_is_left_behind_when_older_than_a_minute(
    age: float, left_behind: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data.loader, "age_seconds", lambda _: age)
    heard: list[Owner] = []
    project = Project(id="p9", name="Old", color="#000000", deleting_at=MARK)
    await loader(MemoryStore(project), heard).load([ProjectsSlice()])
    assert heard == ([project] if left_behind else [])


async def test_an_item_that_is_being_deleted_is_not_found() -> None:
    store = MemoryStore(Resource(id="r1", name="Ada", deleting_at=ago(0)))
    assert await loader(store).load([ItemSlice("RES#r1")]) == {ItemSlice("RES#r1"): Part()}


async def test_a_read_is_given_up_with_the_request_that_asked_for_it() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    class Slow(MemoryStore):
        async def query(self, query: KeyQuery, *, consistent: bool | None = None) -> list[Item]:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            raise AssertionError("unreachable")

    request = asyncio.create_task(loader(Slow()).load([ResourcesSlice()]))
    await begun.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    async with asyncio.timeout(10):
        await ended.wait()


async def test_whoever_waits_for_a_read_that_is_cancelled_is_cancelled_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken_off(*_: object) -> list[Item]:
        raise asyncio.CancelledError

    own = loader(MemoryStore())
    monkeypatch.setattr(own, "_read", broken_off)
    waiting = [own.load([TeamSlice(), ResourcesSlice()]), own.load([TeamSlice()])]
    async with asyncio.timeout(10):
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(each) for each in outcomes] == [asyncio.CancelledError] * 2


def test_what_is_remembered_of_plans_is_bounded() -> None:
    assert data.loader._planned.cache_parameters()["maxsize"] == 1_000


class OneFails(MemoryStore):
    """The Query on the table fails once the others have begun; those would go on for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = 0
        self.all_read = asyncio.Event()

    async def pages_of_rows(self, query: KeyQuery) -> AsyncIterator[tuple[list[Row], bool]]:
        self.reading += 1
        if self.reading == 3:
            self.all_read.set()
        try:
            if query.index is None and query.filter:
                await self.all_read.wait()
                raise Unavailable("the store is busy")
            while True:
                await asyncio.sleep(0)
                yield [], False
        finally:
            self.reading -= 1


async def test_when_one_query_fails_the_others_are_given_up_before_anybody_hears_of_it() -> None:
    store = OneFails()
    store.large_teams.add(TEAM)
    with pytest.raises(Unavailable):
        await loader(store).load(MIX)
    assert store.reading == 0
