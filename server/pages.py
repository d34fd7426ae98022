"""What our pages have in common: the headers of an HTML page and how long its files may be kept."""

from typing import Final

from starlette.responses import HTMLResponse

__all__ = ["CLOSED", "IMMUTABLE", "page", "page_headers"]

IMMUTABLE: Final = "public, max-age=31536000, immutable"
"""For files whose names change with their content, so that they never go stale."""
CLOSED: Final = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The end of each policy. Nobody may frame a page: a click in it can change data."""


def page_headers(policy: str) -> dict[str, str]:
    """What is a page's own; `server.security` has the headers of every answer."""
    return {
        "Content-Security-Policy": policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "same-origin",
    }


def page(html: str, policy: str, status: int = 200) -> HTMLResponse:
    """A page of ours, under this Content-Security-Policy."""
    return HTMLResponse(html, status, headers=page_headers(policy))
