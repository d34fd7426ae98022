"""What lives as long as the process is bounded (T-01): a walk of the source for what could grow."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("data", "resolvers", "schema", "server")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

CACHES = {"alru_cache", "cache", "cachedmethod", "lru_cache"}
GROWING = {"Counter", "OrderedDict", "WeakKeyDictionary", "bytearray", "defaultdict", "deque"}
GROWING |= {"dict", "list", "set"}
DISPLAYS = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
WRITES = {"add", "append", "extend", "setdefault", "update"}

BOUNDED = {
    "data/attributes.py: day_of": "at most 10,000; tests/unit/data/test_items.py",
    "data/attributes.py: is_owner_id": "at most 10,000; tests/unit/data/test_items.py",
    "data/expressions.py: _names_in": "at most 256; tests/unit/data/test_expressions.py",
    "data/loader.py: _planned": "at most 1,000; tests/unit/data/test_loader.py",
    "data/partition.py: _logged": "cleared at _MAX_LOGGED; tests/unit/data/test_loader.py",
    "data/signing.py: _signing_key": "at most 4; tests/unit/data/test_signing.py",
    "server/claims.py: self._decoded": "_REMEMBERED_TOKENS; tests/unit/server/test_session.py",
    "server/telemetry.py: _pseudonym": "at most 10,000; tests/api/test_operation_lines.py",
    "schema/fast_path.py: _attribute": "as many as fields; tests/unit/schema/test_fast_path.py",
    "schema/execution.py: _remembered": "at most _REMEMBERED_DOCUMENTS; tests/api/test_tenancy.py",
}
"""What may grow: how it is bounded, and the test that shows it."""


def found(source: str) -> Iterator[str]:
    """The names of what a module keeps for good and could fill: caches anywhere, and collections
    of the module or of a class that are not declared Final or named as a constant."""
    tree = ast.parse(source)
    yield from _caches(tree)
    for body in [tree.body, *(n.body for n in ast.walk(tree) if isinstance(n, ast.ClassDef))]:
        for node in body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                name = ast.unparse(targets[0])
                is_constant = name.isupper() or name == "__all__" or name == "model_config"
                if _can_grow(node.value) and not is_constant:
                    yield name


def _caches(tree: ast.AST) -> Iterator[str]:
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if _cached(decorator):
                    yield node.name
                inside |= {id(each) for each in ast.walk(decorator)}
        elif isinstance(node, ast.Assign) and _cached(node.value):
            yield ast.unparse(node.targets[0])
            inside |= {id(each) for each in ast.walk(node.value)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and id(node) not in inside and _name(node.func) in CACHES:
            yield f"line {node.lineno}"


def _cached(node: ast.expr) -> bool:
    return any(_name(each) in CACHES for each in ast.walk(node))


def _can_grow(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return _name(node.func) in GROWING
    return isinstance(node, DISPLAYS)


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_whatever_could_grow_for_good_is_known_and_bounded() -> None:
    growing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in found(path.read_text(encoding="utf-8"))
    }
    assert growing == BOUNDED.keys(), "bound it, test that, and enter it in BOUNDED"


def test_every_bound_is_shown_by_a_test_that_names_it() -> None:
    for place, why in BOUNDED.items():
        test = ROOT / why.split("; ")[1]
        assert place.split(": ")[1] in test.read_text(encoding="utf-8"), place


def test_a_constant_is_never_written_to() -> None:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for target in _written(node):
                assert not (isinstance(target, ast.Name) and target.id.isupper()), (
                    f"{path}: {ast.unparse(node)}"
                )


def _written(node: ast.AST) -> list[ast.expr]:
    """The collections that a statement or a call changes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return [node.func.value] if node.func.attr in WRITES else []
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    return [target.value for target in targets if isinstance(target, ast.Subscript)]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("@cache\ndef f(x): ...", ["f"]),
        ("@functools.lru_cache(maxsize=None)\ndef f(x): ...", ["f"]),
        ("@lru_cache\nasync def f(x): ...", ["f"]),
        ("f = lru_cache(8)(g)", ["f"]),
        ("def f():\n  return cache(g)", ["line 2"]),
        ("class A:\n  @cache\n  def f(self): ...", ["f"]),
        ("_seen = set()", ["_seen"]),
        ("_seen: dict[str, int] = {}", ["_seen"]),
        ("class A:\n  seen: ClassVar = defaultdict(list)", ["seen"]),
        ("_SEEN = {}\ndef f():\n  x = {}", []),
        ("x = (1, 2)\ny = frozenset()\n_ONES: Final = {1: 2}", []),
    ],
)
def test_the_walk_is_not_blind(source: str, names: list[str]) -> None:
    assert list(found(source)) == names
