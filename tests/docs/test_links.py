"""Every link of the documents leads somewhere, and a link into code to what it names."""

from pathlib import Path

import pytest

from tests.docs.documents import DOCUMENTS, ROOT, Link, anchors, definitions, links

LINKS = [link for document in DOCUMENTS for link in links(document)]
TO_CODE = [link for link in LINKS if link.line is not None]
ACCESS_PATTERNS = ROOT / "docs" / "access-patterns.md"


@pytest.mark.parametrize("link", LINKS, ids=str)
def test_link_leads_to_something_in_the_repository(link: Link) -> None:
    assert link.target.exists()
    assert link.target.is_relative_to(ROOT)


@pytest.mark.parametrize("link", TO_CODE, ids=str)
def test_link_into_code_leads_to_the_line_that_defines_what_it_names(link: Link) -> None:
    line = definitions(link.target).get(link.label.strip("`"))
    assert link.line == line, f"it is at line {line}: python -m tests.docs.documents renews it"


@pytest.mark.parametrize(
    "link", [link for link in LINKS if link.fragment and link.line is None], ids=str
)
def test_link_to_a_section_leads_to_a_heading(link: Link) -> None:
    assert link.fragment in anchors(link.target)


def test_every_access_pattern_links_to_its_code() -> None:
    pattern_rows = [
        line
        for line in ACCESS_PATTERNS.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and line.split("|")[1].strip().lstrip("#").isdigit()
    ]
    numbers = {int(line.split("|")[1].strip().lstrip("#")) for line in pattern_rows}
    assert numbers == set(range(1, 10))
    assert all(".py#L" in line for line in pattern_rows)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_document_names_no_machine(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert not [name for name in ("root", "home", "work", "Users") if f"/{name}/" in text]
