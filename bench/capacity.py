"""What a timeline consumes while a team's history grows: capacity, Queries and pages, as DynamoDB
Local reports them. See docs/adr/0015-large-teams.md."""

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from data.days import LONG_DAYS, Window
from data.entities import Assignment, Entity, Project, Resource, Team
from data.expressions import Item
from data.items import encode
from data.loader import PartitionLoader
from data.metering import Meter, Operation
from data.recent import Recent
from data.slices import AssignmentsSlice, ProjectsSlice, ResourcesSlice, Slice
from data.store import Store
from data.transport import Sender

__all__ = ["TODAY", "WINDOWS", "Cost", "fill", "history", "measure", "section"]

TODAY: Final = date(2026, 6, 15)
"""Fixed, so that every run asks for the same."""

WINDOWS: Final[Mapping[str, Window]] = {
    "this month": Window(date(2026, 6, 1), date(2026, 6, 30)),
    "this quarter": Window(date(2026, 4, 1), date(2026, 6, 30)),
    "a month two years ago": Window(date(2024, 6, 1), date(2024, 6, 30)),
    "none": Window(),
}

_RESOURCES: Final = 40
_PROJECTS: Final = 60
_AHEAD: Final = 120
"""Days that are planned ahead of today."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one read consumed: read capacity units, Queries, and the pages of all of them."""

    units: float
    queries: int
    pages: int

    def __str__(self) -> str:
        return f"{self.units:,.1f} / {self.queries} / {self.pages}"


def history(team_id: str, years: int, *, a_year: int, note: str = "") -> Iterator[Entity]:
    """A team that has planned for so many years, as many assignments in each, one in twenty of them
    longer than `LONG_DAYS`."""
    chance = random.Random(years)  # noqa: S311 - the same data every time
    yield Team(id=team_id, name="A team", version=1)
    for number in range(_RESOURCES):
        yield Resource(id=f"r{number:03}", name=f"Person {number}", version=1)
    for number in range(_PROJECTS):
        yield Project(id=f"p{number:03}", name=f"Job {number}", color="#336699", version=1)
    for number in range(years * a_year):
        start = TODAY + timedelta(_AHEAD - chance.randrange(365 * years))
        long = number % 20 == 0
        days = chance.randint(LONG_DAYS + 1, 200) if long else chance.randint(1, 14)
        yield Assignment(
            id=f"0197{chance.getrandbits(112):028x}",
            resource_id=f"r{chance.randrange(_RESOURCES):03}",
            project_id=f"p{chance.randrange(_PROJECTS):03}",
            start_date=start,
            end_date_exclusive=start + timedelta(days),
            note=note or None,
            version=1,
            created_at="2026-01-01T08:00:00.000Z",
            updated_at="2026-01-01T08:00:00.000Z",
        )


async def fill(store: Store, team_id: str, entities: Sequence[Entity]) -> None:
    """Writes the entities, 25 at a time (the limit of BatchWriteItem), several times at once."""
    items = [encode(team_id, entity) for entity in entities]
    gate = asyncio.Semaphore(8)

    async def write(part: Sequence[Item]) -> None:
        requests: Any = [{"PutRequest": {"Item": item}} for item in part]
        async with gate:
            answer = await store.client.batch_write_item(RequestItems={store.table: requests})
        if answer["UnprocessedItems"]:
            raise RuntimeError("not all of a batch was written")

    await asyncio.gather(*(write(items[at : at + 25]) for at in range(0, len(items), 25)))


async def measure(store: Store, team_id: str, slices: Sequence[Slice]) -> Cost:
    """What it costs to load the slices in a request of its own."""
    meter = Meter()
    view = store.metered(meter)
    view.transport = queries = _Queries(store.transport)
    loader = PartitionLoader(view, team_id, on_left_behind=lambda _: None)
    try:
        await loader.load(slices)
    finally:
        loader.release()
    return Cost(meter.read_units, queries.begun, meter.pages)


async def section(
    store: Store,
    progress: Callable[[str], None],
    *,
    years: Sequence[int] = (1, 3, 10),
    a_year: int = 5_000,
) -> str:
    """Fills the table with teams of so many years and returns a Markdown table of what their
    timelines consume; `progress` hears what is under way."""
    rows = []
    for each in years:
        team_id = f"years-{each}"
        progress(f"writing {each * a_year:,} assignments")
        await fill(store, team_id, list(history(team_id, each, a_year=a_year)))
        for title, window in WINDOWS.items():
            progress(f"{each} years: {title}")
            alone: Slice = AssignmentsSlice(window)
            store.large_teams = Recent()
            whole: list[Slice] = [ResourcesSlice(), ProjectsSlice(), alone]
            costs = [
                await measure(store, team_id, whole),
                await measure(store, team_id, whole),
                await measure(store, team_id, [alone]),
            ]
            rows.append([str(each), title, *map(str, costs)])
    header = [
        "years",
        "window",
        "whole timeline, first request",
        "from the second on",
        "assignments alone",
    ]
    lines = [header, ["---:", "---", "---:", "---:", "---:"], *rows]
    return "\n".join(
        [
            f"{a_year:,} assignments a year, one in twenty longer than {LONG_DAYS} days. "
            "Each cell: read capacity units / Queries / pages.",
            "",
            *(f"| {' | '.join(line)} |" for line in lines),
        ]
    )


class _Queries:
    """A transport that notes the Queries that begin: each page but the first continues one."""

    def __init__(self, transport: Sender) -> None:
        self._transport = transport
        self.begun = 0

    async def send(self, operation: Operation, request: Mapping[str, Any]) -> bytes:
        self.begun += operation == "Query" and "ExclusiveStartKey" not in request
        return await self._transport.send(operation, request)
