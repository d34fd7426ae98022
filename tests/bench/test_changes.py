"""The figures in docs/access-patterns.md about changes of one type are those that are measured."""

from pathlib import Path

from bench.changes import section
from data.opening import open_store
from server.engines import DUMMY_CREDENTIALS
from tests.engines import running

PAGE = Path(__file__).parents[2] / "docs" / "access-patterns.md"


async def test_docs_have_what_a_filter_and_a_sparse_index_consume() -> None:
    with running("local") as url:
        async with open_store("c", endpoint_url=url, credentials=DUMMY_CREDENTIALS) as store:
            text = await section(store.client, "changes")
    assert text in PAGE.read_text()
