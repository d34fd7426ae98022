"""Basics of accessibility, by axe-core: what it calls serious or critical."""

from typing import Any, Final

from playwright.async_api import Page

from tests.browser.served import APP

__all__ = ["violations"]

_SCRIPT: Final = APP / "node_modules" / "axe-core" / "axe.min.js"
_GRAVE: Final = ("serious", "critical")


async def violations(page: Page, *, without: tuple[str, ...] = ()) -> list[str]:
    """The serious violations on the page as it is now, but for those of the rules `without`."""
    await page.evaluate(_SCRIPT.read_text(encoding="utf-8"))
    options = {
        "rules": {rule: {"enabled": False} for rule in without},
        "resultTypes": ["violations"],
        "selectors": False,
    }
    found: dict[str, Any] = await page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{each['id']}: {each['help']}: {[node['html'] for node in each['nodes']][:3]}"
        for each in found["violations"]
        if each["impact"] in _GRAVE
    ]
