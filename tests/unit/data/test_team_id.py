"""What may name a team or a user."""

import pytest

from data.keys import membership_sk, team_pk, user_pk
from data.team_id import MAX_TEAM_ID_LENGTH, MAX_USER_ID_LENGTH, is_team_id, is_user_id

GOOD = [
    "demo",
    "t",
    "018f3f2e-0000-7000-8000-000000000000",
    "a b",
    " a",
    "a:b",
    "équipe",
    "チーム",
    "👩‍🚀",
    "x" * MAX_TEAM_ID_LENGTH,
    "𝒳" * MAX_TEAM_ID_LENGTH,
]
BAD: list[object] = [
    "",
    " ",
    "\u3000",
    "\t",
    "#",
    "A#B",
    "a\n",
    "a\0",
    "a\x7f",
    "a\x85",
    "\ud800",
    "a\udfffb",
    "x" * (MAX_TEAM_ID_LENGTH + 1),
    "x" * 3000,
    None,
    5,
    True,
    b"demo",
    [],
    ["demo"],
    {"a": 1},
]


@pytest.mark.parametrize("value", GOOD)
def test_a_team_id_makes_a_partition_key(value: str) -> None:
    assert is_team_id(value)
    assert team_pk(value) == f"TEAM#{value}"
    assert len(team_pk(value).encode()) <= 2048


@pytest.mark.parametrize("value", BAD)
def test_what_is_no_team_id_never_makes_a_key(value: object) -> None:
    assert not is_team_id(value)
    with pytest.raises(ValueError, match=r"^not a team id$"):
        team_pk(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["u", "auth0|1", "a#b", "ö" * MAX_USER_ID_LENGTH, "𝒳" * 250])
def test_a_user_id_makes_keys_of_a_table_and_of_an_index(value: str) -> None:
    assert is_user_id(value)
    # AWS limits: 1,024 bytes for a sort key, 2,048 for a partition key.
    assert len(membership_sk(value).encode()) <= 1024
    assert len(user_pk(value).encode()) <= 2048


@pytest.mark.parametrize(
    "value",
    ["", " ", "a\nb", "a\0", "\ud800", "x" * (MAX_USER_ID_LENGTH + 1), "𝒳" * 251, None, 5, [], {}],
)
def test_what_could_be_no_key_is_no_user_id(value: object) -> None:
    assert not is_user_id(value)
