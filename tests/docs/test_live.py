"""The page about live updates: its examples listen, and its tables are those of the code."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from data.store import Store
from server.graphql_ws import INIT_SECONDS
from server.live_connections import MAX_WAITING
from server.live_ends import CloseCode, End
from server.settings import Settings
from tests.api_client import Api, token
from tests.docs.documents import ROOT, code_block, rows, text
from tests.live import live
from tests.programs import program, until_it_says
from tests.subscriptions.sockets import Server

PAGE: Path = ROOT / "docs" / "live.md"

pytestmark = pytest.mark.engines("local")


@pytest.fixture(scope="module")
async def server(settings: Settings, store: Store) -> Any:
    with live(settings) as url:
        yield Server(url)


async def test_the_python_of_the_page_hears_what_happens_and_continues(
    server: Server, team: str
) -> None:
    names: dict[str, Any] = {}
    exec(code_block(PAGE, "Live updates in Python"), names)  # noqa: S102 - it is ours
    query = code_block(PAGE, "What happens in the team")
    url = server.url.replace("http", "ws") + "/graphql"
    async with server.http(team) as client:
        api = Api(client, team)
        heard = names["changes"](url, token(team), query)
        first = await anext(heard)
        assert first["changes"] == []
        await api.resource("Ada")
        second = await anext(heard)
        assert [change["kind"] for change in second["changes"]] == ["CREATED"]
        await heard.aclose()
        await api.resource("Grace")
        continued = names["changes"](url, token(team), query, second["cursor"])
        missed: list[Any] = []
        while not missed:
            missed += (await anext(continued))["changes"]
        assert [change["entityType"] for change in missed] == ["RESOURCE"]
        assert missed[0]["entityId"] != second["changes"][0]["entityId"]
        await continued.aclose()


def test_curl_hears_the_event_of_the_page(server: Server, team: str, tmp_path: Path) -> None:
    command = code_block(PAGE, "Live updates with curl")
    assert "http://127.0.0.1:8000" in command
    command = command.strip().replace("http://127.0.0.1:8000", server.url) + " >&2"
    with program(["sh", "-c", command], {"TOKEN": token(team)}, folder=tmp_path) as process:
        said = until_it_says(process, "data: ")
    shown = re.search(r"^event: next\ndata: (.*)$", text(PAGE), re.M)
    assert shown
    name, data = said.splitlines()
    assert name == "event: next"
    expected = json.loads(shown[1])
    answer = json.loads(data.removeprefix("data: "))
    expected["data"]["teamChanged"]["cursor"] = answer["data"]["teamChanged"]["cursor"]
    assert answer == expected


def test_every_code_of_a_close_is_listed() -> None:
    listed = {int(code) for code in re.findall(r"^\| (\d{4}) \|", text(PAGE), re.M)}
    # That of a message that is too large is given by the library.
    assert listed == {*CloseCode} | {1009}


def test_every_end_of_a_subscription_is_listed() -> None:
    operations = ROOT / "docs" / "operations.md"
    [section] = re.findall(r"^### Subscriptions\n(.*?)^## ", text(operations), re.M | re.S)
    assert re.findall(r"^\| `(\w+)` \|", section, re.M) == list(End)


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    page = " ".join(text(PAGE).split())
    assert f"within {INIT_SECONDS:g} seconds" in page
    assert f"or {MAX_WAITING} others" in page
    named = set(re.findall(r"PLANNER_\w+", page))
    assert named <= rows(ROOT / "docs" / "settings.md").keys()
