"""Random sequences of mutations through GraphQL, beside a plain model: the whole timeline is the
same after each step, and so is every answer."""

import asyncio
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from datetime import date, timedelta
from typing import Any, cast

import httpx
import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from data.administration import create_table
from data.entities import EntityType
from data.opening import open_store
from resolvers.global_ids import to_global_id
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api_client import SECRET, Api
from tests.engines import HOME
from tests.store.model import ModelAssignment, Planner

FIRST = date(2024, 1, 1)
# Few ids, so that sequences meet the same objects, and ids that are gone, again and again.
IDS = st.sampled_from([f"01890000-0000-7000-8000-00000000000{n}" for n in range(4)])
ASSIGNMENT_IDS = st.sampled_from([f"01890000-0000-7000-8000-0000000001{n:02}" for n in range(12)])
NAMES = st.sampled_from(["Ada", "佐藤", "🏗️ site"])
DAYS = st.integers(0, 120).map(lambda n: FIRST + timedelta(days=n))
LENGTHS = st.sampled_from([0, 1, 5, 61, 62, 63, 200])
NOTES = st.sampled_from([None, "a", "b"])
VERSIONS = st.sampled_from([None, None, 1, 2, 3])
PATCHES = st.fixed_dictionaries(
    {},
    optional={"resource": IDS, "project": IDS, "start": DAYS, "end": DAYS, "note": NOTES},
)
TIMELINE = """{ team {
  resources { id name version }
  projects { id name version }
  assignments { id resourceId projectId startDate endDate note version }
} }"""


class Service:
    """The application on an engine, in an event loop of its own: a state machine is not async."""

    def __init__(self, engine: str) -> None:
        self.runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self.http: httpx.AsyncClient = self.runner.run(self._start(engine))

    async def _start(self, engine: str) -> httpx.AsyncClient:
        table = f"model-{uuid.uuid4().hex}"
        async with open_store(table, endpoint_url=engine, credentials=DUMMY_CREDENTIALS) as store:
            await create_table(store)
        settings = Settings(auth_secret=SECRET, table=table, endpoint_url=engine, home=HOME)
        app = create_app(settings, credentials=DUMMY_CREDENTIALS)
        await self._stack.enter_async_context(app.router.lifespan_context(app))
        transport = httpx.ASGITransport(app=app)
        client = httpx.AsyncClient(transport=transport, base_url="http://planner.test")
        return await self._stack.enter_async_context(client)

    def close(self) -> None:
        self.runner.run(self._stack.aclose())
        self.runner.close()


