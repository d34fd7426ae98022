"""The real Auth.js on Node, configured as the documents say."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from data.store import Store
from tests.docs.documents import ROOT, code_block
from tests.npm import Ask, asker, installed
from tests.programs import deployment

AUTH = ROOT / "docs" / "auth.md"

# What SvelteKit is to the documented configuration, for a test without it.
WITHOUT_SVELTEKIT = {
    'import { SvelteKitAuth } from "@auth/sveltekit"': "const SvelteKitAuth = (config) => config",
    '"@auth/sveltekit/providers/github"': '"@auth/core/providers/github"',
    '"$lib/server/database"': '"./database.mjs"',
    "export const { handle, signIn, signOut } =": "export default",
}


@pytest.fixture(scope="session")
def npm() -> Path:
    """The folder with Auth.js, and with the code of the documents as modules."""
    folder = installed(Path(__file__).parent)
    modules = {"database.mjs": code_block(AUTH, "src/lib/server/database.js")}
    for strategy in ("jwt", "database"):
        code = code_block(AUTH, f"src/auth.js, with the strategy {strategy}")
        for sveltekit, plain in WITHOUT_SVELTEKIT.items():
            assert sveltekit in code
            code = code.replace(sveltekit, plain)
        modules[f"auth-{strategy}.mjs"] = code
    for name, code in modules.items():
        (folder / name).write_text(code, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def environment(store: Store, engine: str) -> Mapping[str, str]:
    """What a frontend on the same table has in its environment."""
    return deployment(engine, store.table)


@pytest.fixture(scope="module")
def adapter(npm: Path, environment: Mapping[str, str]) -> Ask:
    """The DynamoDB adapter and `membershipOf`; see adapter.mjs for the operations."""
    return asker(npm, "adapter.mjs", environment)


@pytest.fixture(scope="module")
def frontend(npm: Path, environment: Mapping[str, str]) -> Ask:
    """A whole frontend; see frontend.mjs for the operations."""
    return asker(npm, "frontend.mjs", environment)
