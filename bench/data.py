"""The teams that are asked about: seeded, so that every run and every machine has the same."""

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final, TypeVar

from msgspec.structs import replace

from data.days import LONG_DAYS
from data.entities import Assignment, Entity, Membership, Project, Resource, Role, Team

__all__ = [
    "CREATE",
    "LARGE",
    "MEDIUM",
    "OTHERS",
    "SMALL",
    "TEAMS",
    "USER",
    "TeamSize",
    "team_of",
]

USER: Final = "user-1"
_BEGIN: Final = datetime(2024, 1, 1, tzinfo=UTC)
_DAYS: Final = 3 * 365
Stamped = TypeVar("Stamped", Team, Resource, Project, Assignment)


@dataclass(frozen=True, slots=True)
class TeamSize:
    """A team by its id, and how much it has."""

    id: str
    resources: int
    projects: int
    assignments: int


SMALL: Final = TeamSize("small", 20, 30, 500)
MEDIUM: Final = TeamSize("medium", 50, 100, 5_000)
LARGE: Final = TeamSize("large", 200, 300, 25_000)
# Its own, since what is created there would lengthen the timelines of the others.
CREATE: Final = TeamSize("create", 20, 30, 0)
# Under load not all ask for one team.
OTHERS: Final = (TeamSize("medium-2", 50, 100, 5_000), TeamSize("medium-3", 50, 100, 5_000))
TEAMS: Final = (SMALL, CREATE, MEDIUM, *OTHERS, LARGE)

_FIRST_NAMES = (
    "Ada", "Amina", "Anna", "Chidi", "Elena", "Emre", "Fatima", "Grace", "Hiroshi", "Ines", "Jonas",
    "José", "Kaito", "Lena", "Linus", "Mara", "Mateo", "Noa", "Omar", "Priya", "Sofia", "Tomás",
    "Wei", "Yuki", "Zoë",
)  # fmt: skip
_LAST_NAMES = (
    "Alvarez", "Andersen", "Bauer", "Brandt", "Chen", "Costa", "Dubois", "Fischer", "García",
    "Haddad", "Ivanova", "Kim", "Kowalski", "Lindqvist", "Moreau", "Müller", "Nakamura", "Okonkwo",
    "Papadopoulos", "Rao", "Rossi", "Schneider", "Silva", "Tanaka", "Yılmaz",
)  # fmt: skip
_PLACES = (
    "Harbour", "Old town", "North campus", "Riverside", "Airport", "Museum", "Market hall",
    "Station", "Lakeside", "Campus west", "City library", "Stadium",
)  # fmt: skip
_JOBS = (
    "crossing", "fit-out", "relaunch", "survey", "renovation", "extension", "maintenance",
    "migration", "audit", "signage",
)  # fmt: skip
_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#bcbd22", "#7f7f7f")
_NOTES = (
    "On site until Wednesday, then from home.",
    "With the client; the room is booked.",
    "Half days only. Handover to the night shift at six.",
    "Waits for the permit. If it does not come, the crew moves to the other site.",
    "Travel on the first and on the last day.",
)


def team_of(size: TeamSize) -> Iterator[Entity]:
    """Everything of the team, as it would be if it had been written through the API: ids that
    sort by creation, stamps, notes on a third of the assignments, one in fifty a long one."""
    chance = random.Random(size.id)  # noqa: S311 - the same data every time
    moments = (_BEGIN + timedelta(seconds=61 * each) for each in count())

    def stamped(entity: Stamped) -> Stamped:
        moment = next(moments)
        text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        id = entity.id or _uuid7(chance, moment)
        return replace(entity, id=id, version=1, created_at=text, updated_at=text)

    yield stamped(Team(id=size.id, name=f"Team {size.id}"))
    yield Membership(team_id=size.id, user_id=USER, role=Role.MEMBER)
    resources = [stamped(Resource(id="", name=_person(chance))) for _ in range(size.resources)]
    projects = [
        stamped(Project(id="", name=_job(chance), color=chance.choice(_COLORS)))
        for _ in range(size.projects)
    ]
    yield from resources
    yield from projects
    for number in range(size.assignments):
        start = _BEGIN.date() + timedelta(days=chance.randrange(_DAYS))
        days = chance.choice((1, 2, 3, 5, 5, 8, 12, 14))
        if number % 50 == 0:
            days = LONG_DAYS + chance.randrange(1, 120)
        yield stamped(
            Assignment(
                id="",
                resource_id=resources[number % size.resources].id,
                project_id=chance.choice(projects).id,
                start_date=start,
                end_date_exclusive=start + timedelta(days=days),
                note=chance.choice(_NOTES) if number % 3 == 0 else None,
            )
        )


def _person(chance: random.Random) -> str:
    return f"{chance.choice(_FIRST_NAMES)} {chance.choice(_LAST_NAMES)}"


def _job(chance: random.Random) -> str:
    return f"{chance.choice(_PLACES)} {chance.choice(_JOBS)}"


def _uuid7(chance: random.Random, moment: datetime) -> str:
    """A UUIDv7 of that moment (RFC 9562 §5.7), its random bits from the seed."""
    milliseconds = int(moment.timestamp() * 1000)
    bits = milliseconds << 80 | 7 << 76 | chance.getrandbits(12) << 64
    return str(uuid.UUID(int=bits | 0b10 << 62 | chance.getrandbits(62)))
