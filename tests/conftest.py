"""What every test has: an engine, a table of its module's own, and a team of the test's own."""

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext

import httpx
import pytest
import structlog
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pydantic import SecretStr
from starlette.applications import Starlette

from data.administration import create_table
from data.opening import open_store
from data.store import Store
from server.app import create_app
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.api.audit import Audit
from tests.api_client import SECRET, Api, Capture
from tests.engines import ENGINES, HOME, Engines
from tests.isolation import forget_aws, on_loopback_only

# An example asks two engines on a shared machine, so none has a deadline.
for profile, examples in (("default", 25), ("deep", 250)):
    hypothesis_settings.register_profile(
        profile,
        deadline=None,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
# Without a configuration structlog draws each traceback with all its variables, which takes longer
# than most tests.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(default=repr),
    ]
)

hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the engines that a test's mark `engines` does not name: what is about HTTP is the
    same on each of them."""
    others = [item for item in items if _is_on_another_engine(item)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in {*others}]
    # The longest files first, so that none of them runs alone at the end.
    items.sort(key=lambda item: not item.nodeid.startswith(_LONGEST))


_LONGEST = ("tests/transfer/", "tests/store/", "tests/deploy/")


def _is_on_another_engine(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("engines")
    if mark is None or not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return False
    return item.callspec.params.get("engine", mark.args[0]) not in mark.args


@pytest.fixture(scope="session", autouse=True)
def no_aws() -> Iterator[None]:
    """No test can reach AWS: from before the first fixture to after the last one (B-05)."""
    with pytest.MonkeyPatch.context() as patch, on_loopback_only() as reached:
        forget_aws(patch)
        yield
    assert reached == []


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    engines = Engines()
    yield engines
    engines.close()


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest, engines: Engines) -> str:
    """The address of a running engine; each test that needs one runs on both."""
    return engines(request.param)


@pytest.fixture(scope="module")
async def store(engine: str, engines: Engines) -> AsyncIterator[Store]:
    """A store with an empty table of this module's own: moto copies the whole table for each
    transaction, so it must not grow over the session."""
    name = f"planner-{uuid.uuid4().hex}"
    async with open_store(name, endpoint_url=engine, credentials=DUMMY_CREDENTIALS) as store:
        await create_table(store)
        yield store
        found = await store.client.describe_table(TableName=name)
        await store.client.update_table(TableName=name, DeletionProtectionEnabled=False)
        await store.client.delete_table(TableName=name)
    engines.was_used(engine, found["Table"]["ItemCount"])


@pytest.fixture(scope="module")
def settings(store: Store, engine: str) -> Settings:
    return Settings(
        auth_secret=SecretStr(SECRET),
        table=store.table,
        endpoint_url=engine,
        introspection=True,
        home=HOME,
    )


@pytest.fixture(scope="session")
def audit() -> Iterator[Audit]:
    """Sees every request of the application in the whole session, and fails at its end if one
    broke the rules: a Scan, a bare attribute name, another team's partition."""
    audit = Audit()
    yield audit
    assert not audit.faults, "\n".join(audit.faults[:20])


@pytest.fixture(scope="module")
async def app(settings: Settings, audit: Audit) -> AsyncIterator[Starlette]:
    """The application, started."""
    application = create_app(settings, credentials=DUMMY_CREDENTIALS)
    async with application.router.lifespan_context(application):
        live = application.state.operations.live
        with (
            audit.watching(application.state.store),
            audit.watching_stream(live.streams) if live else nullcontext(),
        ):
            yield application


@pytest.fixture(scope="module")
async def http(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://planner.test") as client:
        yield client


@pytest.fixture
def team() -> str:
    """A team that no other test has."""
    return f"team-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def api(http: httpx.AsyncClient, team: str) -> Api:
    """The API, signed in as a member of the team."""
    return Api(http, team)


@pytest.fixture
def stranger(http: httpx.AsyncClient) -> Api:
    """The API, signed in as a member of another team."""
    return Api(http, f"stranger-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def captured(app: Starlette) -> Iterator[Capture]:
    """The requests that the application sends to DynamoDB, as they leave for the wire."""
    capture = Capture(app.state.store)
    yield capture
    capture.stop()
