"""The setting: with and without it a server sends the same bytes, asks DynamoDB for the same, and
logs the same."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from structlog.testing import capture_logs

import schema.execution
from data.store import Store
from schema.fast_path import FastExecutor
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api.samples import TIMELINE, gid
from tests.api_client import Api, Capture, put
from tests.fast_path.team import rows

pytestmark = pytest.mark.engines("local")

RESOURCE, PROJECT, ASSIGNMENT = (f"0190b2c4-0000-7000-8000-00000000000{n}" for n in range(3))
ERRORS = "errors { code message field }"
QUERIES = [
    TIMELINE,
    "{ viewer { id role teams { id name role isCurrent } } team { members { userId role } } }",
    f"""{{ a: node(id: "{gid("Assignment", "a1")}") {{ __typename id ...on Assignment {{ resource {{
      assignments {{ project {{ name links {{ url }} }} }} }} }} }} }}""",
    f'{{ nodes(ids: ["{gid("Project", "p2")}", "x", "{gid("Resource", "r9")}"]) {{ id }} }}',
    '{ team { assignments(from: "2024-02-02", to: "2024-02-01") { id } } }',
    "{ __schema { types { name fields { name } } } team { name } }",
    "{ team { nothing } }",
]
MUTATIONS = [
    f"""mutation Create {{
      createResource(input: {{id: "{RESOURCE}", name: "Ada"}}) {{ resource {{ id name }} {ERRORS} }}
      createProject(input: {{id: "{PROJECT}", name: "Bridge", color: "#336699", tags: ["a"]}}) {{
        project {{ id tags links {{ url }} createdAt }} {ERRORS} }}
      createAssignment(input: {{id: "{ASSIGNMENT}", startDate: "2024-01-01", endDate: "2024-01-02",
        resourceId: "{gid("Resource", RESOURCE)}", projectId: "{gid("Project", PROJECT)}"}}) {{
        assignment {{ id endDate resource {{ name assignments {{ id }} }} }} {ERRORS} }}
    }}""",
    f"""mutation Refuse {{
      a: createResource(input: {{name: " "}}) {{ resource {{ id }} {ERRORS} }}
      b: updateProject(input: {{id: "{gid("Project", PROJECT)}", name: "x", expectedVersion: 9}}) {{
        project {{ id }} {ERRORS} }}
    }}""",
    f"""mutation Delete {{ deleteProject(input: {{id: "{gid("Project", PROJECT)}"}}) {{
      deletedProjectId deletedAssignmentIds {ERRORS} }} }}""",
]


@dataclass(frozen=True, slots=True)
class Server:
    """An application, and a client of its signed in to a team that is its own."""

    app: Starlette
    api: Api

    async def seen(self, query: str) -> tuple[int, str, list[Any], list[Any]]:
        """The answer and what can be seen of how it came about, without times, and with one name
        for the team."""
        capture = Capture(self.app.state.store)
        try:
            with capture_logs() as log:
                response = await self.api.post(query)
        finally:
            capture.stop()
        lines = [each for each in log if each["event"] in ("operation", "operation failed")]
        for line in lines:
            for name in ("duration_ms", "team", "correlation_id"):
                line.pop(name, None)
        stamps = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "now", response.text)
        return response.status_code, self._one(stamps), capture.operations, lines

    def _one(self, text: str) -> str:
        ids = (self.api.team, gid("Team", self.api.team), gid("Membership", f"{self.api.team}#x"))
        for id in ids:
            text = text.replace(id.rstrip("x"), "team")
        return text


@pytest.fixture
async def servers(settings: Settings, team: str, store: Store) -> AsyncIterator[list[Server]]:
    """One with the fast path and one without."""
    async with AsyncExitStack() as stack:
        servers = []
        for fast_path in (True, False):
            own = settings.model_copy(update={"fast_path": fast_path})
            app = create_app(own, credentials=DUMMY_CREDENTIALS)
            await stack.enter_async_context(app.router.lifespan_context(app))
            client = await stack.enter_async_context(
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(app=app), base_url="http://planner.test"
                )
            )
            servers.append(Server(app, Api(client, f"{team}-{str(fast_path)[0]}")))
            await put(store, servers[-1].api.team, rows(servers[-1].api.team))
        yield servers


async def test_a_server_answers_the_same_with_the_fast_path_on_and_off(
    servers: list[Server],
) -> None:
    on, off = servers
    for query in QUERIES + MUTATIONS + QUERIES:
        assert await on.seen(query) == await off.seen(query), query


async def test_the_setting_decides_what_carries_an_operation_out(
    servers: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(FastExecutor):
        def execute_field(self, *_: Any) -> Any:
            raise RuntimeError("the fast path")

    monkeypatch.setattr(schema.execution, "FastExecutor", Broken)
    on, off = servers
    assert (await on.api.post("{ team { name } }")).status_code == 500
    assert "errors" not in await off.api.run("{ team { name } }")
