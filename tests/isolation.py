"""No test reaches AWS, or anything else beyond this machine (B-05).

Two guards, each enough by itself: what boto finds in the environment is made up, and this process
connects to loopback alone. Child processes inherit the first; npm needs what the second forbids.
"""

import ipaddress
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

__all__ = ["DUMMIES", "NOWHERE", "ReachedOut", "forget_aws", "on_loopback_only"]

NOWHERE: Final = "http://127.0.0.1:9"
"""The discard port, where nobody listens."""

DUMMIES: Final = {
    "AWS_ACCESS_KEY_ID": "dummy",
    "AWS_SECRET_ACCESS_KEY": "dummy",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ENDPOINT_URL": NOWHERE,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "BOTO_CONFIG": os.devnull,
}
"""All that boto finds by itself."""


class ReachedOut(Exception):
    """This process looked up or connected to another machine. Somebody may have caught it, as boto
    does, so it is not all that there is to see."""


def forget_aws(patch: pytest.MonkeyPatch) -> None:
    """Leaves nothing of AWS in the environment but dummies: no profile, no role, no endpoint of a
    single service, which would win over the one for all."""
    for name in os.environ:
        if name.startswith("AWS_"):
            patch.delenv(name)
    for name, value in DUMMIES.items():
        patch.setenv(name, value)


_reached: list[str] | None = None
"""Where this process wanted to go; None while it may go anywhere."""


@contextmanager
def on_loopback_only() -> Iterator[list[str]]:
    """Meanwhile, a look-up of or a connection to another machine raises ReachedOut, and is in the
    list that this yields."""
    global _reached
    before, _reached = _reached, []
    try:
        yield _reached
    finally:
        _reached = before


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _EVENTS or _reached is None:
        return
    host = _EVENTS[event](arguments)
    if not _is_loopback(host):
        _reached.append(f"{event} {host}")
        raise ReachedOut(_reached[-1])


def _address(arguments: tuple[Any, ...]) -> Any:
    """The host of an internet address; a socket of this machine has a path instead."""
    address = arguments[1]
    return address[0] if isinstance(address, tuple) else None


# See "Audit events table" of the Python documentation. `sendto` is a connection, too.
_EVENTS: Final[dict[str, Callable[[tuple[Any, ...]], Any]]] = {
    "socket.connect": _address,
    "socket.sendto": _address,
    "socket.getaddrinfo": lambda arguments: arguments[0],
    "socket.gethostbyname": lambda arguments: arguments[0],
}


def _is_loopback(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


# A hook stays as long as the process does, so there is one, and it is switched on and off.
sys.addaudithook(_watch)
