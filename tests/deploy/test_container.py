"""infra/Containerfile, by its steps (tests/deploy/containerfile.py says what is left out), and the
server that it ends in."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Final

import httpx
import pytest

from data.store import Store
from tests.api.http import MUTATION, QUERY, named
from tests.api_client import token
from tests.deploy.containerfile import Image, context, instructions
from tests.deploy.running import PATIENCE, ROOT, deployment, free_port, program, until_it_listens

FILE: Final = ROOT / "infra" / "Containerfile"
STEPS: Final = list(instructions(FILE))


def texts(name: str) -> list[str]:
    return [step.text for step in STEPS if step.name == name]


def test_bases_are_pinned_and_no_registry_is_named() -> None:
    for base in texts("FROM"):
        image = base.split()[0]
        assert "/" not in image
        tag = image.partition(":")[2]
        assert tag
        assert tag != "latest"


def test_the_final_stage_installs_nothing_and_is_nobodys() -> None:
    final = STEPS[max(number for number, step in enumerate(STEPS) if step.name == "FROM") :]
    assert "RUN" not in [step.name for step in final]
    [user] = [step.text for step in final if step.name == "USER"]
    user_id, _, group_id = user.partition(":")
    assert int(user_id) > 0
    assert int(group_id) > 0
    [signal_name] = texts("STOPSIGNAL")
    assert signal_name == signal.SIGTERM.name


def test_the_context_has_what_is_built_and_nothing_else() -> None:
    files = list(context(ROOT))
    tops = {path.parts[0] for path in files}
    packages = {"data", "resolvers", "schema", "server"}
    assert tops == packages | {"README.md", "infra", "pyproject.toml", "requirements"}
    assert [path for path in files if path.parts[0] == "infra"] == [Path("infra/install.sh")]
    assert not [path for path in files if "__pycache__" in path.parts]
    assert Path("server/cli.py") in files


def files_below(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


@pytest.mark.web
@pytest.mark.engines("embedded")
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
    assert image.environment["PORT"] == texts("EXPOSE")[0]

    def health() -> int:
        command = image.health_check
        done = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE)
        return done.returncode

    with program(image.command, environment, folder=tmp_path) as process:
        until_it_listens(process, port)
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {token(team)}"}
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


@pytest.mark.web
def test_the_image_has_no_tests_tools_or_emulators(image: Image) -> None:
    packages = {path.name.split("-")[0].lower() for path in image.root.rglob("*.dist-info")}
    assert "resource_planner" in packages
    assert not packages & {"pytest", "moto", "hatchling", "mypy", "mangum"}
    assert [path.name for path in image.root.iterdir()] == ["opt"]
