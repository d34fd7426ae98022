"""What is installed is what is pinned, and what is pinned fits what is asked for (B-06).

The fresh install itself is `make .venv/.ready`, with which every run of CI begins.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.docs.documents import ROOT

PYPROJECT: Final[Mapping[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT: Final[Mapping[str, Any]] = PYPROJECT["project"]
EXTRAS: Final[Mapping[str, list[str]]] = PROJECT["optional-dependencies"]
HASH: Final = re.compile(r"--hash=sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Pin:
    """One requirement of a lock file, with its hashes."""

    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def name(self) -> str:
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> Version:
        [specifier] = self.requirement.specifier
        assert specifier.operator == "=="
        return Version(specifier.version)


def lock(file: Path) -> list[Pin]:
    """The pins of a lock file. One package may have several, with markers that exclude each other;
    anything else in the file than pins and hashes is an error."""
    lines = file.read_text().replace("\\\n", " ").splitlines()
    return [
        Pin(Requirement(line.partition("--hash")[0]), tuple(HASH.findall(line))) for line in lines
    ]


LOCKS: Final = sorted(
    [*ROOT.glob("requirements/*.txt"), ROOT / "examples" / "python" / "requirements.txt"]
)
DEV, SERVE, LAMBDA, BUILD = (
    lock(ROOT / "requirements" / f"{each}.txt") for each in ("dev", "serve", "lambda", "build")
)


def asked(requirements: Iterable[str]) -> Iterator[Requirement]:
    """The requirements, with those of our own extras in their place."""
    for text in requirements:
        requirement = Requirement(text)
        if requirement.name == PROJECT["name"]:
            for extra in requirement.extras:
                yield from asked(EXTRAS[extra])
        else:
            yield requirement


SERVED: Final = sorted(asked(PROJECT["dependencies"]), key=str)
ON_LAMBDA: Final = sorted({*SERVED, *asked(EXTRAS["lambda"])}, key=str)
# One extra may ask for another, so each requirement counts once.
DEVELOPED: Final = sorted({*SERVED, *asked(chain.from_iterable(EXTRAS.values()))}, key=str)


def versions(requirement: Requirement, pins: list[Pin]) -> list[Version]:
    return [pin.version for pin in pins if pin.name == canonicalize_name(requirement.name)]


@pytest.mark.parametrize("requirement", DEVELOPED, ids=lambda each: each.name)
def test_what_pyproject_asks_for_is_pinned_at_a_version_that_fits(requirement: Requirement) -> None:
    found = versions(requirement, DEV)
    assert found
    assert [version for version in found if version not in requirement.specifier] == []


@pytest.mark.parametrize(
    ("requirement", "pins"),
    [
        *((each, SERVE) for each in SERVED),
        *((each, LAMBDA) for each in ON_LAMBDA),
        *((each, BUILD) for each in map(Requirement, PYPROJECT["build-system"]["requires"])),
    ],
    ids=lambda each: each.name if isinstance(each, Requirement) else "",
)
def test_what_a_deployment_asks_for_is_pinned_for_it(
    requirement: Requirement, pins: list[Pin]
) -> None:
    assert versions(requirement, pins)


@pytest.mark.parametrize("pins", [SERVE, LAMBDA, BUILD], ids=["serve", "lambda", "build"])
def test_a_deployment_gets_the_very_pins_that_were_tested(pins: list[Pin]) -> None:
    served = {pin.name for pin in pins}
    assert [pin for pin in DEV if pin.name in served] == pins
    assert len(pins) < len(DEV)


def of_root(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("file", LOCKS, ids=of_root)
def test_every_pin_of_python_is_a_version_with_hashes(file: Path) -> None:
    assert [str(pin.version) for pin in lock(file) if not pin.hashes] == []


def test_boto_comes_with_aioboto3_alone_which_pins_it() -> None:
    boto = {"boto3", "botocore", "aiobotocore"}
    assert not boto & {canonicalize_name(requirement.name) for requirement in DEVELOPED}
    assert boto < {pin.name for pin in SERVE}


def test_all_that_is_installed_fits_together() -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", LOCKS, ids=of_root)
def test_lock_file_of_python_names_no_address(file: Path) -> None:
    assert "://" not in file.read_text()


NPM_LOCKS: Final = [
    file
    for folder in ROOT.glob("[!.]*/")
    for file in folder.rglob("package-lock.json")
    if "node_modules" not in file.parts
]


def test_lock_files_of_npm_are_found() -> None:
    assert ROOT / "tests" / "authjs" / "package-lock.json" in NPM_LOCKS


@pytest.mark.parametrize("file", NPM_LOCKS, ids=of_root)
def test_lock_file_of_npm_names_no_address_and_has_hashes(file: Path) -> None:
    packages = json.loads(file.read_text())["packages"]
    for name, package in packages.items():
        assert "resolved" not in package, name
        assert "integrity" in package or name == "", name


@pytest.mark.parametrize("file", NPM_LOCKS, ids=of_root)
def test_every_package_of_npm_is_asked_for_by_its_very_version(file: Path) -> None:
    manifest = json.loads(file.with_name("package.json").read_text())
    asked = {**manifest["dependencies"], **manifest.get("devDependencies", {})}
    assert {name: each for name, each in asked.items() if not each[0].isdigit()} == {}
