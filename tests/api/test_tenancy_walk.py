"""Whatever takes an id answers one of another team as one that never existed: a walk of the schema.

Both are sent to teams that are the same to the last byte, so that answers, requests to DynamoDB
and what is stored afterwards can be compared.
"""

import json
import re
import uuid
from dataclasses import dataclass

import httpx
import pytest

from data.entities import Entity, Membership, Role, Team
from data.store import Store
from schema import schema
from tests.api.audit import READS
from tests.api.samples import assignment, feed, gid, partitions, project, resource
from tests.api.schema_walk import CHOSEN, SLOTS, Operation, Slot, slots
from tests.api_client import Api, Capture, everything, put

pytestmark = pytest.mark.engines("local")

CORE = schema._schema
WALK = list(slots(CORE))
OURS = {
    "Resource": ("aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"),
    "Project": ("aaaaaaaa-0000-4000-8000-000000000003", "aaaaaaaa-0000-4000-8000-000000000004"),
    "Assignment": ("aaaaaaaa-0000-4000-8000-000000000005", "aaaaaaaa-0000-4000-8000-000000000006"),
    "CalendarFeed": (
        "aaaaaaaa-0000-4000-8000-000000000007",
        "aaaaaaaa-0000-4000-8000-000000000008",
    ),
}
TYPES = ("Team", "Membership", "Resource", "Project", "Assignment", "CalendarFeed", "Claim")

# What differs between two runs of anything: clocks and made-up ids.
CLOCK = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=\"expires\": {\"N\": \")\d+")
MADE_UP = re.compile(
    r"(?!aaaaaaaa)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b([0-9a-f]{32}){1,2}\b"
)


@dataclass(frozen=True)
class Pair:
    """An id of the other team, and one of the same form that nothing ever had."""

    form: str
    theirs: str
    nobodys: str
    is_raw: bool


@dataclass(frozen=True)
class Outcome:
    """All that can be told of a request from the outside and from the inside, with the id and the
    team replaced by placeholders. `stored` is None when no request could have written."""

    status: int
    headers: dict[str, str]
    body: str
    requests: list[str]
    stored: list[str] | None


def neutral(text: str, team: str, id: str) -> str:
    """The text without the id, the team, and what no two runs share."""
    for type in TYPES:
        text = text.replace(gid(type, id), "<id>").replace(gid(type, team), "<team>")
    text = text.replace(id, "<id>").replace(team, "<team>")
    return MADE_UP.sub("<made up>", CLOCK.sub("<time>", text))


async def seed(store: Store, team: str, ids: dict[str, tuple[str, str]]) -> None:
    """A team with two objects of each kind, the assignments of the first resource and project."""
    rows: list[Entity] = [
        *map(resource, ids["Resource"]),
        *map(project, ids["Project"]),
        *(
            assignment(
                "2024-01-10", 3, id=id, resource=ids["Resource"][0], project=ids["Project"][0]
            )
            for id in ids["Assignment"]
        ),
        *(feed(team, id, resource=ids["Resource"][0]) for id in ids["CalendarFeed"]),
    ]
    member = Membership(team_id=team, user_id=f"user-of-{team}", role=Role.ADMIN)
    await put(store, team, [Team(id=team, name=team, version=1), member, *rows])


async def stored(store: Store, team: str) -> list[str]:
    """Every item of a team: its partition, and those beside it."""
    items = [item for each in partitions(team) for item in await everything(store, each)]
    return [json.dumps(item, sort_keys=True) for item in items]


@pytest.fixture
async def pairs(stranger: Api, store: Store) -> list[Pair]:
    """Every kind of id that the stranger's team has, its chosen ones and its operations too."""
    theirs = {type: (str(uuid.uuid4()), str(uuid.uuid4())) for type in OURS}
    await seed(store, stranger.team, theirs)
    owners = {
        "resourceId": gid("Resource", theirs["Resource"][1]),
        "projectId": gid("Project", theirs["Project"][1]),
    }
    days = {"startDate": "2024-03-04", "endDate": "2024-03-09"}
    claimed, operation = str(uuid.uuid4()), str(uuid.uuid4())
    for mutation, input in (
        ("createAssignment", owners | days | {"id": claimed}),
        ("shiftProject", {"id": owners["projectId"], "days": 1, "operationId": operation}),
    ):
        payload = await stranger.mutate(mutation, "errors { message }", **input)
        assert payload == {"errors": []}
    assert len(await everything(store, f"{stranger.team}#CLAIMS")) == 2
    raw = {type: ids[0] for type, ids in theirs.items()} | {"Claim": claimed}
    member = f"{stranger.team}#user-of-{stranger.team}"
    named = raw | {"Team": stranger.team, "Membership": member}
    nobody = {type: other(id) for type, id in named.items()}
    return [
        *(Pair(f"{t}'s", gid(t, named[t]), gid(t, nobody[t]), False) for t in named),
        *(Pair(f"raw {t}'s", raw[t], nobody[t], True) for t in raw),
        Pair("operation's", operation, other(operation), True),
    ]


