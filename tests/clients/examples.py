"""The examples as somebody finds them who has just cloned the repository, and how to run them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from graphql import (
    FragmentDefinitionNode,
    GraphQLSchema,
    OperationDefinitionNode,
    build_schema,
    parse,
    print_ast,
    separate_operations,
)

from tests.api_client import SECRET
from tests.docs.documents import ROOT
from tests.engines import HOME, require
from tests.npm import installed

__all__ = [
    "EXAMPLES",
    "NPM",
    "OPERATIONS",
    "Definition",
    "clean_copy",
    "definitions",
    "documents",
    "environment",
    "example",
    "follow",
    "run",
    "schema",
]

EXAMPLES: Final = ROOT / "examples"
OPERATIONS: Final = sorted((EXAMPLES / "operations").glob("*.graphql"))
NPM: Final = ("typescript", "gql-tada", "relay")

Definition = OperationDefinitionNode | FragmentDefinitionNode

_TIMEOUT: Final = 240


def clean_copy(folder: Path) -> Path:
    """The folder with the schema, the examples and, as make has set it up, `.venv`: nothing else
    that git ignores, so nothing that the examples install or generate."""
    tracked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    wanted = ["schema.graphql", "examples"]
    listed = subprocess.run([*tracked, "--", *wanted], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def example(name: str, folder: Path) -> Path:
    """The folder of one example in a clean copy, with its npm packages; without npm the test is
    skipped."""
    packages = installed(EXAMPLES / name)
    copied = clean_copy(folder) / "examples" / name
    (copied / "node_modules").symlink_to(packages / "node_modules")
    return copied


def environment(name: str) -> Path:
    """The folder of programs of a Python with the pinned packages of an example, and no others:
    what generates Python clients wants another graphql-core than the server has. Kept between
    runs; without an index of packages the test is skipped."""
    requirements = EXAMPLES / name / "requirements.txt"
    folder = HOME / f"examples-{name}"
    ready = folder / ".ready"
    if not ready.exists() or ready.read_bytes() != requirements.read_bytes():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run(
            [folder / "bin" / "python", *pip, "--require-hashes", "-r", requirements],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
        )
        require(done.returncode == 0, f"packages of {name}: {done.stderr[-300:]}")
        shutil.copy(requirements, ready)
    return folder / "bin"


def follow(commands: Iterable[str], cwd: Path, url: str) -> list[str]:
    """What each command prints that a page tells people to type, asking the server at `url`
    instead of that of `make dev`: at another address, and with another secret."""
    elsewhere = {"PLANNER_URL": url, "AUTH_SECRET": SECRET}
    return [run("sh", "-c", command, cwd=cwd, variables=elsewhere) for command in commands]


def run(
    *command: str | Path, cwd: Path, fails: bool = False, variables: Mapping[str, str] | None = None
) -> str:
    """What a command prints. `fails`: it is to fail, and what it then says is wanted."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_TIMEOUT,
    )
    assert (done.returncode != 0) is fails, done.stdout
    return done.stdout


def schema() -> GraphQLSchema:
    """The committed schema."""
    return build_schema((ROOT / "schema.graphql").read_text(encoding="utf-8"))


def documents() -> dict[str, str]:
    """Every operation of the examples by its name, as one sends it: with the fragments it uses."""
    separated = separate_operations(parse("\n".join(file.read_text() for file in OPERATIONS)))
    return {name: print_ast(document) for name, document in separated.items()}


def definitions() -> Iterator[Definition]:
    """Every operation and fragment of the examples."""
    for file in OPERATIONS:
        for definition in parse(file.read_text()).definitions:
            assert isinstance(definition, Definition)
            yield definition
