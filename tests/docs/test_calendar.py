"""The page about calendars: its operations are carried out, and its calendar is the one written."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from data.days import end_exclusive
from data.entities import Assignment, Project
from data.store import Store
from resolvers.calendar import CALENDAR_PATH
from server.app import create_app
from server.settings import Settings
from tests.api.samples import resource
from tests.api_client import Api, put
from tests.docs.documents import ROOT, code_block, text

PAGE: Path = ROOT / "docs" / "calendar.md"

pytestmark = pytest.mark.engines("local")


@pytest.fixture(scope="module")
def settings(settings: Settings) -> Settings:
    """The days of the page are in the calendar whenever it is read."""
    return settings.model_copy(update={"calendar_days": 36_525})


async def run(api: Api, comment: str, **variables: Any) -> Any:
    """What the page's operation answers, below its one field."""
    [answer] = (await api.data(code_block(PAGE, comment), **variables)).values()
    return answer


async def test_the_page_is_true_from_the_address_to_its_end(api: Api, store: Store) -> None:
    moment = "2026-01-05T09:30:00.000Z"
    booked = Assignment(
        id="0190c9f0-7c1e-7000-8000-000000000001",
        resource_id="r",
        project_id="p",
        start_date=date(2026, 3, 2),
        end_date_exclusive=end_exclusive(date(2026, 3, 4)),
        note="By train, first class",
        version=1,
        updated_at=moment,
    )
    job = Project(id="p", name="Bridge", color="#336699", tags=("steel",))
    await put(store, api.team, [resource("r"), job, booked])
    listed = await api.data("{ team { resources { id } } }")
    subject = listed["team"]["resources"][0]["id"]
    made = await run(api, "Make an address", subject=subject)
    assert made["errors"] == []
    response = await api.http.get(made["path"])
    [shown] = re.findall(r"^```ics\n(.*?)^```$", text(PAGE), re.M | re.S)
    assert response.text.replace("\r\n", "\n") == shown
    feeds = (await run(api, "List the addresses"))["calendarFeeds"]
    assert [(each["id"], each["subjectId"]) for each in feeds] == [
        (made["calendarFeed"]["id"], subject)
    ]
    revoked = await run(api, "Revoke an address", id=feeds[0]["id"])
    assert revoked == {"deletedCalendarFeedId": feeds[0]["id"], "errors": []}
    assert (await api.http.get(made["path"])).status_code == 404


def test_the_page_names_every_setting_of_calendars() -> None:
    names = {f"PLANNER_{each.upper()}" for each in Settings.model_fields if "calendar" in each}
    assert len(names) == 4
    assert names <= set(re.findall(r"PLANNER_\w+", text(PAGE)))


def test_the_address_is_that_of_the_server() -> None:
    served = [
        getattr(route, "path", "") for route in create_app(Settings(auth_secret="x" * 32)).routes
    ]
    assert CALENDAR_PATH in served
    assert CALENDAR_PATH.replace("{token}", "4ZkXq…wE") in text(PAGE)