def other(id: str) -> str:
    """An id of the same form and length that nothing has."""
    return f"{id[:-12]}{uuid.uuid4().hex[:12]}"


async def ask(api: Api, captured: Capture, slot: Slot, id: str | None) -> httpx.Response:
    """The answer to the slot's operation with this id in the slot, and ids of the team's own
    objects in all others. Without an id the slot has one of the team's own, too."""

    def id_of(at: Slot, index: int) -> str | None:
        if at == slot and id is not None and (index == 1 or "[]" not in at.path):
            return id
        if at.kind == CHOSEN:
            return str(uuid.uuid4()) if at == slot else None
        return gid(at.kind, OURS[at.kind][index])

    operation = Operation(CORE, slot.parent, slot.field)
    captured.clear()
    return await api.post(operation.document, operation.variables(id_of))


async def outcome(api: Api, store: Store, captured: Capture, slot: Slot, id: str) -> Outcome:
    response = await ask(api, captured, slot, id)
    requests = [f"{name} {json.dumps(body, sort_keys=True)}" for name, body in captured.requests]
    has_written = not set(captured.operations) <= READS
    return Outcome(
        response.status_code,
        {name: neutral(value, api.team, id) for name, value in response.headers.items()},
        neutral(response.text, api.team, id),
        sorted(neutral(each, api.team, id) for each in requests),
        [neutral(each, api.team, id) for each in await stored(store, api.team)]
        if has_written
        else None,
    )


def test_the_table_of_slots_is_that_of_the_schema() -> None:
    assert all(slot.kind for slot in WALK)
    assert {str(slot) for slot in WALK} == SLOTS.keys()


@pytest.mark.parametrize("slot", WALK, ids=str)
async def test_with_ids_of_its_own_the_operation_succeeds(
    api: Api, store: Store, captured: Capture, slot: Slot
) -> None:
    await seed(store, api.team, OURS)
    answer = (await ask(api, captured, slot, None)).json()
    assert answer.keys() == {"data"}, answer
    found = answer["data"][slot.field]
    for each in found if isinstance(found, list) else [found]:
        assert each is not None
        assert each.get("errors", []) == []
    assert captured.requests


@pytest.mark.parametrize("slot", WALK, ids=str)
async def test_id_of_another_team_is_as_one_that_never_existed(
    http: httpx.AsyncClient,
    store: Store,
    captured: Capture,
    stranger: Api,
    pairs: list[Pair],
    slot: Slot,
) -> None:
    theirs = await stored(store, stranger.team)
    teams = await twins(http, store)
    seeded = await stored_neutral(store, teams)
    for pair in pairs:
        foreign = await outcome(teams[0], store, captured, slot, pair.theirs)
        assert not any(f"TEAM#{stranger.team}" in str(each) for each in captured.requests)
        assert foreign == await outcome(teams[1], store, captured, slot, pair.nobodys), pair.form
        if (slot.kind, pair.is_raw) == (CHOSEN, True):
            # It is the client's to choose whoever else has it, and so something was written.
            assert foreign.stored is not None
            teams = await twins(http, store)
    assert await stored_neutral(store, teams) == seeded
    assert await stored(store, stranger.team) == theirs


async def stored_neutral(store: Store, teams: list[Api]) -> list[list[str]]:
    return [
        [neutral(each, api.team, "no id") for each in await stored(store, api.team)]
        for api in teams
    ]


async def twins(http: httpx.AsyncClient, store: Store) -> list[Api]:
    """Two new teams that are the same but for their names."""
    teams = [Api(http, f"team-{uuid.uuid4().hex[:12]}") for _ in range(2)]
    for api in teams:
        await seed(store, api.team, OURS)
    return teams


async def test_an_id_that_is_chosen_is_free_whatever_another_team_has(
    api: Api, store: Store, stranger: Api, pairs: list[Pair]
) -> None:
    ids = [pair.theirs for pair in pairs if pair.is_raw]
    for id in ids:
        payload = await api.mutate(
            "createResource", "resource { id } errors { code }", id=id, name="x"
        )
        assert payload == {"resource": {"id": gid("Resource", id)}, "errors": []}
    assert [each["id"]["S"] for each in await everything(store, api.team)] == sorted(ids)
