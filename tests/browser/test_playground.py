"""GraphiQL in a real browser, with nothing but our server to be had (S-15)."""

from datetime import UTC, datetime

import pytest
from playwright.async_api import expect

from tests.browser.axe import violations
from tests.browser.conftest import Shoot, Visit

pytestmark = pytest.mark.web


async def test_graphiql_needs_nobody_but_us_shows_docs_and_runs_the_example_signed_in(
    visit: Visit, shoot: Shoot
) -> None:
    page = await visit("/graphql", now=datetime.now(UTC))
    await page.get_by_role("button", name="Execute query (Ctrl-Enter)").click()
    answer = page.get_by_role("region", name="Result Window")
    await expect(answer).to_contain_text('"name": "Demo team"')
    await expect(answer).to_contain_text('"name": "Ada Brandt"')
    await page.get_by_role("button", name="Show Documentation Explorer").click()
    docs = page.get_by_role("region", name="Documentation Explorer")
    await docs.get_by_role("link", name="Query", exact=True).click()
    await expect(docs).to_contain_text("The team of the session; a request can't name another.")
    await shoot(page, "graphiql")
    # CodeMirror's own: the caret scrolls its text, and keys move the caret by a hidden field.
    assert await violations(page, without=("scrollable-region-focusable",)) == []
