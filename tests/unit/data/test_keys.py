"""Keys: their order in a partition, and which ids may stand in them."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.keys import (
    ASSIGNMENT,
    MEMBER,
    META,
    PROJECT,
    RESOURCE,
    after,
    assignment_sk,
    claims_pk,
    feed_key,
    feed_sk,
    feeds_pk,
    is_id,
    membership_sk,
    project_sk,
    resource_sk,
    user_pk,
)
from data.team_id import is_team_id
from tests.unit.data.strategies import ids


def test_prefixes_stand_in_the_order_that_ranges_rely_on() -> None:
    prefixes = [ASSIGNMENT, MEMBER, META, PROJECT, RESOURCE]
    assert prefixes == ["ASN#", "MEMBER#", "META", "PRJ#", "RES#"]
    assert prefixes == sorted(prefixes)


@pytest.mark.deep
@settings(deadline=None)
@given(ids, st.dates())
def test_sort_keys_of_any_ids_stand_in_the_order_of_their_kinds(id: str, day: date) -> None:
    keys = [assignment_sk(day, id), membership_sk(id), META, project_sk(id), resource_sk(id)]
    assert [key.encode() for key in keys] == sorted(key.encode() for key in keys)


def test_keys_are_spelled_as_the_table_has_them() -> None:
    assert assignment_sk(date(2024, 1, 9), "a1") == "ASN#2024-01-09#a1"
    assert assignment_sk(date(33, 4, 3), "a1") == "ASN#0033-04-03#a1"
    assert membership_sk("u1") == "MEMBER#u1"
    assert project_sk("p1") == "PRJ#p1"
    assert resource_sk("r1") == "RES#r1"
    assert user_pk("u1") == "USER#u1"
    assert feeds_pk("t1") == "TEAM#t1#FEEDS"
    assert feed_sk("f1") == "FEED#f1"
    assert feed_key("0f") == "FEED#0f"


@pytest.mark.deep
@settings(deadline=None)
@given(st.dates(), st.dates(), ids, ids)
def test_assignments_stand_in_the_order_of_their_first_days(
    one: date, other: date, id: str, other_id: str
) -> None:
    if one < other:
        assert assignment_sk(one, id) < assignment_sk(other, other_id)
        end = after(f"{ASSIGNMENT}{one.isoformat()}#")
        assert assignment_sk(one, id) < end < assignment_sk(other, other_id)


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        (ASSIGNMENT, "ASN$"),
        (MEMBER, "MEMBER$"),
        (RESOURCE, "RES$"),
        ("ASN#2024-01-10#", "ASN#2024-01-10$"),
    ],
)
def test_a_range_ends_before_the_next_prefix(prefix: str, end: str) -> None:
    assert after(prefix) == end
    assert prefix < prefix + "\U0010ffff" < end


@pytest.mark.deep
@settings(deadline=None)
@given(ids)
def test_the_key_of_any_id_stands_before_the_end_of_its_prefix(id: str) -> None:
    for prefix, following in ((ASSIGNMENT, MEMBER), (MEMBER, META), (PROJECT, RESOURCE)):
        keys = [prefix, prefix + id, after(prefix), following]
        assert [key.encode() for key in keys] == sorted(key.encode() for key in keys)


def test_the_claims_of_a_team_are_in_no_partition_of_a_team() -> None:
    assert claims_pk("t1") == "TEAM#t1#CLAIMS"
    assert not is_team_id("t1#CLAIMS")


@pytest.mark.parametrize(
    ("id", "allowed"),
    [
        ("018f3f2e-0000-7000-8000-000000000000", True),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", True),
        ("1", True),
        ("a:b", True),
        ("~", True),
        ("é", True),
        ("👩‍🚀", True),
        (" ", True),
        ("x" * 1_000, True),
        ("é" * 500, True),
        ("", False),
        ("#", False),
        ("a#b", False),
        ("a#ASSIGNMENT#b", False),
        ("RESOURCE#1", False),
        ("x" * 1_001, False),
        ("x" * 1_100, False),
        ("é" * 501, False),
        ("a\0", False),
        ("a\nb", False),
        ("\x1f", False),
        ("\x7f", False),
        ("\x9f", False),
        ("\ud800", False),
        ("a\udfff", False),
    ],
)
def test_an_id_has_no_separator_and_no_control_character_and_fits_a_key(
    id: str, allowed: bool
) -> None:
    assert is_id(id) is allowed


@pytest.mark.deep
@settings(deadline=None)
@given(st.text(max_size=1_200))
def test_every_id_that_is_allowed_fits_the_longest_sort_key(text: str) -> None:
    if is_id(text):
        assert len(assignment_sk(date.max, text).encode()) <= 1_024
        assert assignment_sk(date.max, text).count("#") == 2
    else:
        assert text == "" or "#" in text or len(text) > 200 or not text.isprintable()
