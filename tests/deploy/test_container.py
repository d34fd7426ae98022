"""infra/Containerfile, by its steps (tests/deploy/containerfile.py says what is left out), and the
server that it ends in."""

import signal
from pathlib import Path
from typing import Final

from tests.deploy.containerfile import context, instructions
from tests.docs.documents import ROOT

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
