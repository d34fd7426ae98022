"""Days are calendar days: inclusive for people, half-open in the table, without a time zone."""

import ast
from datetime import date, timedelta
from pathlib import Path

import pytest

from data.store import Store
from tests.api.samples import ERRORS, assignment, ids, nothing_written, project, resource
from tests.api_client import Api, everything, put

ROOT = Path(__file__).parents[2]
DAYS = "assignment { id startDate endDate endDateExclusive version }"

# First day, last day, the day after: ends of months and years, leap days, days on which clocks
# are moved in Madrid and New York, and the first and last days of all.
SPANS = [
    ("2024-03-31", "2024-03-31", "2024-04-01"),
    ("2024-01-01", "2024-03-31", "2024-04-01"),
    ("2024-02-28", "2024-02-28", "2024-02-29"),
    ("2024-02-29", "2024-02-29", "2024-03-01"),
    ("2023-02-28", "2023-02-28", "2023-03-01"),
    ("2000-02-29", "2000-02-29", "2000-03-01"),
    ("1900-02-28", "1900-02-28", "1900-03-01"),
    ("2023-12-31", "2023-12-31", "2024-01-01"),
    ("2024-04-30", "2024-04-30", "2024-05-01"),
    ("2024-10-27", "2024-10-27", "2024-10-28"),
    ("2026-03-08", "2026-11-01", "2026-11-02"),
    ("1900-01-01", "1900-01-01", "1900-01-02"),
    ("9999-12-30", "9999-12-30", "9999-12-31"),
    ("1900-01-01", "9999-12-30", "9999-12-31"),
]


@pytest.mark.parametrize(("first", "last", "after"), SPANS)
async def test_last_day_is_stored_as_the_day_after_and_comes_back_as_itself(
    api: Api, store: Store, first: str, last: str, after: str
) -> None:
    id = await api.assignment(await api.resource(), await api.project(), first, last)
    item = (await everything(store, api.team))[0]
    assert item["sk"]["S"].startswith(f"ASN#{first}#")
    assert (item["startDate"], item["endDateExclusive"]) == ({"S": first}, {"S": after})
    expected = {"id": id, "startDate": first, "endDate": last, "endDateExclusive": after}
    read = f"assignments(from: $f, to: $t) {{ {' '.join(expected)} }}"
    for window in ((first, first), (last, last)):
        answer = await api.data(
            f"query($f: Date, $t: Date) {{ team {{ {read} }} }}", f=window[0], t=window[1]
        )
        assert answer["team"]["assignments"] == [expected]


async def test_reading_and_writing_back_ten_times_moves_no_day(api: Api, store: Store) -> None:
    owners = await api.resource(), await api.project()
    id = await api.assignment(*owners, "2024-02-29", "2024-03-31")
    for version in range(1, 11):
        answer = await api.data("{ team { assignments { startDate endDate } } }")
        (read,) = answer["team"]["assignments"]
        read |= {"note": f"{version}"}  # or nothing would be written
        payload = await api.mutate("updateAssignment", f"{DAYS} {ERRORS}", id=id, **read)
        assert payload["assignment"] == {
            "id": id,
            "startDate": "2024-02-29",
            "endDate": "2024-03-31",
            "endDateExclusive": "2024-04-01",
            "version": version + 1,
        }
    item = (await everything(store, api.team))[0]
    assert item["endDateExclusive"] == {"S": "2024-04-01"}


async def test_one_day_assignment_is_on_that_day_only(api: Api, store: Store) -> None:
    day = date(2024, 2, 29)
    await put(store, api.team, [assignment(day, 1, id="a"), resource("r"), project("p")])
    for offset in range(-2, 3):
        other = day + timedelta(days=offset)
        for more in ("", "resources { id } projects { id }"):
            answer = await api.data(
                f'{{ team {{ {more} assignments(from: "{other}", to: "{other}") {{ id }} }} }}'
            )
            assert ids(answer["team"]["assignments"]) == ["a"] * (other == day)


@pytest.mark.parametrize("day", ["0001-01-01", "1899-12-31", "9999-12-31"])
async def test_day_out_of_range_is_invalid_to_write_and_good_in_a_window(
    api: Api, store: Store, day: str
) -> None:
    id = await api.assignment(await api.resource(), await api.project(), "2024-01-10", "2024-01-10")
    async with nothing_written(store, api.team):
        for field in ("startDate", "endDate"):
            payload = await api.mutate("updateAssignment", ERRORS, id=id, **{field: day})
            assert [(e["code"], e["field"]) for e in payload["errors"]] == [("INVALID", [field])]
    for first, last in ((day, None), (None, day)):
        touched = first is None if day > "2024" else last is None
        for more in ("", "resources { id }"):
            answer = await api.data(
                f"query($f: Date, $t: Date) {{ team {{ {more} "
                "assignments(from: $f, to: $t) { id } } }",
                f=first,
                t=last,
            )
            assert [each["id"] for each in answer["team"]["assignments"]] == [id] * touched


INSTANTS = {"datetime", "time", "timezone", "tzinfo", "UTC"}


def imported(source: str) -> set[str]:
    """The full names that a module imports."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_only_the_clock_that_stamps_writes_knows_the_time() -> None:
    """No instant is near a day, so no time zone can shift one (P-02)."""
    forbidden = {"datetime", "zoneinfo", *(f"datetime.{name}" for name in INSTANTS)}
    paths = [
        path for name in ("data", "resolvers", "schema") for path in (ROOT / name).glob("*.py")
    ]
    users = {
        path.relative_to(ROOT).as_posix()
        for path in paths
        if imported(path.read_text()) & forbidden
    }
    assert len(paths) > 20
    assert users == {"data/clock.py"}
