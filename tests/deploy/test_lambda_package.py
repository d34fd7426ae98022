"""The package for AWS Lambda, made by the commands of docs/deploy.md, and what is in it."""

import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import httpx
import pytest
from cfnlint.decode import decode

from data.store import Store
from server.settings import Settings
from tests.api.http import QUERY, named
from tests.api_client import token
from tests.deploy.containerfile import copy_context
from tests.deploy.environment import HANDLER, RUNTIME, ask
from tests.deploy.events import graphql
from tests.docs.documents import ROOT, block_from, text
from tests.programs import PATIENCE, deployment, free_port, program, until_it_listens

DOCUMENT: Final = ROOT / "docs" / "deploy.md"
PYTHON: Final = str(Path(sys.executable).resolve())
"""Not that of this virtual environment, which has packages."""
MAX_UNZIPPED: Final = 250 * 1024 * 1024
"""What Lambda takes ("Lambda quotas")."""


def template() -> dict[str, dict[str, object]]:
    found, problems = decode(str(ROOT / "infra" / "lambda.yaml"))
    assert found is not None, problems
    members: dict[str, dict[str, object]] = found
    return members


def properties() -> dict[str, object]:
    function: dict[str, object] = template()["Resources"]["Function"]["Properties"]  # type: ignore[index]
    return function


def test_the_template_starts_the_entry_point_with_the_python_of_the_page() -> None:
    runtime = str(properties()["Runtime"])
    assert properties()["Handler"] == HANDLER
    assert runtime in block_from(DOCUMENT, "# Package")
    assert (
        f"FROM {runtime.replace('python', 'python:')}-"
        in (ROOT / "infra" / "Containerfile").read_text()
    )


def test_the_page_gives_the_parameters_that_have_no_default() -> None:
    given = set(re.findall(r"(\w+)=", block_from(DOCUMENT, "# Function")))
    needed = {name for name, each in template()["Parameters"].items() if "Default" not in each}  # type: ignore[operator]
    assert given == needed


def test_the_server_gives_up_before_the_function_and_that_before_the_api() -> None:
    variables = properties()["Environment"]["Variables"]  # type: ignore[index]
    timeout = int(str(properties()["Timeout"]))
    assert float(variables["PLANNER_MAX_SECONDS"]) < timeout <= 30


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, unzipped where Lambda would have it."""
    folder = tmp_path_factory.mktemp("package")
    copy_context(ROOT, folder)
    commands = block_from(DOCUMENT, "# Package").replace("python3.13", PYTHON)
    subprocess.run(["sh", "-ec", commands], cwd=folder, check=True, timeout=900)
    task = folder / "task"
    with zipfile.ZipFile(folder / "build" / "planner.zip") as archive:
        assert sum(entry.file_size for entry in archive.infolist()) < MAX_UNZIPPED
        archive.extractall(task)
    return task


@pytest.mark.web
@pytest.mark.engines("embedded")
async def test_the_package_answers_events_with_nothing_else_installed(
    package: Path, store: Store, engine: str, team: str
) -> None:
    environment = {
        **deployment(engine, store.table),
        "_HANDLER": HANDLER,
        "PYTHONPATH": str(package),
    }
    with program([PYTHON, "-s", RUNTIME], environment, folder=package) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        answer = ask(process, graphql(team, QUERY))
    assert answer.json() == named(team)


@pytest.mark.web
@pytest.mark.engines("embedded")
async def test_what_the_adapter_starts_answers_where_it_looks(
    package: Path, store: Store, engine: str, team: str, tmp_path: Path
) -> None:
    script = package / "run.sh"
    [written] = re.findall(r"^```sh\n(#!/bin/sh\n# run.sh\n.*?)^```", text(DOCUMENT), re.M | re.S)
    script.write_text(written)
    script.chmod(0o755)
    (tmp_path / "python").symlink_to(PYTHON)
    variables = dict(
        re.findall(r'^(\w+): "?([^"\n]+)', block_from(DOCUMENT, "# Variables of the adapter"), re.M)
    )
    assert variables["AWS_LWA_PORT"] == str(Settings.model_fields["port"].default)
    port = free_port()
    environment = {
        **deployment(engine, store.table),
        "PORT": str(port),
        "PATH": f"{tmp_path}:{os.defpath}",
    }
    with program([str(script)], environment, folder=package) as process:
        until_it_listens(process, port)
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            ready = await http.get(variables["AWS_LWA_READINESS_CHECK_PATH"])
            assert ready.status_code == 200
            headers = {"Authorization": f"Bearer {token(team)}"}
            answer = await http.post("/graphql", json={"query": QUERY}, headers=headers)
            assert answer.json() == named(team)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, -signal.SIGTERM)


@pytest.mark.web
def test_the_functions_python_has_a_wheel_of_every_pin(tmp_path: Path) -> None:
    version = str(properties()["Runtime"]).removeprefix("python")
    platforms = [f"--platform=manylinux{each}_x86_64" for each in ("_2_28", "_2_17", "2014")]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--require-hashes"]
    command += ["--only-binary=:all:", "--no-deps", f"--python-version={version}", *platforms]
    command += [f"--target={tmp_path}", "-r", str(ROOT / "requirements" / "lambda.txt")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
