"""Where requests to DynamoDB go, as the address that is connected to, and as it is signed."""

from typing import NamedTuple
from urllib.parse import quote, urlsplit

__all__ = ["Endpoint", "endpoint_of"]


class Endpoint(NamedTuple):
    """`hostname`, `port` and `tls` say what to connect to, `host` and `path` what to ask for there,
    `canonical_path` and `region` what to sign."""

    url: str
    hostname: str
    port: int
    tls: bool
    host: str
    path: str
    canonical_path: str
    region: str


def endpoint_of(url: str, region: str) -> Endpoint:
    """The endpoint at a URL, whose path, if it has one, is kept. The port is part of `host` unless
    it is that of the scheme, as HTTP clients write it."""
    parts = urlsplit(url)
    tls = parts.scheme == "https"
    default_port = 443 if tls else 80
    hostname, port, path = parts.hostname or "", parts.port or default_port, parts.path or "/"
    host = f"[{hostname}]" if ":" in hostname else hostname
    return Endpoint(
        url=f"{parts.scheme}://{parts.netloc}{path}",
        hostname=hostname,
        port=port,
        tls=tls,
        host=host if port == default_port else f"{host}:{port}",
        path=path,
        # What is escaped already is escaped once more, for all services but S3.
        canonical_path=quote(path, "/~"),
        region=region,
    )
