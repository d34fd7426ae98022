"""infra/Containerfile, built without a container engine.

Each stage is a folder that begins empty; the stages have the same path one after the other, so that
what one copies from another finds its own absolute paths. COPY is a copy below it, and RUN is the
command as written, in a shell whose environment has nothing but PATH, an empty HOME and how pip
reaches its registry. What is translated: the folders of the image that a command names (WORKDIR and
the one that is copied between stages) are those below the stage's folder, and the base image is
this machine with the Python that the tests run on.
"""

import fnmatch
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["Image", "Instruction", "build", "context", "copy_context", "instructions"]

_TIMEOUT: Final = 900


@dataclass(frozen=True, slots=True)
class Instruction:
    """`RUN make` is Instruction("RUN", "make")."""

    name: str
    text: str

    @property
    def exec_form(self) -> list[str]:
        """The words of a command in the form of a JSON array."""
        words: list[str] = json.loads(self.text)
        return words


@dataclass(slots=True)
class Image:
    """What was built: its root folder, and what the file says of how it runs."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    said: dict[str, Instruction] = field(default_factory=dict)

    @property
    def command(self) -> list[str]:
        """What a container runs, with the program at its place in the root folder."""
        words = self.said["ENTRYPOINT"].exec_form + self.said["CMD"].exec_form
        return [self.inside(words[0]), *words[1:]]

    @property
    def health_check(self) -> list[str]:
        words = Instruction("CMD", self.said["HEALTHCHECK"].text.partition("CMD ")[2]).exec_form
        return [self.inside(words[0]), *words[1:]]

    def inside(self, path: str) -> str:
        return f"{self.root}{path}"

    def files(self) -> dict[str, tuple[int, int]]:
        """All files, with what changes when one is written."""
        found = (path for path in self.root.rglob("*") if not path.is_symlink())
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def instructions(file: Path) -> Iterator[Instruction]:
    """The instructions in their order; one that goes over several lines in one."""
    text = file.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield Instruction(name, rest.strip())


def context(source: Path) -> Iterator[Path]:
    """The files below `source` that .dockerignore lets in. The last pattern that fits counts, and
    one that fits a folder is for all that is in it."""
    patterns = [
        line
        for line in (source / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    tops = {pattern[1:].split("/")[0] for pattern in patterns if pattern.startswith("!")}
    for top in sorted(tops):
        start = source / top
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            if path.is_file() and not _is_left_out(path.relative_to(source), patterns):
                yield path.relative_to(source)


def copy_context(source: Path, folder: Path) -> None:
    """Copies the files that .dockerignore lets in."""
    for path in context(source):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / path, target)


def _is_left_out(path: Path, patterns: list[str]) -> bool:
    out = False
    names = [str(path), *(str(parent) for parent in path.parents if parent.name)]
    for pattern in patterns:
        bare = pattern.removeprefix("!").removeprefix("**/")
        anywhere = "**/" in pattern
        tried = [part for name in names for part in ([Path(name).name] if anywhere else [name])]
        if any(fnmatch.fnmatchcase(name, bare) for name in tried):
            out = not pattern.startswith("!")
    return out


def build(file: Path, source: Path, folder: Path) -> Image:
    """Builds in an empty `folder`, with `source` as context. Raises ValueError for an instruction
    that is not known here, and CalledProcessError when one fails."""
    image = Image(folder / "root")
    steps = list(instructions(file))
    moved = {arguments[-2] for arguments in _arguments(steps) if arguments[0] == "--from"}
    stages: dict[str, Path] = {}
    name = ""
    for step in steps:
        match step.name, shlex.split(step.text):
            case "FROM", [_, *stage]:
                if image.root.exists():
                    stages[name] = image.root.rename(folder / f"stage-{len(stages)}")
                image = Image(folder / "root")
                image.root.mkdir()
                name = stage[1] if stage else ""
            case "WORKDIR", [path]:
                image.workdir = path
                Path(image.inside(path)).mkdir(parents=True, exist_ok=True)
            case "ENV", words:
                image.environment |= dict(word.split("=", 1) for word in words)
            case "COPY", [".", "."]:
                copy_context(source, Path(image.inside(image.workdir)))
            case "COPY", [option, path, target] if option.startswith("--from="):
                origin = stages[option.removeprefix("--from=")]
                destination = Path(image.inside(target))
                shutil.copytree(f"{origin}{path}", destination, symlinks=True)
            case "RUN", _:
                _run(step.text, image, folder, moved)
            case "EXPOSE" | "USER" | "STOPSIGNAL" | "HEALTHCHECK" | "ENTRYPOINT" | "CMD", _:
                image.said[step.name] = step
            case _:
                raise ValueError(f"not known here: {step}")
    return image


def _arguments(steps: list[Instruction]) -> Iterator[list[str]]:
    for step in steps:
        if step.name == "COPY":
            words = shlex.split(step.text)
            yield [words[0].partition("=")[0], *words[1:]]


def _run(command: str, image: Image, folder: Path, moved: set[str]) -> None:
    for path in {image.workdir, *moved} - {"/"}:
        command = command.replace(path, image.inside(path))
    home, programs = folder / "home", folder / "programs"
    for each in (home, programs):
        each.mkdir(exist_ok=True)
    for python in ("python", "python3"):
        program = programs / python
        if not program.exists():
            # Not that of this virtual environment, which has packages.
            program.symlink_to(Path(sys.executable).resolve())
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    subprocess.run(
        ["sh", "-c", command],
        cwd=image.inside(image.workdir),
        env={**pip, **image.environment, "PATH": f"{programs}:{os.defpath}", "HOME": str(home)},
        check=True,
        timeout=_TIMEOUT,
    )
    assert list(home.iterdir()) == [], "a step left something in HOME"
