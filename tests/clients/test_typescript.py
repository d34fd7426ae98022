"""The typed TypeScript client: reached as the README says, strict, and with a cache that mutations
keep right without another request."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from server.settings import Settings
from tests.api_client import token
from tests.clients.examples import EXAMPLES, clean_copy, documents, follow, run
from tests.docs.documents import ROOT, block_from
from tests.live import live
from tests.npm import require_node

pytestmark = pytest.mark.web

GENERATED = Path("src/gql")
TOUR = [
    "Grace Hopper on Compiler: 2026-03-02 to 2026-03-06",
    "moved: 2026-03-09 to 2026-03-13",
    "deleted, with 1 assignment",
]


@dataclass(frozen=True)
class Newcomer:
    """Somebody who has typed the commands of the README: the folder, and what each printed."""

    folder: Path
    said: list[str]


def variables(url: str, team: str = "demo") -> dict[str, str]:
    """What the example reads from its environment."""
    return {"PLANNER_URL": url, "PLANNER_TOKEN": token(team)}


@pytest.fixture(scope="module")
def newcomer(url: str, tmp_path_factory: pytest.TempPathFactory) -> Newcomer:
    require_node(EXAMPLES / "typescript")
    clone = clean_copy(tmp_path_factory.mktemp("clone"))
    commands = block_from(ROOT / "README.md", "npm --prefix examples/typescript ci").splitlines()
    return Newcomer(clone / "examples" / "typescript", follow(commands, clone, url))


def test_three_commands_of_the_readme_reach_a_typed_client(newcomer: Newcomer) -> None:
    """C-03: types from the committed schema, checked, and a round trip in them."""
    assert len(newcomer.said) == 3
    assert newcomer.said[-1].splitlines()[-4:] == ["demo: 0 people, 0 projects", *TOUR]


RIGHT = """
import type { TimelineQuery, TimelineQueryVariables, UpdateAssignmentInput } from "./gql/graphql.js"
type Assignment = TimelineQuery["team"]["assignments"][number]
export const day: Assignment["startDate"] = "2026-03-01"
export const window: TimelineQueryVariables = { from: day, to: day }
export const absent: UpdateAssignmentInput = { id: "1" }
export const cleared: UpdateAssignmentInput = { id: "1", note: null }
export const dangling: Assignment["resource"] = null
"""
WRONG = """
// @ts-expect-error a Date is a string
export const number: Assignment["startDate"] = 1
// @ts-expect-error and no Date of JavaScript
export const date: Assignment["endDate"] = new Date()
// @ts-expect-error what may dangle may be null
export const name = (assignment: Assignment) => assignment.resource.name
// @ts-expect-error there is no such field
export const title = (assignment: Assignment) => assignment.title
// @ts-expect-error a window has two days
export const half: TimelineQueryVariables = { from: day }
"""


def test_types_are_strict(newcomer: Newcomer) -> None:
    """C-03: each line that is wrong is an error, or `@ts-expect-error` would be one."""
    program = newcomer.folder / "src" / "types.ts"
    program.write_text(RIGHT + WRONG)
    try:
        run("npm", "run", "check", cwd=newcomer.folder)
    finally:
        program.unlink()


def test_a_scalar_without_a_type_is_an_error(newcomer: Newcomer, tmp_path: Path) -> None:
    """C-03: never `any`."""
    schema = (ROOT / "schema.graphql").read_text() + "\nextend type Team { budget: Money }\n"
    (tmp_path / "schema.graphql").write_text(schema + '\n"""Euros."""\nscalar Money\n')
    config = (newcomer.folder / "codegen.ts").read_text()
    for name, elsewhere in (("../../schema.graphql", "schema.graphql"), ("src/gql/", "gql/")):
        config = config.replace(f'"{name}', f'"{tmp_path}/{elsewhere}')
    (newcomer.folder / "other.ts").write_text(config)
    said = run("npx", "graphql-codegen", "--config", "other.ts", cwd=newcomer.folder, fails=True)
    assert "Money" in said


# The cache: `steps` of graphcache.mjs, with the names of that script instead of ids.

Step = dict[str, Any]


@pytest.fixture(scope="module")
def steps(newcomer: Newcomer, url: str) -> dict[str, Step]:
    """What pages show after each mutation, and how many requests that took."""
    shutil.copy(Path(__file__).parent / "graphcache.mjs", newcomer.folder)
    team = variables(url, "team-of-caches")
    said = run("node", "graphcache.mjs", cwd=newcomer.folder, variables=team)
    told = json.loads(said)
    assert told["complaints"] == []
    for name, id in told["ids"].items():
        said = said.replace(id, name)
    named: dict[str, Step] = json.loads(said)["steps"]
    return named


def test_pages_share_what_the_cache_has(steps: dict[str, Step]) -> None:
    """The lists of people and of projects came with the timeline."""
    assert steps["opened"] == {
        "requests": 4,
        "march": [],
        "april": [],
        "people": ["ada"],
        "projects": ["bridge"],
        "ada": [],
        "bridge": [],
    }


@pytest.mark.parametrize(
    ("name", "mutations", "shown"),
    [
        # By first day, and in every list that has the days.
        ("created", 2, {"march": ["2026-03-02 two", "2026-03-09 one"], "april": []}),
        ("moved", 1, {"march": ["2026-03-02 two", "2026-03-30 one"], "april": ["2026-03-30 one"]}),
        (
            "moved out",
            1,
            {"march": ["2026-03-30 one"], "april": ["2026-03-30 one", "2026-04-06 two"]},
        ),
        ("refused", 1, {"march": ["2026-03-30 one"]}),
        ("somebody added", 1, {"people": ["ada", "grace"]}),
        ("handed over", 1, {"march": ["2026-03-30 one"], "ada": []}),
        ("feed made", 1, {"feeds": ["feed"]}),
        ("feed revoked", 1, {"feeds": []}),
        ("cascade", 1, {"people": ["ada"], "march": [], "april": ["2026-04-06 two"]}),
    ],
)
def test_pages_follow_a_mutation_without_another_request(
    steps: dict[str, Step], name: str, mutations: int, shown: Step
) -> None:
    """C-02: `id` and `__typename` are enough to move, to add and to take away."""
    step = steps[name]
    assert step["requests"] == mutations
    assert {page: step[page] for page in shown} == shown
    assert step["bridge"] == sorted({*step["march"], *step["april"]})


def test_pages_fetch_again_what_only_the_server_knows(steps: dict[str, Step]) -> None:
    """The days after a shift, overlaps, and whether an id that was deleted is still anything."""
    assert steps["shifted"]["april"] == steps["shifted"]["bridge"] == ["2026-04-07 two"]
    assert steps["shifted"]["requests"] == 1 + len(["april", "bridge"])
    assert steps["overlapping"]["overlaps"] == ["2026-04-09"]
    assert steps["overlapping"]["requests"] == 1 + len(["overlaps"])
    assert steps["deleted"]["overlaps"] == []
    last = steps["project deleted"]
    assert last["requests"] == 1 + len(["overlaps", "bridge"])
    assert (last["april"], last["projects"], last["bridge"]) == ([], [], None)


# Trusted documents


def test_server_trusts_what_codegen_wrote(newcomer: Newcomer, settings: Settings) -> None:
    """The client sends hashes, for queries and mutations, and the cache still works."""
    manifest = newcomer.folder / GENERATED / "persisted-documents.json"
    assert len(json.loads(manifest.read_text())) == len(documents())
    trusting = settings.model_copy(update={"trusted_documents": manifest})
    with live(trusting) as address:
        environment = variables(f"{address}/graphql", "team-of-trust")
        tour = ("node", "dist/main.js")
        said = run(*tour, "--trusted", cwd=newcomer.folder, variables=environment)
        assert said.splitlines()[1:] == TOUR
        # Any other text is refused, so it was the hashes that were carried out.
        said = run(*tour, cwd=newcomer.folder, variables=environment, fails=True)
        assert "trusted" in said
