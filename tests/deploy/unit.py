"""infra/planner.service, and the settings that docs/deploy.md gives it."""

import re
from typing import Final

from tests.docs.documents import ROOT, block_from

__all__ = ["DOCUMENT", "INSTALLED", "UNIT", "environment_file", "value", "values"]

UNIT: Final = ROOT / "infra" / "planner.service"
DOCUMENT: Final = ROOT / "docs" / "deploy.md"
INSTALLED: Final = "/opt/planner"


def values(name: str) -> list[str]:
    """What the unit says of it, each time."""
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)


def value(name: str) -> str:
    """What the unit says of it, once."""
    [found] = values(name)
    return found


def environment_file() -> dict[str, str]:
    """The settings of the page."""
    lines = block_from(DOCUMENT, f"# {value('EnvironmentFile')}").splitlines()[1:]
    return dict(line.split("=", 1) for line in lines)
