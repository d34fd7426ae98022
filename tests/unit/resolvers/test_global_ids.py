"""Global ids: opaque, reversible, and nothing else is one."""

from base64 import b64encode, urlsafe_b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.entities import EntityType
from resolvers.global_ids import (
    from_global_id,
    membership_id,
    raw_id,
    split_membership_id,
    to_global_id,
    to_global_ids,
)
from tests.unit.data.strategies import ids, team_ids, user_ids

# A membership has no id of its own.
types = st.sampled_from([each for each in EntityType if each is not EntityType.MEMBERSHIP])


def encoded(text: str | bytes) -> str:
    """As `to_global_id` would write it."""
    raw = text.encode() if isinstance(text, str) else text
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


@pytest.mark.deep
@settings(deadline=None)
@given(types, ids)
def test_a_global_id_gives_back_its_type_and_its_id(type: EntityType, id: str) -> None:
    assert from_global_id(to_global_id(type, id)) == (type, id)


@pytest.mark.deep
@settings(deadline=None)
@given(types, ids, types, ids)
def test_two_objects_never_share_a_global_id(
    type: EntityType, id: str, other_type: EntityType, other: str
) -> None:
    same = (type, id) == (other_type, other)
    assert (to_global_id(type, id) == to_global_id(other_type, other)) is same


@pytest.mark.deep
@settings(deadline=None)
@given(types, ids)
def test_a_global_id_needs_no_escape_in_a_url(type: EntityType, id: str) -> None:
    text = to_global_id(type, id)
    assert text.isascii()
    assert text.replace("-", "").replace("_", "").isalnum()


@pytest.mark.deep
@settings(deadline=None)
@given(st.text(max_size=40) | st.binary(max_size=30).map(encoded))
def test_any_text_is_a_global_id_in_its_one_spelling_or_none_at_all(text: str) -> None:
    found = from_global_id(text)
    assert found is None or to_global_id(*found) == text


@pytest.mark.deep
@settings(deadline=None)
@given(types, types, ids)
def test_a_global_id_of_another_type_has_no_raw_id(
    wanted: EntityType, type: EntityType, id: str
) -> None:
    assert raw_id(wanted, to_global_id(type, id)) == (id if wanted is type else None)


@pytest.mark.deep
@settings(deadline=None)
@given(team_ids, user_ids)
def test_the_id_of_a_membership_gives_back_its_team_and_its_user(team: str, user: str) -> None:
    raw = raw_id(
        EntityType.MEMBERSHIP, to_global_id(EntityType.MEMBERSHIP, membership_id(team, user))
    )
    assert raw is not None
    assert split_membership_id(raw) == (team, user)


def test_a_global_id_is_written_like_this() -> None:
    assert to_global_id(EntityType.RESOURCE, "r1") == "UmVzb3VyY2U6cjE"
    assert from_global_id("UmVzb3VyY2U6cjE") == (EntityType.RESOURCE, "r1")


@pytest.mark.parametrize("id", ["a:b", ":", "~", " ", "é", "👩‍🚀", "x" * 1_000])
def test_an_id_written_elsewhere_may_have_any_characters_of_a_key(id: str) -> None:
    assert raw_id(EntityType.PROJECT, to_global_id(EntityType.PROJECT, id)) == id


R1 = to_global_id(EntityType.RESOURCE, "r1")
R12 = to_global_id(EntityType.RESOURCE, "r12")


@pytest.mark.parametrize(
    "text",
    [
        # no type of ours, or no id
        encoded("a:b"),
        encoded("Query:1"),
        encoded("Mutation:1"),
        encoded("Node:r1"),
        encoded("resource:r1"),
        encoded("RESOURCE:r1"),
        encoded(" Resource:r1"),
        encoded("Resource"),
        encoded("Resource:"),
        encoded(":r1"),
        encoded(":"),
        encoded(""),
        # an id that could not be a key
        encoded("Resource:a#b"),
        encoded("Resource:#"),
        encoded("Membership:user-1"),
        encoded("Membership:#user-1"),
        encoded("Membership:demo#"),
        encoded("Membership:demo#a\nb"),
        encoded("Membership:demo#" + "x" * 256),
        encoded("Resource:a\0"),
        encoded("Resource:a\nb"),
        encoded("Resource:" + "x" * 1_001),
        # no base64, or base64 of no text
        "",
        "=",
        "====",
        "A",
        "!",
        "r1",
        "RES#r1",
        "Resource:r1",
        "018f3f2e-0000-7000-8000-000000000000",
        encoded(b"Resource:\xff"),
        encoded(b"Resource:\xed\xa0\x80"),
        # another spelling of one that is good
        R12 + "=",
        R12 + "==",
        R1 + "=",
        R1 + "===",
        R1 + "\n",
        " " + R1,
        R1[:4] + " " + R1[4:],
        R1[:4] + "\n" + R1[4:],
        R1[:4] + "." + R1[4:],
        R1[:-1] + chr(ord(R1[-1]) + 1),
        b64encode("Resource:\xfb\xff~~?>".encode()).decode(),
        # not ASCII
        R1[:-1] + "\uff25",
        "é",
        "\ud800",
        R1 + "\u200b",
    ],
)
def test_what_was_never_made_is_no_global_id(text: str) -> None:
    assert from_global_id(text) is None
    for type in EntityType:
        assert raw_id(type, text) is None


@given(
    st.lists(st.uuids().map(str), max_size=20)
    | st.lists(st.text(st.characters(codec="utf-8"), min_size=1), max_size=6)
)
def test_many_at_once_are_the_same_as_one_by_one(raw: list[str]) -> None:
    for type in EntityType:
        assert to_global_ids(type, raw) == [to_global_id(type, id) for id in raw]
