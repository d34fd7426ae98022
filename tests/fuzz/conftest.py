"""A server on a socket, and what no answer of it may ever be."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette

from data.administration import create_table
from data.opening import open_store
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api_client import SECRET, token
from tests.engines import HOME, Engines
from tests.live import live

__all__ = ["CODES", "Server"]

CODES: Final = frozenset({"BAD_USER_INPUT", "FORBIDDEN", "LIMIT_EXCEEDED", "UNAUTHENTICATED"})
"""What a client may be at fault for. INTERNAL and UNAVAILABLE would be ours."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is, and the headers of a member of a team with some items."""

    app: Starlette
    url: str
    table: str
    headers: dict[str, str]

    def assert_harmless(self, status: int, body: dict[str, Any] | None, text: str) -> None:
        """Fails for an answer that is the server's own fault, or that tells of its inside."""
        assert status < 500, text
        for secret in ("Traceback", 'File "', "arn:", self.table, SECRET, "botocore", "/site-"):
            assert secret not in text, text
        if body is not None:
            codes = {error["extensions"]["code"] for error in body.get("errors", ())}
            assert codes <= CODES, text


@pytest.fixture(scope="module")
def engine(engines: Engines) -> str:
    return engines("local")


@pytest.fixture(scope="module")
async def server(engine: str) -> AsyncIterator[Server]:
    table = f"fuzzed-{uuid.uuid4().hex}"
    async with open_store(table, endpoint_url=engine, credentials=DUMMY_CREDENTIALS) as store:
        await create_table(store)
    settings = Settings(
        auth_secret=SecretStr(SECRET),
        table=table,
        endpoint_url=engine,
        introspection=True,
        home=HOME,
    )
    app = create_app(settings, credentials=DUMMY_CREDENTIALS)
    with live(settings, app) as url:
        yield Server(app, url, table, {"Authorization": f"Bearer {token('fuzzed')}"})
