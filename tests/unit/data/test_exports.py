"""An export whose store fails: it ends with that failure, and what was committed stays."""

import asyncio
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from data.archive import Archive
from data.exports import export_teams
from tests.unit.data.scripted_client import ITEM, Client, failure, store_of

PAGE = {"Items": [ITEM], "Count": 1}
NOTHING: dict[str, object] = {"Items": [], "Count": 0}


@pytest.mark.parametrize("at_once", [1, 3])
async def test_a_read_that_fails_ends_the_export_which_goes_on_from_there(
    tmp_path: Path, at_once: int
) -> None:
    # A team has three partitions.
    client = Client(PAGE, NOTHING, NOTHING, failure("AccessDeniedException"))
    items: list[int] = []
    teams: list[int] = []
    with Archive(tmp_path, "teams") as archive:
        await export_teams(
            store_of(client), archive, ["a"], on_items=items.append, on_team=teams.append
        )
        with pytest.raises(ClientError, match="AccessDenied"):
            async with asyncio.timeout(20):
                await export_teams(
                    store_of(client),
                    archive,
                    ["a", "b", "c"],
                    at_once=at_once,
                    on_items=items.append,
                    on_team=teams.append,
                )
    # None was done at first, then one; of the second run, one was done before.
    assert (items, teams) == ([1, 0, 0], [0, 1, 1])
    with Archive(tmp_path, "teams") as again:
        assert [team for team in "abc" if again.is_done(team)] == ["a"]
        assert again.items.total() == 1
