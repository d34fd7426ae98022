"""What commands say: results to standard output, everything else to standard error."""

from typing import Final, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

__all__ = ["complain", "counted", "err", "out", "progress", "say", "stop"]

out: Final = Console()
err: Final = Console(stderr=True)


def stop(message: str) -> NoReturn:
    """Ends the command with this message and exit code 1."""
    complain(message)
    raise SystemExit(1)


def say(message: str) -> None:
    err.print(Text(message), soft_wrap=True)


def complain(message: str) -> None:
    err.print(Text(message, "red"), soft_wrap=True)


def counted(count: int, thing: str) -> str:
    """`1 item`, `2 items`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def progress() -> Progress:
    """Bars on standard error, where that is a terminal; else nothing. They go when they end."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        disable=not err.is_terminal,
        transient=True,
        # Results stay on standard output.
        redirect_stdout=False,
    )
