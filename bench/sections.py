"""What the results consist of, in order."""

import asyncio
from typing import Final

from bench import capacity, comparison, load
from bench.run import Run, Section
from data.administration import create_table
from data.opening import open_store
from server.engines import DUMMY_CREDENTIALS

__all__ = ["SECTIONS"]


def _capacity(run: Run) -> str:
    async def write() -> str:
        # A table of its own, so that what is measured elsewhere stays as it was.
        url = f"http://127.0.0.1:{run.database}"
        async with open_store("capacity", endpoint_url=url, credentials=DUMMY_CREDENTIALS) as store:
            await create_table(store)
            return await capacity.section(store, run.progress)

    text = asyncio.run(write())
    run.done()
    return f"## Capacity\n\n{text}"


SECTIONS: Final = {
    each.name: each
    for each in (comparison.SECTION, load.SECTION, Section("capacity", lambda run: 1, _capacity))
}
