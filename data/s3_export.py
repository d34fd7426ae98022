"""DynamoDB's own export to S3, as it lies in a folder: its manifests, and the lines of its files.

Source: "DynamoDB table export output format" in the Developer Guide. Only full exports in
DynamoDB's JSON; an incremental one has changes, not items.
"""

import gzip
import hashlib
import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from data.jsonl import FileError, lines

__all__ = ["DataFile", "S3Export", "lines_of", "read_export"]


@dataclass(frozen=True, slots=True)
class DataFile:
    """One gzipped file of lines. `md5` is that of the file as it lies there, in base64."""

    path: Path
    items: int
    md5: str


@dataclass(frozen=True, slots=True)
class S3Export:
    """A whole export: of which table, as it was when, and in which files."""

    arn: str
    table: str
    moment: str
    files: tuple[DataFile, ...]

    @property
    def bytes(self) -> int:
        return sum(file.path.stat().st_size for file in self.files)


def read_export(folder: Path) -> S3Export:
    """The export in a folder: that of `manifest-summary.json`. Raises FileError."""
    summary = _json(folder / "manifest-summary.json")
    manifest = folder / "manifest-files.json"
    try:
        if summary.get("exportType", "FULL_EXPORT") != "FULL_EXPORT":
            raise FileError(f"{folder} is an incremental export: it has changes, not all items")
        if summary["outputFormat"] != "DYNAMODB_JSON":
            raise FileError(
                f"{folder} is in the format {summary['outputFormat']}; DYNAMODB_JSON is read"
            )
        with _open(manifest) as file:
            entries = [json.loads(line) for _, line in lines(file, manifest.name)]
        files = tuple(_data_file(folder, entry) for entry in entries)
        if len({file.path for file in files}) < len(files):
            raise FileError(f"{manifest} names a file twice")
        total = int(summary["itemCount"])
        export = S3Export(summary["exportArn"], summary["tableArn"], summary["exportTime"], files)
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"the manifests in {folder} are not those of an export: {error!r}"
        ) from None
    if sum(file.items for file in files) != total:
        raise FileError(f"{manifest} does not have the {total} items of manifest-summary.json")
    return export


def _data_file(folder: Path, entry: Mapping[str, Any]) -> DataFile:
    # Only the last part of the key, which also keeps it in this folder.
    path = folder / "data" / PurePosixPath(entry["dataFileS3Key"]).name
    if not path.is_file():
        raise FileError(f"{path} is missing")
    return DataFile(path, int(entry["itemCount"]), entry["md5Checksum"])


def lines_of(file: DataFile, on_read: Callable[[int], object]) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers. `on_read` hears how many bytes of the file were read
    each time. Raises FileError, in the end at the latest, when the file is not what its manifest
    says; what was given before is then not to be relied on."""
    count = 0
    with _open(file.path) as raw:
        counted = _Counted(raw, on_read)
        try:
            with gzip.GzipFile(fileobj=cast("BinaryIO", counted)) as content:
                for each in lines(cast("BinaryIO", content), str(file.path)):
                    count += 1
                    yield each
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FileError(f"{file.path} is damaged: {error}") from None
    if counted.md5 != file.md5:
        raise FileError(f"{file.path} is damaged: its MD5 is {counted.md5}, not {file.md5}")
    if count != file.items:
        raise FileError(f"{file.path} has {count} items, and its manifest says {file.items}")


class _Counted:
    """A file that knows the MD5 of what was read from it."""

    def __init__(self, file: BinaryIO, on_read: Callable[[int], object]) -> None:
        self._file, self._on_read = file, on_read
        self._digest = hashlib.md5(usedforsecurity=False)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._digest.update(data)
        self._on_read(len(data))
        return data

    @property
    def md5(self) -> str:
        return b64encode(self._digest.digest()).decode()


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise FileError(f"{path} can't be read: {error.strerror}") from None


def _json(path: Path) -> Mapping[str, Any]:
    with _open(path) as file:
        try:
            content = json.load(file)
        except ValueError as error:
            raise FileError(f"{path} is no JSON: {error}") from None
    if not isinstance(content, dict):
        raise FileError(f"{path} is no manifest")
    return content
