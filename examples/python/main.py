"""Adds somebody, plans and moves them, reads the plan and tidies up: days are `datetime.date`."""

import asyncio
import os
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Protocol, TypeVar

from planner_client import (
    CreateAssignmentInput,
    CreateProjectInput,
    CreateResourceInput,
    DeleteInput,
    Planner,
    RefusalFields,
    UpdateAssignmentInput,
)

URL = os.environ.get("PLANNER_URL", "http://127.0.0.1:8000/graphql")
TOKEN = os.environ.get("PLANNER_TOKEN", "")


class Refused(Exception):
    """A write was refused, and nothing was written."""


class Payload(Protocol):
    @property
    def errors(self) -> Sequence[RefusalFields]: ...


P = TypeVar("P", bound=Payload)
T = TypeVar("T")


def done(payload: P | None) -> P:
    """The payload of a write. Raises Refused if it was."""
    payload = there(payload)
    for error in payload.errors:
        raise Refused(f"{error.code}: {error.message}")
    return payload


def there(value: T | None) -> T:
    """What is null only where something went wrong."""
    if value is None:
        raise LookupError("the answer lacks what was asked for")
    return value


async def tour(planner: Planner) -> None:
    added = await planner.create_resource(CreateResourceInput(name="Ada Lovelace"))
    resource = there(done(added.create_resource).resource)
    begun = await planner.create_project(CreateProjectInput(name="Engine", color="#9467bd"))
    project = there(done(begun.create_project).project)

    planned = await planner.create_assignment(
        CreateAssignmentInput(
            resource_id=resource.id,
            project_id=project.id,
            start_date=date(2026, 3, 2),
            end_date=date(2026, 3, 6),
            note="By hand",
        )
    )
    assignment = there(done(planned.create_assignment).assignment)
    a_week = timedelta(days=7)
    # What is not given stays as it is, here the note; `note=None` would clear it.
    moved = await planner.update_assignment(
        UpdateAssignmentInput(
            id=assignment.id,
            start_date=assignment.start_date + a_week,
            end_date=assignment.end_date + a_week,
            expected_version=assignment.version,
        )
    )
    done(moved.update_assignment)

    # A window of days, both inclusive.
    plan = (await planner.timeline(date(2026, 3, 1), date(2026, 3, 31))).team
    for each in plan.assignments:
        days = (each.end_date_exclusive - each.start_date).days
        print(f"{there(each.resource).name}: {each.start_date}, {days} days, {each.note}")

    gone = done((await planner.delete_resource(DeleteInput(id=resource.id))).delete_resource)
    print(f"deleted, with {len(gone.deleted_assignment_ids)} assignment")
    done((await planner.delete_project(DeleteInput(id=project.id))).delete_project)


async def main() -> None:
    async with Planner(URL, headers={"Authorization": f"Bearer {TOKEN}"}) as planner:
        await tour(planner)


if __name__ == "__main__":
    asyncio.run(main())
