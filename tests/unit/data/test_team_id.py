"""What may name a team."""

import pytest

from data.keys import team_pk
from data.team_id import MAX_TEAM_ID_LENGTH, is_team_id

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
