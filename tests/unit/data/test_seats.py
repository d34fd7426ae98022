"""Large reads: so many at once, in the order in which they came, and no seat is ever lost."""

import asyncio

import pytest

from data.seats import Seats


async def settled(task: asyncio.Task[None]) -> bool:
    """Whether the task is done once it has had every chance."""
    for _ in range(10):
        await asyncio.sleep(0)
    return task.done()


async def test_no_more_are_seated_than_there_are_seats_and_the_next_is_the_first_in_line() -> None:
    seats = Seats(2)
    first, second, third, fourth = (seats.seat("a") for _ in range(4))
    await first.take()
    await second.take()
    waiting = [asyncio.create_task(each.take()) for each in (third, fourth)]
    assert [await settled(each) for each in waiting] == [False, False]
    assert (seats.free, seats.waiting) == (0, 2)
    second.leave()
    assert [await settled(each) for each in waiting] == [True, False]
    assert (seats.free, seats.waiting) == (0, 1)
    first.leave()
    assert await settled(waiting[1])


async def test_one_request_has_one_seat_however_often_it_asks() -> None:
    seats = Seats(1)
    mine = seats.seat("a")
    await asyncio.gather(*(mine.take() for _ in range(3)))
    mine.leave()
    mine.leave()
    await asyncio.wait_for(seats.seat("a").take(), 1)
    late = asyncio.create_task(seats.seat("a").take())
    assert not await settled(late)
    late.cancel()


async def test_who_leaves_while_in_line_leaves_the_seat_to_others() -> None:
    seats = Seats(1)
    taken, gone, next_one = (seats.seat("a") for _ in range(3))
    await taken.take()
    waiting = asyncio.create_task(gone.take())
    assert not await settled(waiting)
    gone.leave()
    taken.leave()
    await asyncio.wait_for(next_one.take(), 1)
    with pytest.raises(RuntimeError):
        await waiting


async def test_who_is_cancelled_in_line_takes_no_seat_with_it() -> None:
    seats = Seats(1)
    taken, gone, next_one = (seats.seat("a") for _ in range(3))
    await taken.take()
    waiting = asyncio.create_task(gone.take())
    assert not await settled(waiting)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gone.leave()
    taken.leave()
    await asyncio.wait_for(next_one.take(), 1)


async def test_nobody_is_seated_after_leaving() -> None:
    seats = Seats(1)
    gone = seats.seat("a")
    gone.leave()
    with pytest.raises(RuntimeError):
        await gone.take()
    await asyncio.wait_for(seats.seat("a").take(), 1)


async def test_teams_take_turns_however_much_one_of_them_asks() -> None:
    seats = Seats(1)
    first = seats.seat("busy")
    await first.take()
    served: list[str] = []

    async def one(team: str) -> None:
        seat = seats.seat(team)
        await seat.take()
        served.append(team)
        seat.leave()

    waiting = [asyncio.create_task(one(team)) for team in ("busy",) * 5 + ("other", "third")]
    assert not await settled(waiting[0])
    first.leave()
    await asyncio.gather(*waiting)
    assert served == ["busy", "other", "third", *("busy",) * 4]
    assert seats.free == 1
