"""`Team.overlaps`: who is planned more than once, and when. A warning, which blocks nothing."""

import asyncio
from typing import Any

from data.entities import Resource
from data.store import Store
from tests.api.samples import assignment, ids, project, resource
from tests.api_client import Api, put

OVERLAPS = """query($from: Date, $to: Date) { team { overlaps(from: $from, to: $to) {
  resource { id name } startDate endDate endDateExclusive assignments { id project { name } }
} } }"""


async def overlaps(api: Api, **window: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.data(OVERLAPS, **window))["team"]["overlaps"]
    return found


async def test_overlaps_name_the_resource_the_days_and_the_assignments(
    api: Api, store: Store
) -> None:
    await put(
        store,
        api.team,
        [
            resource("r1"),
            resource("r2", "Bo"),
            project("p"),
            assignment("2024-01-01", 10, id="a", resource="r1"),
            assignment("2024-01-05", 3, id="b", resource="r1"),
            assignment("2024-01-01", 10, id="c", resource="r2"),
        ],
    )
    (found,) = await overlaps(api)
    assert ids([found["resource"]]) == ["r1"]
    assert ids(found["assignments"]) == ["a", "b"]
    assert found["resource"]["name"] == "Ada"
    assert found["assignments"][0]["project"] == {"name": "Bridge"}
    days = (found["startDate"], found["endDate"], found["endDateExclusive"])
    assert days == ("2024-01-05", "2024-01-07", "2024-01-08")
    assert await overlaps(api, **{"from": "2024-01-08"}) == []
    (clipped,) = await overlaps(api, **{"from": "2024-01-07", "to": "2024-01-31"})
    assert (clipped["startDate"], clipped["endDate"]) == ("2024-01-07", "2024-01-07")


async def test_what_counts_is_the_days_and_the_owners_that_there_are(
    api: Api, store: Store
) -> None:
    """A long assignment from before the window counts, those of nobody and of a deletion do not."""
    going = Resource(id="r3", name="Cy", version=1, deleting_at="2024-01-01T00:00:00Z")
    await put(
        store,
        api.team,
        [
            resource("r1"),
            going,
            project("p"),
            *(
                assignment(start, days, id=f"{owner}{number}", resource=owner)
                for owner in ("r1", "r3", "nobody")
                for number, (start, days) in enumerate([("2023-01-01", 500), ("2024-02-02", 1)])
            ),
        ],
    )
    (found,) = await overlaps(api, **{"from": "2024-02-01", "to": "2024-02-29"})
    assert ids(found["assignments"]) == ["r10", "r11"]
    assert found["startDate"] == found["endDate"] == "2024-02-02"


async def test_an_overlap_blocks_no_write(api: Api) -> None:
    owners = {"resourceId": await api.resource(), "projectId": await api.project()}
    days = {"startDate": "2024-01-10", "endDate": "2024-01-12"}
    both = await asyncio.gather(
        *(
            api.mutate("createAssignment", "assignment { id } errors { code }", **owners, **days)
            for _ in range(2)
        )
    )
    assert [each["errors"] for each in both] == [[], []]
    (found,) = await overlaps(api)
    created = {each["assignment"]["id"] for each in both}
    assert {each["id"] for each in found["assignments"]} == created


async def test_crossed_days_are_refused_before_anything_is_read(api: Api) -> None:
    answer = await api.post(OVERLAPS, {"from": "2024-02-01", "to": "2024-01-01"})
    assert [each["extensions"]["code"] for each in answer.json()["errors"]] == ["BAD_USER_INPUT"]
