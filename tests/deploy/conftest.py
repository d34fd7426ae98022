"""What is installed once, for all tests of it."""

import pytest

from tests.deploy.containerfile import Image, build
from tests.deploy.running import ROOT


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The container's image, as folders: a clean install of the server."""
    file = ROOT / "infra" / "Containerfile"
    return build(file, ROOT, tmp_path_factory.mktemp("image"))
