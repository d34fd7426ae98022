"""A difference between two answers is found wherever it is."""

import json

import pytest

from bench.equality import Different, check_same

RIGHT = {"data": {"team": {"resources": [{"id": "a", "name": "Ada", "note": None}]}}}
CREATED = {"data": {"create": {"assignment": {"id": "abc", "createdAt": "2026-01-01"}, "n": 1}}}


def check(mine: object, other: object, *, is_write: bool = False) -> None:
    check_same(json.dumps(mine).encode(), json.dumps(other).encode(), "peer", is_write=is_write)


def changed(old: str, new: str, answer: object = RIGHT) -> object:
    text = json.dumps(answer)
    assert old in text
    return json.loads(text.replace(old, new))


def test_the_order_of_members_and_white_space_are_no_difference() -> None:
    check_same(b'{"data":{"a":1,"b":2}}', b'{"data": {"b": 2, "a": 1}}\n', "peer", is_write=False)


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('"Ada"', '"Bob"', r"\$.data.team.resources\[0\].name"),
        ('"Ada"', "null", r"\$.data.team.resources\[0\].name"),
        ('"id": "a"', '"id": "b"', r"\$.data.team.resources\[0\].id"),
        (', "note": null', "", r"\$.data.team.resources\[0\].note"),
        ('{"id"', '{"more": 1, "id"', r"\$.data.team.resources\[0\].more"),
        ('"resources": [', '"resources": [1, ', r"\$.data.team.resources:"),
    ],
)
def test_a_difference_is_said_with_its_place(old: str, new: str, where: str) -> None:
    with pytest.raises(Different, match=f"peer answers differently at {where}"):
        check(RIGHT, changed(old, new))


def test_true_is_not_one() -> None:
    with pytest.raises(Different):
        check({"data": {"a": 1}}, {"data": {"a": True}})


def test_what_is_written_has_an_id_and_times_of_its_own() -> None:
    other = changed("2026-01-01", "2027-12-31", changed('"abc"', '"xyz"', CREATED))
    check(CREATED, other, is_write=True)
    with pytest.raises(Different):
        check(CREATED, other)
    with pytest.raises(Different):
        check(CREATED, changed('"abc"', "null", CREATED), is_write=True)
    with pytest.raises(Different):
        check(CREATED, changed('"n": 1', '"n": 2', CREATED), is_write=True)


@pytest.mark.parametrize("answer", [{"data": None}, {"data": {"a": 1}, "errors": [{}]}])
def test_two_servers_that_fail_alike_are_not_equal(answer: object) -> None:
    with pytest.raises(Different):
        check(answer, answer)
