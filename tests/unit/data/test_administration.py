"""The table itself: it is made once, and put right each time."""

from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

import data.administration
from data.administration import create_table, describe_table
from data.errors import Unavailable
from tests.unit.data.scripted_client import Client, failure, store_of


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What would have been waited, in seconds: nothing is."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(data.administration, "asyncio", SimpleNamespace(sleep=sleep))
    return waited


class TableClient(Client):
    """A client that is asked to create a table; `backups` answers the requests for them."""

    def __init__(self, created: object, *, ttl: str = "DISABLED", backups: Client) -> None:
        super().__init__(created)
        self._ttl = ttl
        self._backups = backups

    def get_waiter(self, name: str) -> "TableClient":
        assert name == "table_exists"
        return self

    async def wait(self, **request: Any) -> None:
        self.requests.append(("wait", request))

    async def describe_time_to_live(self, **request: Any) -> object:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": self._ttl}}

    async def update_time_to_live(self, **request: Any) -> None:
        self.requests.append(("update_time_to_live", request))

    async def update_continuous_backups(self, **request: Any) -> object:
        return await self._backups._answer("update_continuous_backups", request)


THERE = failure("ResourceInUseException")
NOT_YET = failure("ContinuousBackupsUnavailableException")


@pytest.mark.parametrize(("created", "is_new"), [({}, True), (THERE, False)])
@pytest.mark.parametrize("ttl", ["DISABLED", "DISABLING", "ENABLED", "ENABLING"])
async def test_a_table_is_made_unless_it_is_there_and_then_put_right(
    created: object, is_new: bool, ttl: str
) -> None:
    backups = Client({})
    client = TableClient(created, ttl=ttl, backups=backups)
    assert await create_table(store_of(client)) is is_new
    on = ["update_time_to_live"] if ttl.startswith("DISABL") else []
    assert [operation for operation, _ in client.requests] == ["create_table", "wait", *on]
    assert len(backups.requests) == 1


@pytest.mark.parametrize(
    ("script", "requests"),
    [
        ([{}], 1),
        ([NOT_YET, NOT_YET, {}], 3),
        # What an emulator does not know is left out.
        ([failure("UnknownOperationException")], 1),
    ],
)
async def test_backups_are_asked_for_until_they_can_be_had(
    script: list[object], requests: int, pauses: list[float]
) -> None:
    backups = Client(*script)
    assert await create_table(store_of(TableClient({}, backups=backups)))
    assert len(backups.requests) == requests
    assert len(pauses) == requests - 1


async def test_backups_that_never_can_be_had_are_no_success(pauses: list[float]) -> None:
    with pytest.raises(Unavailable, match="point-in-time recovery"):
        await create_table(store_of(TableClient({}, backups=Client(NOT_YET))))
    assert 30 <= sum(pauses) <= 120


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException"])
async def test_another_failure_to_make_a_table_is_not_hidden(code: str) -> None:
    for created, backups in ((failure(code), {}), ({}, failure(code))):
        with pytest.raises(ClientError):
            await create_table(store_of(TableClient(created, backups=Client(backups))))


@pytest.mark.parametrize(
    ("answer", "description"),
    [
        ({"Table": {"TableName": "planner"}}, {"TableName": "planner"}),
        (failure("ResourceNotFoundException"), None),
    ],
)
async def test_a_table_is_described_or_there_is_none(
    answer: object, description: dict[str, str] | None
) -> None:
    assert await describe_table(store_of(Client(answer))) == description
