"""The sources of the timeline page: types, their own tests, and what they stand on."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.browser.served import APP, build

pytestmark = pytest.mark.web

ZONES = ("UTC", "Pacific/Kiritimati", "America/St_Johns", "Europe/Madrid")


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    build()


def run(script: str, **environment: str) -> str:
    done = subprocess.run(
        ["npm", "run", "--silent", script],
        cwd=APP,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def compiled() -> None:
    run("unit:compile")


def test_components_and_modules_type_check_against_the_schema() -> None:
    assert "0 errors and 0 warnings" in run("check")


@pytest.mark.parametrize("zone", ZONES)
def test_days_windows_colours_and_keys_hold_in_every_time_zone(zone: str, compiled: None) -> None:
    told = run("unit", TZ=zone)
    assert "# fail 0" in told
    assert "# pass 0" not in told


def test_modules_stay_small() -> None:
    sizes = {
        path.relative_to(APP): len(path.read_text(encoding="utf-8").splitlines())
        for path in sources()
    }
    assert {path: size for path, size in sizes.items() if size > 300} == {}


def sources() -> list[Path]:
    found = [*APP.glob("src/**/*.ts"), *APP.glob("src/**/*.svelte")]
    return [path for path in found if "gql" not in path.parts]
