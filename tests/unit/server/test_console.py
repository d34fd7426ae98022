"""Bars are for people at a terminal; results are what a pipe gets, whoever looks on."""

import io
from typing import Any

import pytest
from rich.console import Console

import server.console
from server.console import counted, progress


def drawn(monkeypatch: pytest.MonkeyPatch, **options: Any) -> str:
    """What is drawn while a result is printed."""
    screen = io.StringIO()
    monkeypatch.setattr(server.console, "err", Console(file=screen, **options))
    with progress() as bars:
        bars.advance(bars.add_task("items", total=None), 7)
        print("a result")
        bars.refresh()
    return screen.getvalue()


def test_results_stay_on_standard_output_while_bars_are_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = drawn(monkeypatch, force_terminal=True)
    assert "items" in screen
    assert "a result" not in screen
    assert capsys.readouterr().out == "a result\n"


def test_nothing_is_drawn_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drawn(monkeypatch, force_terminal=False) == ""
    assert capsys.readouterr().out == "a result\n"


@pytest.mark.parametrize(("count", "text"), [(0, "0 items"), (1, "1 item"), (2, "2 items")])
def test_one_thing_is_said_in_the_singular(count: int, text: str) -> None:
    assert counted(count, "item") == text
