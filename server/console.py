"""What commands say: results to standard output, everything else to standard error."""

from typing import Final, NoReturn

from rich.console import Console
from rich.text import Text

__all__ = ["complain", "err", "out", "say", "stop"]

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
