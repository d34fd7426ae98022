"""infra/planner.service, by systemd's own judgement and by what it starts."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from server.settings import Settings, variables
from tests.deploy.unit import DOCUMENT, INSTALLED, UNIT, environment_file, value, values
from tests.docs.documents import ROOT, text
from tests.engines import require
from tests.programs import PATIENCE, PLANNER, program


def analyzed(*arguments: str, unit: Path) -> "subprocess.CompletedProcess[str]":
    require(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    command = ["systemd-analyze", *arguments, str(unit)]
    # A systemd that runs here is not asked, nor are units that are installed here.
    environment = {"PATH": os.environ["PATH"], "SYSTEMD_UNIT_PATH": str(unit.parent) + ":"}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with a program that there is."""
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace(f"{INSTALLED}/bin/planner", sys.executable))
    return copy


def test_systemd_has_nothing_to_say_of_the_unit(unit: Path) -> None:
    done = analyzed("verify", unit=unit)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_systemd_would_see_a_slip(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("PrivateTmp=", "PrivateTemp="))
    assert "PrivateTemp" in analyzed("verify", unit=unit).stderr


def test_the_exposure_is_what_the_page_says(unit: Path) -> None:
    done = analyzed("security", "--offline=true", "--no-pager", "--threshold=20", unit=unit)
    assert done.returncode == 0
    [exposure] = re.findall(r"exposure level for planner\.service: (\S+)", done.stdout)
    assert f"rates that {exposure} of 10" in text(DOCUMENT).replace("\n", " ")


def test_systemd_waits_for_longer_than_the_server_takes() -> None:
    """And no process is told to stop but the first, which tells its workers."""
    takes: int = Settings.model_fields["shutdown_seconds"].default
    # Spans that are left are given ten seconds more (docs/operations.md).
    assert int(value("TimeoutStopSec")) >= takes + 10
    assert value("KillMode") == "mixed"
    assert values("KillSignal") == []


def test_the_examples_settings_are_such() -> None:
    known = {name for setting in Settings.model_fields for name in variables(setting)}
    assert environment_file().keys() <= known


def test_settings_that_do_not_fit_end_with_the_code_that_is_not_tried_again(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "AUTH_SECRET": "short"}
    with program([*PLANNER, "serve"], environment, folder=tmp_path) as process:
        process.communicate(timeout=PATIENCE)
    assert str(process.returncode) == value("RestartPreventExitStatus")
