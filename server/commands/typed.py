"""How commands read what is typed: typer's own classes, with plainer words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

__all__ = ["App"]


class App(typer.Typer):
    """A group of commands. Help shows no value beside flags, since they take none; and a value that
    does not fit is told of without the name of the exception that said so."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=_Group, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """The decorator that adds a command."""
        return super().command(name, cls=_Command, **settings)


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _shown(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _plainly():
            return super().parse_args(ctx, args)


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _shown(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _plainly():
            return super().parse_args(ctx, args)


def _shown(params: list[Any]) -> list[Any]:
    for param in params:
        if isinstance(param, TyperOption) and param.is_flag:
            param.metavar = ""
    return params


@contextmanager
def _plainly() -> Iterator[None]:
    try:
        yield
    except typer.BadParameter as error:
        error.message = error.message.removeprefix("Value error, ")
        raise