class Machine(RuleBasedStateMachine):
    """One team's life."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        self.service = service
        self.api = Api(service.http, f"team-{uuid.uuid4().hex}")
        self.model = Planner()

    def mutate(
        self, mutation: str, selection: str, /, **input: Any
    ) -> tuple[dict[str, Any], list[str]]:
        """The payload, and the codes of its errors."""
        given = json.loads(json.dumps(input, default=str))
        call = self.api.mutate(mutation, f"{selection} errors {{ code }}", **given)
        payload = self.service.runner.run(call)
        return payload, [error["code"] for error in payload["errors"]]

    @rule(id=IDS, name=NAMES)
    def create_resource(self, id: str, name: str) -> None:
        expected = self.model.create_owner(self.model.resources, id, name)
        assert self.mutate("createResource", "resource { id }", id=id, name=name)[1] == expected

    @rule(id=IDS, name=NAMES)
    def create_project(self, id: str, name: str) -> None:
        expected = self.model.create_owner(self.model.projects, id, name)
        fields = {"id": id, "name": name, "color": "#123456"}
        assert self.mutate("createProject", "project { id }", **fields)[1] == expected

    @rule(id=IDS, name=NAMES, version=VERSIONS)
    def rename_resource(self, id: str, name: str, version: int | None) -> None:
        expected = self.model.rename(self.model.resources, id, name, version)
        fields = {"id": to_id("Resource", id), "name": name, "expectedVersion": version}
        assert self.mutate("updateResource", "resource { id }", **fields)[1] == expected

    @rule(id=IDS, name=NAMES, version=VERSIONS)
    def rename_project(self, id: str, name: str, version: int | None) -> None:
        expected = self.model.rename(self.model.projects, id, name, version)
        fields = {"id": to_id("Project", id), "name": name, "expectedVersion": version}
        assert self.mutate("updateProject", "project { id }", **fields)[1] == expected

    @rule(id=ASSIGNMENT_IDS, resource=IDS, project=IDS, start=DAYS, length=LENGTHS, note=NOTES)
    def create_assignment(
        self, id: str, resource: str, project: str, start: date, length: int, note: str | None
    ) -> None:
        end = start + timedelta(days=length)
        expected = self.model.create_assignment(
            id, ModelAssignment(resource, project, start, end, note)
        )
        _, codes = self.mutate(
            "createAssignment",
            "assignment { id }",
            id=id,
            resourceId=to_id("Resource", resource),
            projectId=to_id("Project", project),
            startDate=start,
            endDate=end,
            note=note,
        )
        assert codes == expected

    @rule(id=ASSIGNMENT_IDS, changes=PATCHES, version=VERSIONS)
    def update_assignment(self, id: str, changes: dict[str, Any], version: int | None) -> None:
        expected = self.model.update_assignments([(id, changes, version)])
        fields = patch(id, changes, version)
        assert self.mutate("updateAssignment", "assignment { id }", **fields)[1] == expected

    @rule(changes=st.dictionaries(ASSIGNMENT_IDS, PATCHES, min_size=1, max_size=4))
    def update_assignments(self, changes: dict[str, dict[str, Any]]) -> None:
        expected = self.model.update_assignments([(id, c, None) for id, c in changes.items()])
        patches = [patch(id, each, None) for id, each in changes.items()]
        _, codes = self.mutate("updateAssignments", "assignments { id }", patches=patches)
        assert codes == expected

    @rule(id=IDS, days=st.integers(-40, 40), first=DAYS)
    def shift_project(self, id: str, days: int, first: date) -> None:
        expected, shifted = self.model.shift(id, days, first)
        fields = {"id": to_id("Project", id), "days": days, "from": first}
        payload, codes = self.mutate("shiftProject", "shiftedAssignmentIds shiftedCount", **fields)
        assert codes == expected
        assert set(payload["shiftedAssignmentIds"]) == {to_id("Assignment", e) for e in shifted}
        assert payload["shiftedCount"] == len(shifted)

    @rule(id=ASSIGNMENT_IDS)
    def delete_assignment(self, id: str) -> None:
        self.model.assignments.pop(id, None)
        fields = {"id": to_id("Assignment", id)}
        assert self.mutate("deleteAssignment", "deletedAssignmentId", **fields)[1] == []

    @rule(id=IDS)
    def delete_resource(self, id: str) -> None:
        self._delete_owner("deleteResource", "Resource", self.model.resources, id)

    @rule(id=IDS)
    def delete_project(self, id: str) -> None:
        self._delete_owner("deleteProject", "Project", self.model.projects, id)

    def _delete_owner(self, mutation: str, type: str, owners: dict[str, Any], id: str) -> None:
        expected, gone = self.model.delete_owner(owners, id)
        payload, codes = self.mutate(mutation, "deletedAssignmentIds", id=to_id(type, id))
        assert codes == expected
        assert set(payload["deletedAssignmentIds"]) == {to_id("Assignment", e) for e in gone}

    @invariant()
    def the_timeline_is_the_models(self) -> None:
        team = self.service.runner.run(self.api.data(TIMELINE))["team"]
        for field, type, owners in (
            ("resources", "Resource", self.model.resources),
            ("projects", "Project", self.model.projects),
        ):
            assert team[field] == [
                {"id": to_id(type, id), "name": owner.name, "version": owner.version}
                for id, owner in sorted(owners.items())
            ]
        ordered = sorted(self.model.assignments.items(), key=lambda each: (each[1].start, each[0]))
        assert team["assignments"] == [
            {
                "id": to_id("Assignment", id),
                "resourceId": to_id("Resource", each.resource),
                "projectId": to_id("Project", each.project),
                "startDate": str(each.start),
                "endDate": str(each.end),
                "note": each.note,
                "version": each.version,
            }
            for id, each in ordered
        ]


def to_id(type: str, id: str) -> str:
    return to_global_id(EntityType(type), id)


def patch(id: str, changes: dict[str, Any], version: int | None) -> dict[str, Any]:
    """The input of an update: only what changes."""
    named: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "resource": ("resourceId", lambda value: to_id("Resource", value)),
        "project": ("projectId", lambda value: to_id("Project", value)),
        "start": ("startDate", str),
        "end": ("endDate", str),
        "note": ("note", lambda value: value),
    }
    fields: dict[str, Any] = {"id": to_id("Assignment", id), "expectedVersion": version}
    for name, value in changes.items():
        field, convert = named[name]
        fields[field] = convert(value)
    return fields


@pytest.fixture(scope="module")
def service(engine: str) -> Iterator[Service]:
    running = Service(engine)
    yield running
    running.close()


@pytest.mark.deep
def test_every_sequence_of_mutations_leaves_what_the_model_has(service: Service) -> None:
    profile = hypothesis_settings.get_current_profile_name()
    examples, steps = (300, 30) if profile == "deep" else (8, 25)
    run_state_machine_as_test(
        cast("type[Machine]", lambda: Machine(service)),
        settings=hypothesis_settings(
            max_examples=examples, stateful_step_count=steps, deadline=None
        ),
    )
