"""What a mutation's payload selects is read after the write, and its failure is its own."""

from starlette.applications import Starlette

from data.store import Store
from tests.api_client import Api, everything
from tests.faults import Fault, faulty
from tests.store.test_bulk import gid, plan

CREATE = """mutation($input: CreateAssignmentInput!) { createAssignment(input: $input) {
  assignment { id startDate resource { name } } errors { code }
} }"""


async def test_a_read_that_fails_after_a_write_is_an_error_below_the_object(
    api: Api, app: Starlette, store: Store
) -> None:
    await plan(store, api.team, 0)
    day = "2024-03-01"
    owners = {"resourceId": gid("Resource", "r1"), "projectId": gid("Project", "p1")}
    given = {"startDate": day, "endDate": day, **owners}

    def after_the_write(index: int, operation: str) -> Fault | None:
        return Fault.THROTTLED if operation == "Query" else None

    with faulty(app.state.store, after_the_write):
        answer = await api.run(CREATE, input=given)
    payload = answer["data"]["createAssignment"]
    assert payload["errors"] == []
    assert payload["assignment"]["startDate"] == day
    assert payload["assignment"]["resource"] is None
    [error] = answer["errors"]
    assert error["path"] == ["createAssignment", "assignment", "resource"]
    assert error["extensions"]["code"] == "UNAVAILABLE"
    stored = [item for item in await everything(store, api.team) if "startDate" in item]
    assert len(stored) == 1
