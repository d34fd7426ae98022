"""Files we use but don't carry: pinned npm packages, fetched once and verified.

`npm pack` brings the tarball from whatever registry the user has configured; what it brings counts
only if its SHA-512 is the one written here.
"""

import base64
import enum
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer
from rich.console import Console

__all__ = [
    "DYNAMODB_LOCAL",
    "GRAPHIQL",
    "REACT",
    "REACT_DOM",
    "AssetError",
    "Package",
    "fetch",
    "is_fetched",
]

MANIFEST = ".manifest.json"
NPM_TIMEOUT = 600
NETWORK_ERRORS = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
)


class AssetError(Exception):
    """A package couldn't be had, or wasn't what it should be. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Package:
    """One npm package. `files` are paths inside it; one that ends with `/` means the whole folder.

    `sha512` is the tarball's, in base64, as npm publishes it (its `dist.integrity`).
    """

    name: str
    version: str
    sha512: str
    files: tuple[str, ...]
    skipped_suffixes: tuple[str, ...] = ()

    def folder(self, home: Path) -> Path:
        """Where its files are once fetched."""
        return home / "assets" / f"{self.name}-{self.version}"

    def wants(self, path: str) -> bool:
        """Whether `path`, a file inside the package, is one of those listed."""
        if path.endswith(self.skipped_suffixes):
            return False
        return any(
            path.startswith(file) if file.endswith("/") else path == file for file in self.files
        )


GRAPHIQL = Package(
    "graphiql",
    "3.9.0",
    "rJYFlHdBbug9+YbFSwRVvgfPjCayC7wHecZkx/qB4XLuQPFQZw/yB9pmHFtOJV6RiNBBHro3u1GdocKa3YcGRA==",
    ("graphiql.min.js", "graphiql.min.css", "LICENSE"),
)
REACT = Package(
    "react",
    "18.3.1",
    "wS+hAgJShR0KhEvPJArfuPVN1+Hz1t0Y6n5jLrGQbkb4urgPE/0Rve+1kMB1v/oWgHgm4WIcV+i7F2pTVj+2iQ==",
    ("umd/react.production.min.js", "LICENSE"),
)
REACT_DOM = Package(
    "react-dom",
    "18.3.1",
    "5m4nQKp+rZRb09LNH59GM4BxTh9251/ylbKIbpe7TpGxfJ+9kv6BLkLBXIjjspbgbnIBNqlI23tRnTWT0snUIw==",
    ("umd/react-dom.production.min.js", "LICENSE"),
)
DYNAMODB_LOCAL = Package(
    "amplify-dynamodb-simulator",
    "2.9.30",
    "xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ==",
    ("emulator/",),
    # Libraries for other systems than this one, 8 MB of them.
    {"linux": (".dll", ".dylib"), "darwin": (".dll", ".so"), "win32": (".so", ".dylib")}.get(
        sys.platform, ()
    ),
)


def is_fetched(package: Package, home: Path) -> bool:
    """Whether the whole package is below `home`: every file, with its size."""
    folder = package.folder(home)
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        return bool(manifest["sha512"] == package.sha512) and all(
            (folder / path).stat().st_size == size for path, size in manifest["files"].items()
        )
    except (OSError, ValueError, KeyError):
        return False


def fetch(package: Package, home: Path) -> Path:
    """The folder that has `package`, fetched with npm if it isn't there yet.

    Raises AssetError: npm is missing, there is no network, or the tarball is not the pinned one.
    """
    target = package.folder(home)
    if is_fetched(package, home):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that one rename, which is atomic, puts it in place.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as name:
        work = Path(name)
        tarball = _npm_pack(package, work)
        _verify(tarball, package)
        unpacked = work / "unpacked"
        _unpack(tarball, package, unpacked)
        _put_in_place(unpacked, target, spare=work / "replaced")
    return target


def _npm_pack(package: Package, work: Path) -> Path:
    spec = f"{package.name}@{package.version}"
    npm = shutil.which("npm")
    if npm is None:
        raise AssetError(f"{spec} comes by npm, which is not installed: install Node.js with npm")
    command = [npm, "pack", spec, "--pack-destination", str(work), "--ignore-scripts"]
    # One quick retry: npm's own three, up to a minute apart, look like a hang when offline.
    command += ["--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
    try:
        console = Console(stderr=True)
        console.print(f"Fetching {spec}, once; on a slow line this takes a while.", highlight=False)
        with console.status("npm pack"):
            subprocess.run(  # noqa: S603 - npm with arguments of this module only
                command, check=True, capture_output=True, text=True, timeout=NPM_TIMEOUT
            )
    except subprocess.TimeoutExpired:
        raise AssetError(f"npm took over {NPM_TIMEOUT} s to fetch {spec}") from None
    except subprocess.CalledProcessError as failed:
        said = str(failed.stderr).strip()
        if any(code in said for code in NETWORK_ERRORS):
            raise AssetError(f"no network: npm could not reach its registry for {spec}") from None
        raise AssetError(f"npm could not fetch {spec}:\n{said[-1000:]}") from None
    return next(work.glob("*.tgz"))


def _verify(tarball: Path, package: Package) -> None:
    with tarball.open("rb") as file:
        digest = hashlib.file_digest(file, "sha512").digest()
    found = base64.b64encode(digest).decode()
    if found != package.sha512:
        raise AssetError(
            f"{package.name}@{package.version} is not the pinned package, so it was thrown away: "
            f"its SHA-512 is {found}, expected {package.sha512}"
        )


def _unpack(tarball: Path, package: Package, into: Path) -> None:
    """Write the listed files and a manifest of them. Owners, modes and links are not taken over."""
    sizes: dict[str, int] = {}
    with tarfile.open(tarball, "r:gz") as archive:
        for path, member in _files(archive, package):
            source = archive.extractfile(member)
            if source is None:
                raise AssetError(f"{member.name} in {package.name} is not a plain file")
            file = into / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with source, file.open("wb") as sink:
                shutil.copyfileobj(source, sink)
            sizes[path] = file.stat().st_size
    absent = [file for file in package.files if not any(path.startswith(file) for path in sizes)]
    if absent:
        raise AssetError(f"{package.name}@{package.version} lacks {', '.join(absent)}")
    manifest = {"sha512": package.sha512, "files": sizes}
    (into / MANIFEST).write_text(json.dumps(manifest, indent=1))


def _files(archive: tarfile.TarFile, package: Package) -> Iterator[tuple[str, tarfile.TarInfo]]:
    """Each wanted member with its path inside the package; refuses an archive that reaches out."""
    for member in archive:
        parts = PurePosixPath(member.name).parts
        if member.name.startswith("/") or ".." in parts or "\\" in member.name:
            raise AssetError(f"{package.name} has an entry outside of its folder: {member.name}")
        # npm's tarballs have one top folder, mostly `package/`.
        path = "/".join(parts[1:])
        if not package.wants(path) or member.isdir():
            continue
        if not member.isreg():
            raise AssetError(f"{member.name} in {package.name} is not a plain file")
        yield path, member


def _put_in_place(unpacked: Path, target: Path, *, spare: Path) -> None:
    try:
        if target.exists():
            target.rename(spare)
        unpacked.rename(target)
    except OSError:
        # Somebody else put it there meanwhile, as whole and as verified as ours.
        if not target.exists():
            raise


class Bundle(enum.StrEnum):
    """What the command line can fetch."""

    GRAPHIQL = "graphiql"
    DYNAMODB_LOCAL = "dynamodb-local"


BUNDLES = {
    Bundle.GRAPHIQL: (GRAPHIQL, REACT, REACT_DOM),
    Bundle.DYNAMODB_LOCAL: (DYNAMODB_LOCAL,),
}


def _command(
    bundle: Annotated[Bundle, typer.Argument(help="What to fetch.")],
    home: Annotated[
        Path, typer.Option(envvar="PLANNER_HOME", help="The folder that local data lives in.")
    ] = Path(".planner"),
) -> None:
    """Fetch pinned npm packages and verify them. Does nothing when they are there."""
    try:
        for package in BUNDLES[bundle]:
            print(fetch(package, home))
    except AssetError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(1) from None


if __name__ == "__main__":
    typer.run(_command)
