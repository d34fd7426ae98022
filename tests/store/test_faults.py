"""Whatever fails: a mutation is done once, or not at all, or the same call finishes it."""

import asyncio
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from data.entities import Assignment, EntityType, Project, Resource
from data.errors import Refused, Unavailable
from data.feeds import feeds_of
from data.slices import AssignmentsSlice, ProjectsSlice, ResourcesSlice, Slice
from data.store import Store
from resolvers.context import RequestContext
from resolvers.feed_writes import create_calendar_feed
from resolvers.global_ids import to_global_id
from tests.engines import DEEP
from tests.faults import Crash, Fault, Plan, faulty
from tests.store.scenarios import SCENARIOS, Scenario, context, planned, state
from tests.tombstones import deletions, remaining

# Every kind in a deep run; else one that was refused, and one whose answer was lost.
TRANSIENT = (
    [fault for fault in Fault if not fault.is_crash]
    if DEEP
    else [Fault.CONFLICT, Fault.TIMEOUT_AFTER]
)
CRASHES = [fault for fault in Fault if fault.is_crash] if DEEP else [Fault.CRASH_AFTER]


@pytest.fixture(autouse=True)
def small_and_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries wait for nothing, and a few assignments make several chunks."""
    monkeypatch.setattr("data.sending._FIRST_PAUSE", 0.0)
    monkeypatch.setattr("data.cascade._PER_TRANSACTION", 4)
    monkeypatch.setattr("data.shifts._PER_TRANSACTION", 4)


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    """A fresh team for each run."""
    return (f"faults-{number}" for number in range(1_000_000))


async def before_and_after(store: Store, names: Iterator[str], scenario: Scenario) -> Any:
    """What is stored before and after an undisturbed call, and the requests that it takes."""
    team = next(names)
    planner = await planned(store, team)
    before = await state(store, team)
    with faulty(store, lambda *_: None) as client:
        await scenario.call(planner)
    return before, await state(store, team), len(client.sent)


async def view(planner: RequestContext) -> set[Any]:
    """What a reader of the whole timeline sees."""
    slices: list[Slice] = [ResourcesSlice(), ProjectsSlice(), AssignmentsSlice()]
    parts = await planner.loader.load(slices)
    entities: list[Resource | Project | Assignment] = []
    for part in parts.values():
        entities += [*part.resources, *part.projects, *part.assignments]
    return {str(replace(each, updated_at=None, created_at=None)) for each in entities}


def at(index: int, fault: Fault, *, stays: bool = False) -> Plan:
    """The fault for the request with this index, and for all later ones if it `stays`."""
    return lambda n, _: fault if n == index or (stays and n > index) else None


@pytest.mark.deep
@pytest.mark.parametrize("scenario", SCENARIOS, ids=repr)
async def test_one_fault_at_any_point_is_retried_and_the_mutation_is_done_once(
    store: Store, names: Iterator[str], scenario: Scenario
) -> None:
    before, after, requests = await before_and_after(store, names, scenario)
    assert before != after
    for index, fault in product(range(requests), TRANSIENT):
        team = next(names)
        planner = await planned(store, team)
        with faulty(store, at(index, fault)):
            await scenario.call(planner)
        assert await state(store, team) == after, (index, fault)


@pytest.mark.deep
async def test_one_fault_at_any_point_makes_a_calendar_feed_once(
    store: Store, names: Iterator[str]
) -> None:
    """Its token is new with each call, so no later call can find out what became of this one."""
    for index, fault in product(range(2), TRANSIENT):
        team = next(names)
        planner = await planned(store, team)
        with faulty(store, at(index, fault)) as client:
            made, _ = await create_calendar_feed(
                planner, subject_id=to_global_id(EntityType.RESOURCE, "r1")
            )
        assert len(client.sent) == 3
        there = (await feeds_of(store, team, user_id="user-1")).feeds
        assert {each.id for each in there} == {"f1", made.id}
        assert len(there) == 2


@pytest.mark.deep
@pytest.mark.parametrize("scenario", SCENARIOS, ids=repr)
async def test_a_fault_that_stays_is_unavailable_and_a_later_call_finishes(
    store: Store, names: Iterator[str], scenario: Scenario
) -> None:
    _, after, requests = await before_and_after(store, names, scenario)
    for index, fault in product(range(requests), TRANSIENT):
        team = next(names)
        planner = await planned(store, team)
        with faulty(store, at(index, fault, stays=True)):
            refused = await outcome(scenario, planner)
        # What was done all the same may be recognised as done, and what is done of a chunked
        # mutation is told; then it is a success.
        told = fault.is_done or scenario.in_chunks
        assert (refused is None and told) or isinstance(refused, Unavailable)
        await call_again(store, team, scenario)
        assert await state(store, team) == after, (index, fault)


@pytest.mark.deep
@pytest.mark.parametrize("scenario", SCENARIOS, ids=repr)
async def test_a_crash_between_any_two_requests_shows_no_half_and_the_same_call_finishes(
    store: Store, names: Iterator[str], scenario: Scenario
) -> None:
    _, after, requests = await before_and_after(store, names, scenario)
    untouched = await view(await planned(store, next(names)))
    done = next(names)
    await scenario.call(await planned(store, done))
    finished = await view(context(store, done))
    for index, fault in product(range(requests), CRASHES):
        team = next(names)
        planner = await planned(store, team)
        with faulty(store, at(index, fault)):
            assert isinstance(await outcome(scenario, planner), Crash)
        seen = await view(context(store, team))
        assert scenario.in_chunks or seen in (untouched, finished), (index, fault)
        await call_again(store, team, scenario)
        assert await state(store, team) == after, (index, fault)


DELETIONS = [each for each in SCENARIOS if each.buries]


@pytest.mark.deep
@pytest.mark.parametrize("scenario", DELETIONS, ids=repr)
async def test_at_every_point_what_is_gone_is_remembered_once_and_nothing_else_is(
    store: Store, names: Iterator[str], scenario: Scenario
) -> None:
    _, _, requests = await before_and_after(store, names, scenario)
    for index, fault in product(range(requests), TRANSIENT + CRASHES):
        team = next(names)
        planner = await planned(store, team)
        before = {each["sk"]["S"] for each in await remaining(store, team)}
        with faulty(store, at(index, fault, stays=True)):
            await outcome(scenario, planner)
        for _ in range(2):
            gone = before - {each["sk"]["S"] for each in await remaining(store, team)}
            remembered = [each[1] for each in await deletions(store, team)]
            assert sorted(remembered) == sorted(sk.rpartition("#")[2] for sk in gone)
            await call_again(store, team, scenario)


async def outcome(scenario: Scenario, planner: RequestContext) -> BaseException | None:
    """How a call ended: None when it succeeded."""
    # As a task of its own, so that a crash ends it and not the test.
    task: asyncio.Future[Any] = asyncio.ensure_future(scenario.call(planner))
    await asyncio.wait([task])
    return task.exception()


async def call_again(store: Store, team: str, scenario: Scenario) -> None:
    """The client's own retry: it succeeds, or says that there is nothing left to do."""
    refused = await outcome(scenario, context(store, team))
    codes = [problem.code for problem in refused.problems] if isinstance(refused, Refused) else None
    assert refused is None or codes == [scenario.again]
