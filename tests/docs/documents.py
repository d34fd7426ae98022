"""The documents of the repository, and the links in them.

`python -m tests.docs.documents` renews the line numbers of the links that point into the code.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

__all__ = [
    "DOCUMENTS",
    "ROOT",
    "Link",
    "anchors",
    "block_from",
    "code_block",
    "definitions",
    "links",
    "rows",
    "text",
]

ROOT: Final = Path(__file__).parents[2]
DOCUMENTS: Final = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_CODE_LINK = re.compile(r"\[`([\w.]+)`\]\(([^)\s#]+\.py)#L(\d+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Link:
    """A relative link of a document. `fragment` is what follows the `#`, if anything does."""

    document: Path
    label: str
    path: str
    fragment: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}: [{self.label}]({self.path}#{self.fragment})"

    @property
    def target(self) -> Path:
        """The file or folder that is pointed to; the document itself for a bare fragment."""
        return (self.document.parent / self.path).resolve() if self.path else self.document

    @property
    def line(self) -> int | None:
        """The line number of a link into code."""
        return int(self.fragment[1:]) if re.fullmatch(r"L\d+", self.fragment) else None


@cache
def text(path: Path) -> str:
    """The whole text of a document."""
    return path.read_text(encoding="utf-8")


def links(document: Path) -> Iterator[Link]:
    """The relative links of a document, those in code blocks left out."""
    for label, address in _LINK.findall(_FENCED.sub("", text(document))):
        if "://" not in address and not address.startswith("mailto:"):
            path, _, fragment = address.partition("#")
            yield Link(document, label, path, fragment)


def anchors(document: Path) -> set[str]:
    """The fragments of a document's headings, as GitHub makes them."""
    headings = _HEADING.findall(_FENCED.sub("", text(document)))
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def rows(document: Path, names: str = "[A-Z0-9_]+") -> dict[str, list[str]]:
    """The table rows whose first cell is one `NAME` of this form: name -> the other cells."""
    found: dict[str, list[str]] = {}
    for line in text(document).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.fullmatch(f"`({names})`", cells[0]) if line.startswith("|") else None
        if name:
            found[name[1]] = cells[1:]
    return found


def code_block(document: Path, comment: str) -> str:
    """The one block of code whose first line is this comment, in JavaScript or GraphQL."""
    return block_from(document, f"// {comment}", f"# {comment}")


def block_from(document: Path, *lines: str) -> str:
    """The one block of code, or of commands, whose first line is one of these."""
    fenced: list[str] = _FENCED.findall(text(document))
    blocks = [block.split("\n", 1)[1].removesuffix("```") for block in fenced]
    starts = tuple(f"{line}\n" for line in lines)
    [found] = [block for block in blocks if block.startswith(starts)]
    return found


@cache
def definitions(module: Path) -> dict[str, int]:
    """What a Python file defines: `name` or `Class.name` -> line."""
    return dict(_defined(ast.parse(module.read_text(encoding="utf-8")).body, ""))


def _defined(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, int]]:
    for node in body:
        match node:
            case ast.ClassDef(name=name):
                yield prefix + name, node.lineno
                yield from _defined(node.body, f"{prefix}{name}.")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield prefix + name, node.lineno
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name, node.lineno


def main() -> None:
    """Writes the present line number into every link to code."""
    for document in DOCUMENTS:

        def renewed(match: re.Match[str], folder: Path = document.parent) -> str:
            name, path, _ = match.groups()
            line = definitions((folder / path).resolve())[name]
            return f"[`{name}`]({path}#L{line})"

        before = document.read_text(encoding="utf-8")
        after = _CODE_LINK.sub(renewed, before)
        if after != before:
            document.write_text(after, encoding="utf-8")
            print(f"renewed {document.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
