"""The table itself: making it, putting it right, and what DynamoDB says of it.

The requests of an operator, sent by boto's client. What is in a table is `data.store`'s.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from data.errors import Unavailable
from data.failures import STORE_ERRORS, code_of
from data.store import Store
from data.table import definition

__all__ = ["create_table", "describe_table"]

_BACKUP_ATTEMPTS: Final = 20
_BACKUP_PAUSE: Final = 3.0


async def create_table(store: Store) -> bool:
    """Creates the table as `data.table` defines it, unless it is there, and waits until it is
    active; sees to it that TTL and point-in-time recovery are on. Returns whether it was created.
    What an emulator does not know (backups) is left out."""
    with _suppressed("ResourceInUseException") as there:
        await store.client.create_table(**definition(store.table))
    await store.client.get_waiter("table_exists").wait(
        TableName=store.table, WaiterConfig={"Delay": 1}
    )
    await _expire_items(store)
    await _keep_backups(store)
    return not there


async def describe_table(store: Store) -> Mapping[str, Any] | None:
    """DynamoDB's description of the table, or None when there is none."""
    answer: Mapping[str, Any] = {}
    with _suppressed("ResourceNotFoundException"):
        answer = await store.client.describe_table(TableName=store.table)
    return answer.get("Table")


async def _expire_items(store: Store) -> None:
    answer = await store.client.describe_time_to_live(TableName=store.table)
    if answer["TimeToLiveDescription"].get("TimeToLiveStatus") in ("ENABLED", "ENABLING"):
        return
    await store.client.update_time_to_live(
        TableName=store.table,
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )


async def _keep_backups(store: Store) -> None:
    for _ in range(_BACKUP_ATTEMPTS):
        # AWS refuses for some seconds after the table became active.
        with _suppressed(
            "ContinuousBackupsUnavailableException", "UnknownOperationException"
        ) as refused:
            await store.client.update_continuous_backups(
                TableName=store.table,
                PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
            )
        if refused != ["ContinuousBackupsUnavailableException"]:
            return
        await asyncio.sleep(_BACKUP_PAUSE)
    raise Unavailable("point-in-time recovery can't be turned on yet; create the table again")


@contextmanager
def _suppressed(*codes: str) -> Iterator[list[str]]:
    """Swallows an error answer of DynamoDB with one of these codes, and says so in the list."""
    seen: list[str] = []
    try:
        yield seen
    except STORE_ERRORS as error:
        code = code_of(error)
        if code not in codes:
            raise
        seen.append(code)
