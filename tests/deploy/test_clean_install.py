"""A clean install, by the steps of infra/Containerfile (tests/deploy/containerfile.py says what is
left out): what the container's image runs, and what the unit of systemd starts. Both are installed
by infra/install.sh, into the same folder."""

import json
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from data.store import Store
from tests.api.http import MUTATION, QUERY, named
from tests.api_client import SECRET, token
from tests.deploy.containerfile import Image, build
from tests.deploy.events import session
from tests.deploy.unit import INSTALLED, environment_file, value
from tests.docs.documents import ROOT
from tests.programs import PATIENCE, deployment, free_port, program, until_it_listens, until_it_says

pytestmark = [pytest.mark.web, pytest.mark.engines("embedded")]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The container's image, as folders."""
    file = ROOT / "infra" / "Containerfile"
    return build(file, ROOT, tmp_path_factory.mktemp("image"))


def files_below(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


async def test_the_image_serves_is_healthy_writes_no_file_and_stops_when_told(
    image: Image, store: Store, engine: str, team: str, tmp_path: Path
) -> None:
    before = image.files()
    port = free_port()
    environment = {
        **image.environment,
        **deployment(engine, store.table),
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "HOME": str(tmp_path / "nothing"),
    }
    assert image.environment["PORT"] == image.said["EXPOSE"].text

    def health() -> int:
        command = image.health_check
        done = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE)
        return done.returncode

    with program(image.command, environment, folder=tmp_path) as process:
        until_it_listens(process, port)
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {token(team)}"},
            timeout=PATIENCE,
        ) as http:
            assert (await http.get("/healthz")).text == "ok"
            answer = await http.post("/graphql", json={"query": QUERY})
            assert answer.json() == named(team)
            written = await http.post("/graphql", json={"query": MUTATION})
            assert written.json() == {"data": {"createResource": {"errors": []}}}
        assert health() == 0
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode in (0, -signal.SIGTERM)
    events = [json.loads(line)["event"] for line in said.splitlines()]
    assert "Application shutdown complete." in events
    assert health() == 1
    assert image.files() == before
    assert files_below(tmp_path) == []


def test_the_image_has_no_tests_tools_or_emulators(image: Image) -> None:
    packages = {path.name.split("-")[0].lower() for path in image.root.rglob("*.dist-info")}
    assert "resource_planner" in packages
    assert not packages & {"pytest", "moto", "hatchling", "mypy", "mangum"}
    assert [path.name for path in image.root.iterdir()] == ["opt"]


async def test_what_the_unit_starts_serves_with_the_settings_of_the_page_and_stops(
    image: Image, store: Store, engine: str, team: str, tmp_path: Path
) -> None:
    command = value("ExecStart").replace(INSTALLED, image.inside(INSTALLED)).split()
    port = free_port()
    environment = {
        **environment_file(),
        **deployment(engine, store.table),
        "AUTH_SECRET": SECRET,
        "PORT": str(port),
    }
    assert environment["PLANNER_WORKERS"] == "2"
    with program(command, environment, folder=tmp_path) as process:
        until_it_says(process, "Application startup complete.", times=2)
        url, headers = f"http://127.0.0.1:{port}", {"Cookie": "; ".join(session(team, secure=True))}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE) as http:
            assert (await http.get("/readyz")).json() == {"status": "ready"}
            answer = await http.post("/graphql", json={"query": QUERY})
            assert answer.json() == named(team)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=int(value("TimeoutStopSec")))[1]
    assert process.returncode in (0, -signal.SIGTERM)
    assert said.count("Application shutdown complete.") == 2
