"""Credentials of a role, which a metadata service hands out slowly (B-02)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from tests.store.stub import Stub, planner, running_stub

PATIENCE = 30.0
CALLERS = 50
QUERY = "{ team { resources { id } } }"
LONG = timedelta(hours=6)
SHORT = timedelta(minutes=1)
"""So soon that boto insists on new ones before it sends anything."""


@dataclass
class Metadata:
    """A metadata service. Each answer takes `delay` seconds, or never comes while it `hangs`;
    the first credentials last for `first`, all others for long."""

    first: timedelta = LONG
    hangs: bool = False
    delay: float = 0.3
    url: str = ""
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        await asyncio.sleep(PATIENCE if self.hangs else self.delay)
        life = self.first if len(self.asked) == 1 else LONG
        return web.json_response(
            {
                "AccessKeyId": f"key-{len(self.asked)}",
                "SecretAccessKey": "dummy",
                "Token": "dummy",
                "Expiration": (datetime.now(UTC) + life).strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
        )


@asynccontextmanager
async def serving(metadata: Metadata) -> AsyncIterator[Metadata]:
    """Lets it listen on loopback, at a port that the system picks."""
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", metadata.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        metadata.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield metadata
    finally:
        await runner.cleanup()


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with running_stub() as stub:
        yield stub


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing on this machine that boto would take for credentials."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


async def first_requests(stub: Stub, metadata: Metadata) -> None:
    """Many clients at once ask an application that has just started; all are answered."""
    async with planner(stub.url, credentials=None) as running:
        answers = await asyncio.gather(
            *(running.api(f"team-{n}").run(QUERY) for n in range(CALLERS))
        )
        assert answers == [{"data": {"team": {"resources": []}}}] * CALLERS
        assert (await running.http.get("/readyz")).json() == {"status": "ready"}
    assert len(stub.received) == CALLERS + 1


@pytest.mark.usefixtures("no_credentials")
async def test_fifty_first_requests_fetch_credentials_once(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(Metadata()) as metadata:
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{metadata.url}/role")
        await first_requests(stub, metadata)
        assert metadata.asked == ["/role"]


@pytest.mark.usefixtures("no_credentials")
async def test_fifty_requests_with_credentials_that_expire_renew_them_once(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(Metadata(first=SHORT)) as metadata:
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{metadata.url}/role")
        await first_requests(stub, metadata)
        assert metadata.asked == ["/role", "/role"]


@pytest.mark.usefixtures("no_credentials")
async def test_without_credentials_readiness_says_so_and_requests_are_masked(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(Metadata(hangs=True)) as metadata:
        # What an instance would ask, and where nobody answers: boto asks, and gives up.
        monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.url)
        async with asyncio.timeout(PATIENCE), planner(stub.url, credentials=None) as running:
            asked = len(metadata.asked)
            assert 0 < asked <= 3
            response = await running.http.get("/readyz")
            assert response.status_code == 503
            assert response.json() == {
                "status": "unavailable",
                "reason": "no_credentials",
                "message": "No AWS credentials were found.",
            }
            with capture_logs() as logs:
                answer = await running.api("team").run(QUERY)
            [error] = answer["errors"]
            assert error["message"] == "Internal error"
            assert error["extensions"]["code"] == "INTERNAL"
            [line] = [each for each in logs if each["event"] == "operation"]
            assert error["extensions"]["correlationId"] == line["correlation_id"]
            # No request waits for what is not there.
            assert len(metadata.asked) == asked
    assert stub.received == []
