"""What an endpoint's URL says: where to connect to, and what to ask for there."""

import pytest

from data.endpoint import endpoint_of


@pytest.mark.parametrize(
    ("given", "url", "host"),
    [
        ("https://h.example", "https://h.example/", "h.example"),
        ("https://h.example:443/", "https://h.example:443/", "h.example"),
        ("http://h.example:443", "http://h.example:443/", "h.example:443"),
        ("http://[::1]:8000", "http://[::1]:8000/", "[::1]:8000"),
        ("http://h.example/base", "http://h.example/base", "h.example"),
    ],
)
def test_an_endpoint_keeps_its_path_and_a_port_of_its_own(given: str, url: str, host: str) -> None:
    endpoint = endpoint_of(given, "us-east-1")
    assert (endpoint.url, endpoint.host) == (url, host)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://h.example", ("h.example", 443, True)),
        ("http://H.example", ("h.example", 80, False)),
        ("http://[::1]:8000/base", ("::1", 8000, False)),
    ],
)
def test_the_port_is_that_of_the_scheme_unless_there_is_one(
    url: str, address: tuple[str, int, bool]
) -> None:
    endpoint = endpoint_of(url, "us-east-1")
    assert (endpoint.hostname, endpoint.port, endpoint.tls) == address


def test_the_path_is_asked_for_as_it_is_and_signed_with_escapes() -> None:
    endpoint = endpoint_of("https://proxy.example/a%20b/~x", "us-east-1")
    assert (endpoint.path, endpoint.canonical_path) == ("/a%20b/~x", "/a%2520b/~x")
