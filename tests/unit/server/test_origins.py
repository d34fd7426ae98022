"""Origins as browsers write them, and the settings that are made of them."""

import pytest
from pydantic import ValidationError

from server.origins import origin_of
from server.settings import Settings


@pytest.mark.parametrize(
    ("text", "origins"),
    [
        ("", ()),
        (" , ", ()),
        ("https://a.example", ("https://a.example",)),
        (
            "https://a.example, http://localhost:5173",
            ("https://a.example", "http://localhost:5173"),
        ),
        ("http://[::1]:5173,", ("http://[::1]:5173",)),
    ],
)
def test_allowed_origins_are_separated_by_commas(
    monkeypatch: pytest.MonkeyPatch, text: str, origins: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PLANNER_ALLOWED_ORIGINS", text)
    assert Settings().allowed_origins == origins


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "null",
        "a.example",
        "https://*.a.example",
        "https://a.example/",
        "https://a.example/path",
        "https://a.example?x",
        "https://a.example#x",
        "https://A.example",
        "https://a.example:443",
        "https://a.example:x",
        "https://a.example:99999",
        "https://user@a.example",
        "https://",
        "https://:80",
        "ftp://a.example",
        "https://a.example https://b.example",
        "https://bücher.example",
        "https://a.example,*",
    ],
)
def test_whatever_is_no_exact_origin_ends_the_start(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("PLANNER_ALLOWED_ORIGINS", text)
    with pytest.raises(ValidationError, match="allowed_origins"):
        Settings()


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://planner.example", "https://planner.example"),
        ("HTTPS://Planner.Example:443/app?x#y", "https://planner.example"),
        ("http://planner.example:80", "http://planner.example"),
        ("http://planner.example:443", "http://planner.example:443"),
        ("http://[2001:DB8::1]:8000/", "http://[2001:db8::1]:8000"),
    ],
)
def test_an_origin_is_written_as_browsers_do(url: str, origin: str) -> None:
    assert origin_of(url) == origin
    assert origin_of(origin) == origin


def test_https_counts_however_it_is_spelled() -> None:
    assert Settings(public_url="HTTPS://planner.example").secure_cookies
    assert not Settings(public_url="http://planner.example").secure_cookies
