"""The operations of `examples/operations/` are valid, and the server carries each of them out."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from graphql import parse, validate

from tests.api_client import token
from tests.clients.examples import OPERATIONS, documents, schema

MARCH = {"from": "2026-03-01", "to": "2026-03-31"}


@pytest.mark.parametrize("name", documents())
def test_operation_is_valid(name: str) -> None:
    assert validate(schema(), parse(documents()[name])) == []


@pytest.mark.parametrize("file", OPERATIONS, ids=lambda path: path.stem)
def test_every_operation_has_a_comment_of_its_own(file: Path) -> None:
    lines = file.read_text().splitlines()
    starts = [at for at, line in enumerate(lines) if re.match("query|mutation|subscription", line)]
    assert [lines[at] for at in starts if not lines[at - 1].startswith("# ")] == []


def test_every_mutation_of_the_schema_has_its_operation() -> None:
    mutation = schema().mutation_type
    assert mutation is not None
    texts = " ".join(documents().values())
    assert [name for name in mutation.fields if f"{name}(" not in texts] == []


class Caller:
    """Sends the example operations, and remembers which."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url
        self.called: set[str] = set()

    async def __call__(self, name: str, **variables: Any) -> dict[str, Any]:
        """The data of an answer without errors, of GraphQL or of a payload."""
        answer = (await self._http.post(self._url, json=self._body(name, variables))).json()
        assert "errors" not in answer, answer["errors"]
        data: dict[str, Any] = answer["data"]
        for payload in data.values():
            assert not isinstance(payload, dict) or not payload.get("errors")
        return data

    async def first(self, name: str, **variables: Any) -> dict[str, Any]:
        """The data of the first answer to a subscription, without errors."""
        headers = {"Accept": "text/event-stream"}
        body = self._body(name, variables)
        async with self._http.stream("POST", self._url, json=body, headers=headers) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    answer = json.loads(line.removeprefix("data: "))
                    break
        assert "errors" not in answer, answer["errors"]
        data: dict[str, Any] = answer["data"]
        return data

    def _body(self, name: str, variables: dict[str, Any]) -> dict[str, Any]:
        self.called.add(name)
        return {"query": documents()[name], "variables": variables}


@pytest.fixture
async def call(url: str) -> AsyncIterator[Caller]:
    headers = {"Authorization": f"Bearer {token('team-of-operations')}"}
    async with httpx.AsyncClient(headers=headers) as http:
        yield Caller(http, url)


async def test_the_server_carries_out_every_operation(call: Caller) -> None:
    """One team's small plan, from its first person to its last."""

    async def create(kind: str, **input: Any) -> str:
        name = f"Create{kind}"
        payload = (await call(name, input=input))[f"create{kind}"]
        return str(payload[kind.lower()]["id"])

    cursor = (await call.first("TeamChanged"))["teamChanged"]["cursor"]
    ada, grace = [await create("Resource", name=name) for name in ("Ada", "Grace")]
    bridge = await create("Project", name="Bridge", color="#336699", tags=["steel"])
    days = {"startDate": "2026-03-02", "endDate": "2026-03-06"}
    one, two = [
        await create("Assignment", resourceId=ada, projectId=bridge, **days) for _ in range(2)
    ]

    timeline = (await call("Timeline", **MARCH))["team"]
    assert [each["id"] for each in timeline["resources"]] == [ada, grace]
    assert [each["tags"] for each in timeline["projects"]] == [["steel"]]
    assert (await call("Assignments", **MARCH))["team"]["assignments"] == timeline["assignments"]
    [overlap] = (await call("Overlaps", **MARCH))["team"]["overlaps"]
    assert {each["id"] for each in overlap["assignments"]} == {one, two}

    moved = await call("UpdateAssignment", input={"id": two, "resourceId": grace})
    assert moved["updateAssignment"]["assignment"]["resource"]["name"] == "Grace"
    patches = [{"id": id, "startDate": "2026-03-03"} for id in (one, two)]
    both = await call("UpdateAssignments", input={"patches": patches})
    starts = [each["startDate"] for each in both["updateAssignments"]["assignments"]]
    assert starts == ["2026-03-03"] * 2
    shifted = await call("ShiftProject", input={"id": bridge, "days": 1})
    assert {*shifted["shiftProject"]["shiftedAssignmentIds"]} == {one, two}
    renamed = await call("UpdateResource", input={"id": ada, "name": "Ada L."})
    assert renamed["updateResource"]["resource"]["name"] == "Ada L."
    bare = await call("UpdateProject", input={"id": bridge, "tags": None})
    assert bare["updateProject"]["project"]["tags"] == []

    assert (await call("Node", id=one))["node"]["startDate"] == "2026-03-04"
    nodes = (await call("Nodes", ids=[ada, bridge]))["nodes"]
    assert [each["name"] for each in nodes] == ["Ada L.", "Bridge"]
    plan = (await call("ResourcePlan", id=ada, **MARCH))["node"]["assignments"]
    assert [each["id"] for each in plan] == [one]
    plan = (await call("ProjectPlan", id=bridge))["node"]["assignments"]
    assert {each["id"] for each in plan} == {one, two}
    assert len((await call("Resources"))["team"]["resources"]) == 2
    assert len((await call("Projects"))["team"]["projects"]) == 1
    assert (await call("Members"))["team"]["members"] == []
    [own] = (await call("Viewer"))["viewer"]["teams"]
    assert own["isCurrent"]

    made = (await call("CreateCalendarFeed", input={"subjectId": ada}))["createCalendarFeed"]
    feed = made["calendarFeed"]
    assert (await call("CalendarFeeds"))["viewer"]["calendarFeeds"] == [feed]
    revoked = await call("DeleteCalendarFeed", input={"id": feed["id"]})
    assert revoked["deleteCalendarFeed"]["deletedCalendarFeedId"] == feed["id"]

    assert await call("DeleteAssignment", input={"id": two}) == {
        "deleteAssignment": {"deletedAssignmentId": two, "errors": []}
    }
    gone = await call("DeleteResource", input={"id": ada})
    assert gone["deleteResource"]["deletedAssignmentIds"] == [one]
    gone = await call("DeleteProject", input={"id": bridge})
    assert gone["deleteProject"]["deletedProjectId"] == bridge

    recent = (await call("RecentChanges", first=2, entityType="PROJECT"))["team"]["recentChanges"]
    [change] = [edge["node"] for edge in recent["edges"]]
    assert (change["kind"], change["entityId"], change["entity"]) == ("DELETED", bridge, None)
    assert not recent["pageInfo"]["hasNextPage"]
    missed = (await call.first("TeamChanged", since=cursor))["teamChanged"]["changes"]
    assert (missed[0]["kind"], missed[0]["entity"]["name"]) == ("CREATED", "Ada")

    assert call.called == documents().keys()
