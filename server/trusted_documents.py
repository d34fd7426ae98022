"""Trusted documents: the only ones that are carried out, where a file of them is set.

The file is what graphql-codegen's client preset or the Relay compiler writes
(`persisted-documents.json`): one JSON object, hash -> document. A request names a document by its
hash, in one of two ways:

    {"documentId": "<hash>"}                                          GraphQL over HTTP, appendix A
    {"extensions": {"persistedQuery": {"sha256Hash": "<hash>"}}}      as Apollo's clients do

or sends the very text that stands in the file. In the file and in a request, the hash may begin
with `sha256:`, as appendix A has it: tools differ.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from schema.execution import Document, prepare
from schema.limits import Limits

__all__ = ["TrustedDocuments", "TrustedDocumentsError", "load_trusted_documents"]

_PREFIX: Final = "sha256:"


class TrustedDocumentsError(Exception):
    """The file can't be used. The message is for people."""


class TrustedDocuments:
    """Documents by their hash and by their text, parsed and validated once."""

    def __init__(self, texts: Mapping[str, str], documents: Mapping[str, Document]) -> None:
        self._by_id = {id.removeprefix(_PREFIX): document for id, document in documents.items()}
        self._by_text = {texts[id]: document for id, document in documents.items()}

    def find(self, query: str | None, document_id: str | None) -> Document | None:
        """The document with this hash, or else with this text; None for any other."""
        id = (document_id or "").removeprefix(_PREFIX)
        return self._by_id.get(id) or self._by_text.get(query or "")


def load_trusted_documents(file: Path, limits: Limits) -> TrustedDocuments:
    """The documents of a file. Raises TrustedDocumentsError when it can't be read, or when one of
    them is not valid: better no start than a page that fails."""
    try:
        texts = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise TrustedDocumentsError(f"{file}: {reason}") from error
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise TrustedDocumentsError(f"{file}: must be a JSON object, hash -> document")
    if len({id.removeprefix(_PREFIX) for id in texts}) < len(texts):
        raise TrustedDocumentsError(f"{file}: has a hash twice, with {_PREFIX} and without")
    documents = {
        # Introspection is among them only if somebody put it there.
        id: prepare(text, limits=limits, introspection=True)
        for id, text in texts.items()
    }
    for id, document in documents.items():
        if document.errors:
            raise TrustedDocumentsError(f"{file}: {id}: {document.errors[0].message}")
    return TrustedDocuments(texts, documents)
