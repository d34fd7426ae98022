"""The demo team: people, jobs and a plan around today, made the same way every day."""

import asyncio
import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from data.administration import create_table
from data.clock import new_id, now
from data.days import LONG_DAYS, end_exclusive
from data.entities import Assignment, Entity, Link, Membership, Project, Resource, Role, Team
from data.items import encode, table_key
from data.keys import META
from data.stamps import created
from data.store import Store

__all__ = ["DEMO_TEAM", "DEMO_USER", "demo_team", "seed_demo"]

DEMO_TEAM: Final = "demo"
DEMO_USER: Final = "demo-user"
_ASSIGNMENTS: Final = 150
# The few who stand by for months beside their other work: a plan with overlaps, but not of them.
_STANDING_BY: Final = slice(4, None, 3)

_PEOPLE: Final = (
    "Ada Brandt",
    "佐藤 健",
    "María Ángeles Núñez",
    "Омар Алиев",
    "أمينة حداد",
    "Chidi Okonkwo",
    "Zoë Lindqvist",
    "김민서",
    "Ελένη Παππά",
    "अनन्या राव",
    "鈴木 さくら",
    "Noa בן־דוד",
)
_PROJECTS: Final = (
    ("Harbour crossing", "#1f77b4", ("construction", "public")),
    ("新社屋移転", "#d62728", ("office",)),
    ("Site relaunch", "#2ca02c", ("web", "public")),
    ("Köln fit-out", "#9467bd", ("construction",)),
    ("Billing, second edition", "#ff7f0e", ("software",)),
    ("Проект «Маяк»", "#17becf", ("research",)),
    ("Summer school", "#bcbd22", ("education",)),
    ("Maintenance", "#7f7f7f", ()),
)


def demo_team(today: date) -> list[Entity]:
    """12 people, 8 projects and 150 assignments around `today`: a few of them long, and each
    person's others in runs that begin the day after the one before ended. The team comes last."""
    # Seeded: the same day shows everybody the same plan.
    chance = random.Random(20240110)  # noqa: S311
    resources = [Resource(id=new_id(), name=name) for name in _PEOPLE]
    projects = [
        Project(
            id=new_id(),
            name=name,
            color=color,
            description=f"{name}: a project of the demo team.",
            tags=tags,
            links=(Link("Plan", f"https://example.com/projects/{number}"),),
        )
        for number, (name, color, tags) in enumerate(_PROJECTS, start=1)
    ]
    assignments = [
        *_long_ones(chance, today, resources[_STANDING_BY], projects[-1]),
    ]
    assignments += _runs(chance, today, resources, projects, _ASSIGNMENTS - len(assignments))
    moment = now()
    return [
        Membership(
            team_id=DEMO_TEAM,
            user_id=DEMO_USER,
            role=Role.ADMIN,
            joined_at=moment,
            updated_at=moment,
        ),
        *map(created, resources),
        *map(created, projects),
        *map(created, assignments),
        created(Team(id=DEMO_TEAM, name="Demo team")),
    ]


def _long_ones(
    chance: random.Random, today: date, resources: list[Resource], project: Project
) -> Iterator[Assignment]:
    for resource in resources:
        start = today - timedelta(days=chance.randrange(30, 120))
        yield Assignment(
            id=new_id(),
            resource_id=resource.id,
            project_id=project.id,
            start_date=start,
            end_date_exclusive=start + timedelta(days=LONG_DAYS + chance.randrange(30, 200)),
            note="Stands by",
        )


def _runs(
    chance: random.Random,
    today: date,
    resources: list[Resource],
    projects: list[Project],
    count: int,
) -> Iterator[Assignment]:
    starts = {each.id: today - timedelta(days=chance.randrange(50, 70)) for each in resources}
    for number in range(count):
        resource = resources[number % len(resources)]
        start = starts[resource.id]
        last = start + timedelta(days=chance.choice((0, 1, 2, 4, 4, 7, 11, 13)))
        yield Assignment(
            id=new_id(),
            resource_id=resource.id,
            project_id=chance.choice(projects).id,
            start_date=start,
            end_date_exclusive=end_exclusive(last),
            note=chance.choice((None, None, "On site", "午前のみ", "With the client")),
        )
        # Mostly back to back; now and then a few free days.
        starts[resource.id] = end_exclusive(last) + timedelta(days=chance.choice((0, 0, 0, 3)))


async def seed_demo(store: Store) -> None:
    """Creates the table and the demo team, unless they are there."""
    if not await create_table(store) and await store.get(table_key(DEMO_TEAM, META)):
        return
    *others, team = demo_team(date.today())
    await asyncio.gather(*(store.put(encode(DEMO_TEAM, entity), None) for entity in others))
    # The team's own item last: a start that was broken off is then begun again.
    await store.put(encode(DEMO_TEAM, team), None)
