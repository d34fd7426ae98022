"""Writing calendars: in a thread, one at a time."""

import asyncio
import threading
from typing import Any, cast

import pytest

from resolvers.calendar import Calendar
from server.calendar import CalendarEndpoint


async def test_who_gives_up_waiting_leaves_the_turn_to_the_thread_that_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_end, begun = threading.Event(), [threading.Event() for _ in range(2)]
    written: list[str] = []

    def write(calendar: Calendar) -> bytes:
        begun[len(written)].set()
        assert may_end.wait(10)
        written.append(calendar.name)
        return calendar.name.encode()

    monkeypatch.setattr("server.calendar.render", write)
    unused = cast("Any", None)
    endpoint = CalendarEndpoint(unused, unused, unused, unused, unused)
    calendars = [Calendar(name=name, color=None, events=()) for name in ("first", "second")]
    first, second = (asyncio.create_task(endpoint._render(each)) for each in calendars)
    await asyncio.to_thread(begun[0].wait, 10)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    for _ in range(10):
        await asyncio.sleep(0)
    assert not begun[1].is_set()
    may_end.set()
    assert await second == b"second"
    assert written == ["first", "second"]
