"""The file of trusted documents, and which document a request means."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from server.app import create_app
from server.settings import Settings
from server.trusted_documents import (
    TrustedDocuments,
    TrustedDocumentsError,
    load_trusted_documents,
)
from tests.api_client import SECRET
from tests.limits import LIMITS

TEAM = "query Team { team { name } }"
VIEWER = "query Viewer { viewer { id } }"
NODE = 'query Node { node(id: "1") { id } }'


def load(folder: Path, content: object) -> TrustedDocuments:
    file = folder / "persisted-documents.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return load_trusted_documents(file, LIMITS)


@pytest.mark.parametrize(
    ("query", "document_id", "is_known"),
    [
        (None, "5f1d", True),
        (None, "sha256:5f1d", True),
        (None, "a0:b1", True),
        (None, "9e1d", True),  # with its algorithm in the file only
        (None, "sha256:9e1d", True),
        (TEAM, None, True),
        ("{ viewer { role } }", "5f1d", True),  # the hash is what counts
        (None, "5f1e", False),
        (None, "", False),
        (None, ":", False),
        (TEAM, "5f1e", True),  # by another algorithm, say; the text is trusted
        ("{ team { id } }", "5f1e", False),
        (TEAM + " ", None, False),
        ("{ team { name } }", None, False),
        (None, None, False),
    ],
)
def test_a_document_is_meant_by_its_hash_or_its_text(
    tmp_path: Path, query: str | None, document_id: str | None, is_known: bool
) -> None:
    documents = load(tmp_path, {"5f1d": TEAM, "a0:b1": VIEWER, "sha256:9e1d": NODE})
    assert (documents.find(query, document_id) is not None) is is_known


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "Expecting"),
        ([TEAM], "must be a JSON object"),
        ({"5f1d": {"document": TEAM}}, "must be a JSON object"),
        ({"5f1d": TEAM, "sha256:5f1d": "{ __typename }"}, "a hash twice"),
        ({"5f1d": "query {"}, "5f1d: Syntax Error"),
        ({"5f1d": "{ tean { name } }"}, "5f1d: Cannot query field 'tean'"),
    ],
)
def test_a_file_that_is_of_no_use_is_said_at_start(
    tmp_path: Path, content: object, reason: str
) -> None:
    with pytest.raises(TrustedDocumentsError, match=reason):
        load(tmp_path, content)


def test_a_server_does_not_start_without_the_file_that_is_set(tmp_path: Path) -> None:
    settings = Settings(auth_secret=SecretStr(SECRET), trusted_documents=tmp_path / "none.json")
    with pytest.raises(TrustedDocumentsError, match=r"none\.json"):
        create_app(settings)


@pytest.mark.parametrize("content", [{}, {"5f1d": TEAM}])
def test_introspection_is_not_trusted_unless_it_is_in_the_file(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    query = "{ __schema { queryType { name } } }"
    assert load(tmp_path, content).find(query, None) is None
    known = load(tmp_path, content | {"a0": query}).find(query, None)
    assert known
    assert not known.errors
