"""Folders of exported items, as tests make and read them."""

import gzip
import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from data.expressions import Item
from data.jsonl import line_of

__all__ = ["LEGACY", "items_in", "legacy", "sorted_items", "write_items", "write_s3_export"]

LEGACY: Final = Path(__file__).with_name("legacy.jsonl")
"""A table that the first planner wrote: ULIDs, no EntityType, attributes that we do not know, and
beside the teams what an Auth.js adapter keeps."""


def legacy() -> list[Item]:
    """The items of `LEGACY`."""
    return items_in(LEGACY)


def items_in(*files: Path) -> list[Item]:
    """The items of files, in their order."""
    return [json.loads(line)["Item"] for file in files for line in file.read_bytes().splitlines()]


def sorted_items(items: Iterable[Item]) -> list[Item]:
    """The items by their keys, with sets in one order: as they are compared."""
    ordered = sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))
    return [{name: _sorted(value) for name, value in item.items()} for item in ordered]


def _sorted(value: Any) -> Any:
    return {
        kind: sorted(content) if kind in ("SS", "NS", "BS") else content
        for kind, content in value.items()
    }


def write_items(file: Path, items: Iterable[Item]) -> None:
    """A file of lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(map(line_of, items)))


def write_s3_export(
    folder: Path, files: Sequence[bytes], counts: Sequence[int], **summary: object
) -> None:
    """A folder as DynamoDB's export to S3 leaves it, with these contents of its data files."""
    (folder / "data").mkdir(parents=True)
    entries = []
    for number, (content, count) in enumerate(zip(files, counts, strict=True)):
        name = f"{number:04}abc.json.gz"
        packed = gzip.compress(content, 1)
        (folder / "data" / name).write_bytes(packed)
        entries.append(_entry(name, packed, count))
    write_manifests(folder, entries, **summary)


def _entry(name: str, packed: bytes, count: int) -> dict[str, object]:
    return {
        "itemCount": count,
        "md5Checksum": b64encode(hashlib.md5(packed, usedforsecurity=False).digest()).decode(),
        "etag": "af83d6f217c19b8b0fff8023d8ca4716-1",
        "dataFileS3Key": f"prefix/AWSDynamoDB/01693685827463-2d8752fd/data/{name}",
    }


def write_manifests(
    folder: Path, entries: Sequence[Mapping[str, object]], **summary: object
) -> None:
    """Both manifests, in the form that the Developer Guide shows."""
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    (folder / "manifest-files.json").write_text(lines)
    said = {
        "version": "2020-06-30",
        "exportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/planner/export/01693685827463",
        "startTime": "2026-01-04T07:28:34.028Z",
        "endTime": "2026-01-04T07:33:43.897Z",
        "tableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/planner",
        "tableId": "12345a12-abcd-123a-ab12-1234abc12345",
        "exportTime": "2026-01-04T07:28:34.028Z",
        "s3Bucket": "exports",
        "s3Prefix": "prefix",
        "s3SseAlgorithm": "AES256",
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": "prefix/AWSDynamoDB/01693685827463-2d8752fd/manifest-files.json",
        "billedSizeBytes": 0,
        "itemCount": sum(int(str(entry["itemCount"])) for entry in entries),
        "outputFormat": "DYNAMODB_JSON",
        **summary,
    }
    (folder / "manifest-summary.json").write_text(json.dumps(said))
