"""The timeline page as a user handles it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from playwright.async_api import FloatRect, Locator, Page, expect

from tests.api_client import Api

__all__ = ["FAILED", "GRAPHQL", "Board", "stored"]

GRAPHQL: Final = re.compile("/graphql$")
FAILED: Final = r"error: Failed to load resource.* \(http://127\.0\.0\.1:\d+/graphql\)"
"""What Chromium itself writes on the console, for each answer of 400 and more and for none."""
MONTH: Final = 35
"""How many days the page shows at first."""
STILL: Final = 4
"""In how many looks, a tenth of a second apart, a bar that is at rest is in the same place."""
MOST_LOOKS: Final = 200


class Board:
    """A page that shows a plan."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def bars(self) -> Locator:
        return self.page.locator(".vis-item.bar")

    def bar(self, id: str) -> Locator:
        """The bar of the assignment with this id."""
        return self.page.locator(f'.vis-item.bar[data-id="{id}"]')

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    async def shows(self, id: str, *parts: str) -> None:
        """Waits until the bar's label has these parts, in this order, whatever blanks are there."""
        pattern = ".*".join(re.escape(part).replace(r"\ ", r"\s") for part in parts)
        await expect(self.bar(id)).to_have_attribute("aria-label", re.compile(pattern))

    async def drag(self, id: str, *, days: float = 0, rows: int = 0, edge: str = "middle") -> None:
        """Drags the bar, or one of its ends, with the mouse."""
        async with self.dragging(id, days=days, rows=rows, edge=edge):
            pass

    @asynccontextmanager
    async def dragging(
        self, id: str, *, days: float = 0, rows: int = 0, edge: str = "middle"
    ) -> AsyncIterator[None]:
        """Drags it half the way, and the other half at the end."""
        box = await self.at_rest(id)
        center = await self.page.locator(".vis-panel.vis-center").bounding_box()
        assert center is not None
        x = box["x"] + {"left": 2.0, "middle": box["width"] / 2, "right": box["width"] - 2}[edge]
        y = box["y"] + box["height"] / 2
        across, down = days * center["width"] / MONTH, rows * await self._row_height()
        await self.page.mouse.move(x, y)
        await self.page.mouse.down()
        # The chart takes what is shorter than five pixels for a trembling hand.
        await self.page.mouse.move(x + across / 2, y + down / 2, steps=5)
        yield
        await self.page.mouse.move(x + across, y + down, steps=5)
        await self.page.mouse.up()

    @asynccontextmanager
    async def writing(self, operation: str) -> AsyncIterator[None]:
        """Waits until the server has answered the operation that this brings about."""
        async with self.page.expect_response(
            lambda response: operation in (response.request.post_data or "")
        ):
            yield

    async def at_rest(self, id: str) -> FloatRect:
        """Where the bar is once the chart, which draws itself anew with every answer, has left it
        there for a while: a mouse that grips where it was grips nothing."""
        seen: list[FloatRect | None] = []
        while len(seen) < STILL or any(each != seen[-1] for each in seen[-STILL:]) or not seen[-1]:
            assert len(seen) < MOST_LOOKS, f"{id} does not come to rest: {seen[-STILL:]}"
            await asyncio.sleep(0.1)
            seen.append(await self.bar(id).bounding_box())
        return seen[-1]

    async def _row_height(self) -> float:
        box = await self.page.locator(".vis-labelset .vis-label").first.bounding_box()
        assert box is not None
        return box["height"]


async def stored(api: Api, id: str) -> dict[str, Any]:
    """The assignment as the server has it."""
    fields = "startDate endDate endDateExclusive note version resource { name } project { name }"
    data = await api.data(
        f"query($id: ID!) {{ node(id: $id) {{ ... on Assignment {{ {fields} }} }} }}", id=id
    )
    found: dict[str, Any] = data["node"]
    return found
