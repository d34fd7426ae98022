"""`planner doctor` finds what is wrong, puts right what is safe, and touches nothing else."""

import json
from typing import Any

import pytest

from data import doctor, repairs
from data.clock import now
from data.derived import amiss
from data.doctor import examine, fix
from data.entities import (
    Deletion,
    EntityType,
    Membership,
    Project,
    Resource,
    Role,
    Team,
)
from data.expressions import Expression, Item, n, s
from data.guards import EXISTS, claim_item
from data.items import encode
from data.stamps import created
from data.store import Store
from tests.api.samples import assignment
from tests.api_client import everything, put
from tests.transfer.commands import planner

OLD = "2024-01-01T00:00:00.000Z"


def good(team: str) -> list[Item]:
    return [
        encode(team, each)
        for each in (
            created(Team(id=team, name="Team")),
            Membership(team_id=team, user_id="u1", role=Role.ADMIN, joined_at=OLD),
            created(Resource(id="r", name="Ada")),
            created(Project(id="p", name="Bridge", color="#336699")),
            created(assignment("2024-01-10", 3, id="a1")),
            created(assignment("2024-01-10", 90, id="a2")),
        )
    ]


def bad(team: str) -> dict[str, Item]:
    """One item for each fault, by its sort key."""
    asn = encode(team, created(assignment("2024-01-10", 90, id="x")))
    resource = encode(team, created(Resource(id="x", name="Eve")))
    items: list[Item] = [
        without(resource, "EntityType") | {"sk": s("RES#untyped"), "id": s("untyped")},
        resource | {"sk": s("RES#kind"), "id": s("kind"), "EntityType": s("resource")},
        without(resource, "name") | {"sk": s("RES#nameless"), "id": s("nameless")},
        resource | {"sk": s("RES#gone"), "id": s("gone"), "deletingAt": s(OLD)},
        resource | {"sk": s("RES#going"), "id": s("going"), "deletingAt": s(now())},
        without(resource, "EntityType", "name") | {"sk": s("XYZ#1")},
        without(asn, "longEnd") | {"sk": s("ASN#2024-01-10#long"), "id": s("long")},
        asn | {"sk": s("ASN#2024-01-10#wrong"), "id": s("wrong"), "longEnd": s("2024-02-01")},
        asn
        | {
            "sk": s("ASN#2024-01-10#short"),
            "id": s("short"),
            "endDateExclusive": s("2024-01-12"),
            "longEnd": s("2024-01-12"),
        },
        asn | {"sk": s("ASN#2024-01-10#orphan"), "id": s("orphan"), "projectId": s("none")},
        asn | {"sk": s("ASN#2024-01-10#of"), "id": s("of"), "resourceId": s("gone")},
        encode(team, created(assignment("2024-02-01", 2, id="a1"))),
        encode(team, Membership(team_id=team, user_id="u2", role=Role.ADMIN))
        | {"GSI1PK": s("USER#other")},
        without(tombstone(team, "lasting"), "expires"),
        tombstone(team, "of nothing") | {"deletedType": s("Team")},
    ]
    return {item["sk"]["S"]: item for item in items}


FAULTS = {
    "!DEL#lasting": ("WRONG_ATTRIBUTE", True),
    "!DEL#of nothing": ("MALFORMED", False),
    "ASN#2024-01-10#long": ("WRONG_ATTRIBUTE", True),
    "ASN#2024-01-10#orphan": ("ORPHANED", False),
    "ASN#2024-01-10#short": ("WRONG_ATTRIBUTE", True),
    "ASN#2024-01-10#wrong": ("WRONG_ATTRIBUTE", True),
    "ASN#2024-02-01#a1": ("DUPLICATE_ID", False),
    "MEMBER#u2": ("WRONG_ATTRIBUTE", True),
    "RES#gone": ("STUCK_DELETION", True),
    "RES#kind": ("UNKNOWN_TYPE", False),
    "RES#nameless": ("MALFORMED", False),
    "RES#untyped": ("UNTYPED", True),
    "XYZ#1": ("UNTYPED", False),
    "claim": ("MALFORMED", False),
}


def tombstone(team: str, id: str) -> Item:
    return encode(
        team,
        Deletion(
            id=id,
            entity_type=EntityType.ASSIGNMENT,
            entity_id="gone",
            version=2,
            updated_at="2026-01-31T09:30:00.500Z",
        ),
    )


def without(item: Item, *names: str) -> Item:
    return {name: value for name, value in item.items() if name not in names}


async def seed(store: Store, team: str) -> None:
    await put(store, team, [*good(team), *bad(team).values()])
    await store.put(without(claim_item(team, "claim", "t"), "expires"), None)


async def found(store: Store, team: str, *options: str) -> tuple[int, list[dict[str, Any]]]:
    run = await planner(store, "doctor", "--team", team, "--json", *options)
    assert run.err == ""
    return run.code, [json.loads(line) for line in run.out.splitlines()]


async def test_each_fault_is_found_once_and_what_is_good_is_not(store: Store, team: str) -> None:
    await seed(store, team)
    before = await everything(store, team)
    code, findings = await found(store, team)
    assert code == 1
    assert {each["sk"]: (each["fault"], each["fixable"]) for each in findings} == FAULTS
    assert len(findings) == len(FAULTS)
    assert all(each["team"] == team and not each["fixed"] for each in findings)
    assert await everything(store, team) == before, "looking changes nothing"


