"""The figures in docs/access-patterns.md about changes of one type are those that are measured."""

import uuid
from pathlib import Path

import pytest

from bench.changes import section
from data.store import open_store
from server.engines import DUMMY_CREDENTIALS

pytestmark = pytest.mark.engines("local")

PAGE = Path(__file__).parents[2] / "docs" / "access-patterns.md"


async def test_docs_have_what_a_filter_and_a_sparse_index_consume(engine: str) -> None:
    prefix = f"changes-{uuid.uuid4().hex}"
    async with open_store(prefix, endpoint_url=engine, credentials=DUMMY_CREDENTIALS) as store:
        text = await section(store.client, prefix)
        for table in (f"{prefix}-plain", f"{prefix}-sparse"):
            await store.client.update_table(TableName=table, DeletionProtectionEnabled=False)
            await store.client.delete_table(TableName=table)
    assert text in PAGE.read_text()
