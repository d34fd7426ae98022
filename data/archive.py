"""A folder of exported items: files that grow unit by unit, so that one broken off goes on.

Units are teams, or the data files of an export to S3. What a unit wrote counts from its commit on:
the journal has the sizes of all files at each, and whoever opens the folder again cuts off what
came after. In the end a manifest says what there is, and takes the journal's place.
"""

import fcntl
import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

from data.clock import now
from data.jsonl import FILES, FileError

__all__ = ["MANIFEST", "Archive", "checksum", "read_manifest"]

MANIFEST: Final = "manifest.json"
JOURNAL: Final = "progress.jsonl"
IGNORED: Final = ".gitignore"
"""Makes the whole folder one that git leaves alone: what is in it is for no repository."""
_FORMAT: Final = "resource-planner-export"
_VERSION: Final = 1
_CHUNK: Final = 1024 * 1024


class Archive:
    """The folder while it is written. `items` counts by file. Use as a context: leaving it closes
    the files and no more."""

    def __init__(self, folder: Path, source: str) -> None:
        """Opens a new or empty folder, or one that an export of the same source left unfinished.
        Raises FileError for any other, and for one that another export is writing."""
        self.folder = folder
        self.items: Counter[str] = Counter()
        self._source = source
        self._units: dict[str, Mapping[str, Any]] = {}
        self._files: dict[str, BinaryIO] = {}
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = _lock(folder)
        try:
            self._resume(folder / JOURNAL)
            self._journal = _append(folder / JOURNAL)
        except BaseException:
            os.close(self._lock)
            raise
        if not self._journal.tell():
            with _append(folder / IGNORED) as file:
                if not file.tell():
                    file.write(b"*\n")
            self._note({"source": source, "startedAt": now()})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (*self._files.values(), self._journal):
            file.close()
        os.close(self._lock)

    def is_done(self, unit: str) -> bool:
        """Whether the unit was committed, now or by the run that was broken off."""
        return unit in self._units

    def write(self, name: str, line: bytes) -> None:
        """Appends a line to one of the files."""
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = _append(self.folder / name)
        file.write(line)
        self.items[name] += 1

    def commit(self, unit: str, **facts: Any) -> None:
        """What was written since the last commit stays; `facts` about the unit are kept with it."""
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        self._units[unit] = facts
        self._note({"unit": unit, "bytes": self._sizes(), "items": self.items, "facts": facts})

    def roll_back(self) -> None:
        """Drops what was written since the last commit."""
        for file in self._files.values():
            file.close()
        self._files.clear()
        self._resume(self.folder / JOURNAL)

    def units(self, fact: str) -> list[str]:
        """The units with a fact that is true of them."""
        return [unit for unit, facts in self._units.items() if facts.get(fact)]

    def facts(self, fact: str) -> list[Any]:
        """What the units have as this fact, those that have it."""
        return [facts[fact] for facts in self._units.values() if fact in facts]

    def finish(self, **facts: Any) -> Path:
        """Writes the manifest, and removes the journal. Returns the manifest's path."""
        self.roll_back()
        manifest = {
            "format": _FORMAT,
            "version": _VERSION,
            "source": self._source,
            "startedAt": self._started,
            "finishedAt": now(),
            **facts,
            "files": {
                name: {"items": count, "bytes": path.stat().st_size, "sha256": checksum(path)}
                for name, count in sorted(self.items.items())
                for path in [self.folder / name]
            },
        }
        path = self.folder / MANIFEST
        new = path.with_suffix(".new")
        with _append(new) as file:
            file.truncate(0)
            file.write(json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n")
            os.fsync(file.fileno())
        new.rename(path)
        self._journal.close()
        (self.folder / JOURNAL).unlink()
        return path

    def _resume(self, journal: Path) -> None:
        entries = _entries(journal)
        if (self.folder / MANIFEST).exists():
            raise FileError(f"{self.folder} has a finished export; take another folder")
        if not entries:
            ours = (JOURNAL, IGNORED)
            others = [path.name for path in self.folder.iterdir() if path.name not in ours]
            if others:
                raise FileError(f"{self.folder} has {min(others)} in it; take an empty folder")
            journal.unlink(missing_ok=True)
            self._started = now()
            return
        first, *commits = entries
        if first["source"] != self._source:
            raise FileError(
                f"{self.folder} has the beginning of an export of something else "
                f"({first['source']}); take another folder"
            )
        self._started = first["startedAt"]
        self._units = {entry["unit"]: entry["facts"] for entry in commits}
        last = commits[-1] if commits else {"bytes": {}, "items": {}}
        self.items = Counter(last["items"])
        for name in FILES:
            path = self.folder / name
            if path.exists():
                if path.stat().st_size < last["bytes"].get(name, 0):
                    raise FileError(f"{path} is shorter than it was; take another folder")
                os.truncate(path, last["bytes"].get(name, 0))
                if name not in self.items:
                    path.unlink()

    def _sizes(self) -> dict[str, int]:
        return {name: (self.folder / name).stat().st_size for name in self.items}

    def _note(self, entry: Mapping[str, Any]) -> None:
        self._journal.write(json.dumps(entry).encode() + b"\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())


def _entries(journal: Path) -> list[dict[str, Any]]:
    """The entries of a journal; what was being written when it broke off is none."""
    if not journal.exists():
        return []
    text = journal.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        os.truncate(journal, len(whole))
    return [json.loads(line) for line in whole.splitlines()]


def _lock(folder: Path) -> int:
    """A descriptor of the folder that nobody else has locked; the lock ends with it, and so with
    the process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise FileError(f"{folder} is being written by another export") from None
    return descriptor


def _append(path: Path) -> BinaryIO:
    # What is in them is nobody else's business.
    return open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600))


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_manifest(folder: Path) -> Mapping[str, Any] | None:
    """The manifest of a finished export, or None where there is none. Raises FileError for an
    unfinished export, and for what is no manifest."""
    path = folder / MANIFEST
    if not path.exists():
        # Beside a manifest it is nothing but what was to be removed next.
        if (folder / JOURNAL).exists():
            raise FileError(f"{folder} has an unfinished export; run `planner export` again first")
        return None
    try:
        manifest: Mapping[str, Any] = json.loads(path.read_bytes())
        if (manifest["format"], manifest["version"]) == (_FORMAT, _VERSION):
            return manifest
    except (ValueError, KeyError, TypeError):
        pass
    raise FileError(f"{path} is no manifest of an export that this version can read")