async def test_what_is_safe_is_put_right_and_the_rest_stays_for_people(
    store: Store, team: str
) -> None:
    await seed(store, team)
    before = {item["sk"]["S"]: item for item in await everything(store, team)}
    code, findings = await found(store, team, "--fix")
    assert code == 1
    assert {each["sk"]: (each["fault"], each["fixed"]) for each in findings} == FAULTS
    after = {item["sk"]["S"]: item for item in await everything(store, team)}
    # The deletion that was finished leaves what each of them does. It does not say who began it.
    new = [after.pop(sk) for sk in after.keys() - before.keys()]
    assert sorted((each["deletedId"]["S"], each["version"]["N"]) for each in new) == [
        ("gone", "2"),
        ("of", "2"),
    ]
    assert not any("updatedBy" in each for each in new)
    assert before.keys() - after.keys() == {"RES#gone", "ASN#2024-01-10#of"}
    assert {sk: _difference(before[sk], item) for sk, item in after.items()} == {
        **{sk: {} for sk in after},
        "ASN#2024-01-10#long": {"longEnd": s("2024-04-09")},
        "ASN#2024-01-10#short": {"longEnd": None},
        "ASN#2024-01-10#wrong": {"longEnd": s("2024-04-09")},
        "!DEL#lasting": {"expires": n(1_769_851_800 + 30 * 24 * 3600)},
        "MEMBER#u2": {"GSI1PK": s("USER#u2")},
        "RES#untyped": {"EntityType": s("Resource")},
    }
    code, findings = await found(store, team, "--fix")
    left = {sk: each for sk, each in FAULTS.items() if not each[1]}
    assert (code, {each["sk"]: (each["fault"], each["fixed"]) for each in findings}) == (1, left)


def _difference(before: Item, after: Item) -> dict[str, object]:
    return {
        name: after.get(name)
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    }


@pytest.mark.engines("local")
async def test_when_all_was_put_right_the_exit_code_is_0(store: Store, team: str) -> None:
    await put(store, team, [*good(team), bad(team)["RES#untyped"]])
    assert [(await found(store, team, *options))[0] for options in ([], ["--fix"], [])] == [1, 0, 0]


@pytest.mark.engines("local")
async def test_people_are_told_in_words(store: Store, team: str) -> None:
    await put(store, team, [*good(team), bad(team)["RES#untyped"]])
    run = await planner(store, "doctor", "--team", team)
    assert run.out == (
        f"UNTYPED TEAM#{team} RES#untyped: lacks EntityType (can be fixed)\n"
        "7 items of 1 team: 1 UNTYPED; 0 fixed\n"
    )


@pytest.mark.engines("local")
async def test_items_of_a_team_that_is_not_there_are_a_fault(store: Store, team: str) -> None:
    await put(store, team, good(team)[1:])
    assert [each["fault"] for each in (await found(store, team))[1]] == ["NO_TEAM"]
    forgotten = f"{team}-gone"
    await put(store, forgotten, [tombstone(forgotten, "d")])
    assert await found(store, forgotten) == (0, []), "what was deleted is no item of a team"
    nobody = await planner(store, "doctor", "--team", f"{team}-none")
    assert (nobody.code, nobody.err) == (1, f"There is nothing of team {team}-none.\n")


@pytest.mark.engines("local")
async def test_what_others_finish_while_it_looks_is_no_fault(store: Store, team: str) -> None:
    """An owner that came after the owners were read, and an assignment that moved ahead."""
    await put(store, team, good(team))
    small = Store(store.client, store.transport, store.table, page_size=1)
    seen = 0
    async for _, findings in examine(small, team):
        assert findings == []
        seen += 1
        if seen == 4:  # All but the assignments were read.
            late = Resource(id="late", name="Late")
            await put(store, team, [late, assignment("2024-03-01", id="b", resource="late")])
        if seen == 6:  # And the first assignment.
            old = next(item for item in good(team) if item.get("id") == s("a1"))
            await store.delete({"pk": old["pk"], "sk": old["sk"]}, EXISTS)
            await put(store, team, [assignment("2024-04-01", 3, id="a1")])
    assert seen > 6


@pytest.mark.engines("local")
async def test_a_repair_gives_way_to_whoever_wrote_meanwhile(store: Store, team: str) -> None:
    await put(store, team, [*good(team), *bad(team).values()])
    pending = [each async for _, page in examine(store, team) for each in page if each.repair]
    change = Expression("SET #endDateExclusive = :end", {":end": s("2024-12-01")})
    for item in await everything(store, team):
        if item["sk"]["S"].startswith("ASN#"):
            await store.update({"pk": item["pk"], "sk": item["sk"]}, change, EXISTS)
        elif item["sk"] != s("META"):
            await store.delete({"pk": item["pk"], "sk": item["sk"]}, EXISTS)
    before = await everything(store, team)
    done = {each.sk: await fix(store, each) for each in pending}
    # The deletion is over, so that there is nothing left to finish.
    assert done == {**dict.fromkeys(done, False), "RES#gone": True}
    assert await everything(store, team) == before


@pytest.mark.engines("local")
async def test_a_repair_whose_answer_was_lost_is_done(store: Store, team: str) -> None:
    item = bad(team)["ASN#2024-01-10#short"]
    await put(store, team, [item])
    update = amiss(item)
    assert update is not None
    assert await repairs.apply(store, update)
    assert await repairs.apply(store, update), "sent again, it finds its own work"
    assert not await repairs.apply(store, _elsewhere(update.key, item))


def _elsewhere(key: Item, item: Item) -> Any:
    return amiss({**item, "sk": s("ASN#2024-01-10#nobody"), "id": s("nobody")})


def test_all_faults_are_tried_here() -> None:
    assert {fault for fault, _ in FAULTS.values()} | {"NO_TEAM"} == set(doctor.Fault)
