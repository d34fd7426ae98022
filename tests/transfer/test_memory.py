"""A large export to S3 is split in little memory: the most that the command itself ever had."""

import gzip
import hashlib
import json
from base64 import b64encode
from pathlib import Path

import pytest

from data.entities import EntityType
from data.items import encode
from data.jsonl import line_of
from tests.api.samples import assignment, project, resource
from tests.engines import DEEP
from tests.transfer.commands import start
from tests.transfer.files import write_manifests

MEGABYTE = 1024 * 1024
PEAK = """
import atexit, sys
from pathlib import Path
status = lambda: Path("/proc/self/status").read_text()
peak = lambda: next(line.split()[1] for line in status().splitlines() if "VmHWM" in line)
atexit.register(lambda: print("peak", peak(), file=sys.stderr))
"""
"""In KiB. The `ru_maxrss` of getrusage would begin with the memory of whoever started it, that of
the tests: Linux keeps it over exec."""


def block() -> bytes:
    """Some thousand lines of all kinds, of which large files are made."""
    items = [encode("t", resource("r")), encode("t", project("p"))]
    items += (encode("t", assignment("2024-01-10", 9, id=f"a{n:05}")) for n in range(4_000))
    items.append({**items[0], "EntityType": {"S": "Else"}, "note": {"S": "語" * 100_000}})
    return b"".join(map(line_of, items))


def write_large(folder: Path, megabytes: int) -> tuple[int, int]:
    """An export whose two data files have so many megabytes together, when they are unpacked.
    Returns how many bytes and items that are."""
    (folder / "data").mkdir(parents=True)
    content = block()
    times = megabytes * MEGABYTE // len(content) // 2 + 1
    # A gzip file may be several one after the other: the block is packed once.
    packed = gzip.compress(content, 1)
    entries = []
    for name in ("a.json.gz", "b.json.gz"):
        with (folder / "data" / name).open("wb") as file:
            digest = hashlib.md5(usedforsecurity=False)
            for _ in range(times):
                file.write(packed)
                digest.update(packed)
        entries.append(
            {
                "itemCount": content.count(b"\n") * times,
                "md5Checksum": b64encode(digest.digest()).decode(),
                "dataFileS3Key": f"AWSDynamoDB/0/data/{name}",
            }
        )
    write_manifests(folder, entries)
    return len(content) * times * 2, content.count(b"\n") * times * 2


@pytest.mark.deep
async def test_large_export_to_s3_is_split_in_less_than_300_megabytes_of_memory(
    tmp_path: Path,
) -> None:
    """A gigabyte in a deep run."""
    megabytes = 1024 if DEEP else 100
    size, count = write_large(tmp_path / "s3", megabytes)
    assert size >= megabytes * MEGABYTE
    process = await start(
        None, "export", tmp_path / "out", "--from-s3-export", tmp_path / "s3", before=PEAK
    )
    _, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert sum(file["bytes"] for file in manifest["files"].values()) == size
    assert sum(file["items"] for file in manifest["files"].values()) == count
    assert manifest["files"].keys() == {
        *(f"{k}.jsonl" for k in (EntityType.RESOURCE, EntityType.PROJECT, EntityType.ASSIGNMENT)),
        "Unknown.jsonl",
    }
    [peak] = [int(line.split()[1]) for line in err.decode().splitlines() if "peak" in line]
    assert peak * 1024 < 300 * MEGABYTE


def test_the_packed_blocks_are_one_file() -> None:
    packed = gzip.compress(block(), 1)
    assert gzip.decompress(packed * 2) == block() * 2
