"""A page in Debian's Chromium, and what must not happen on any: a request to another host, an error
on the console, an exception that nobody caught."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Page, Route, async_playwright

__all__ = ["Watch", "running_chromium", "watched"]

# The browser's own errands are no part of a page, and a root of CI can't have the sandbox.
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_LOOPBACK: Final = ("127.0.0.1", "localhost")
_SCHEMES_WITHOUT_HOST: Final = ("data", "blob", "about")


@asynccontextmanager
async def running_chromium(path: str) -> AsyncIterator[Browser]:
    """The browser at that path, without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        await browser.close()


@dataclass
class Watch:
    """What was seen on the pages of a context."""

    expected: Sequence[str] = ()
    """Patterns of errors that the test itself brings about."""
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def note(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        page.on(
            "console",
            lambda said: (
                self.errors.append(f"{said.type}: {said.text} ({said.location.get('url')})")
                if said.type in ("error", "warning")
                else None
            ),
        )

    def complaints(self) -> list[str]:
        """Requests that went elsewhere, and errors that were not expected."""
        return self.foreign + [
            error
            for error in self.errors
            if not any(re.search(pattern, error) for pattern in self.expected)
        ]


async def watched(context: BrowserContext, expected: Sequence[str] = ()) -> Watch:
    """Watches all pages of the context. Requests to other machines are recorded and go nowhere."""
    watch = Watch(expected)

    async def local_only(route: Route) -> None:
        url = urlsplit(route.request.url)
        if url.scheme in _SCHEMES_WITHOUT_HOST or url.hostname in _LOOPBACK:
            await route.fallback()
        else:
            watch.foreign.append(route.request.url)
            await route.abort()

    await context.route("**/*", local_only)
    context.on("page", watch.note)
    return watch
