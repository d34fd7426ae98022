"""What is imported together, what counts as the same, and what of the files is wanted."""

import pytest

from data import imports
from data.expressions import AttributeValue, Item, s
from data.import_files import Entry, Selection
from data.imports import batches, is_same


def entry(sk: str, team: str = "t", size: int = 100) -> Entry:
    return Entry({"pk": s(f"TEAM#{team}"), "sk": s(sk)}, size)


def sizes(entries: list[Entry]) -> list[int]:
    return [len(batch) for batch in batches(entries)]


def test_a_batch_fits_one_transaction() -> None:
    assert sizes([entry(f"ASN#{n}") for n in range(70)]) == [33, 33, 4]
    assert sizes([entry(f"ASN#{n}", size=400_000) for n in range(9)]) == [7, 2]
    assert sizes([entry("ASN#1", size=9_000_000)]) == [1]
    assert sizes([]) == []


def test_a_batch_is_of_one_team_and_has_no_key_twice() -> None:
    assert sizes([entry("ASN#1"), entry("ASN#2"), entry("ASN#1", "u"), entry("ASN#2")]) == [2, 1, 1]
    assert sizes([entry("ASN#1"), entry("ASN#2"), entry("ASN#1")]) == [2, 1]


def test_all_entries_are_in_a_batch_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "_PER_TRANSACTION", 3)
    entries = [entry(f"ASN#{n}") for n in range(8)]
    assert [item for batch in batches(entries) for item in batch] == [e.item for e in entries]


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ({"N": "1"}, {"N": "1.0"}, True),
        ({"N": "1E2"}, {"N": "100"}, True),
        ({"N": "1"}, {"N": "2"}, False),
        ({"N": "1"}, {"S": "1"}, False),
        ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}, True),
        ({"SS": ["a"]}, {"SS": ["b"]}, False),
        ({"NS": ["1", "2"]}, {"NS": ["2.0", "1"]}, True),
        ({"BS": ["AQI=", "AwQ="]}, {"BS": ["AwQ=", "AQI="]}, True),
        ({"L": [{"N": "1"}, {"S": "a"}]}, {"L": [{"N": "1.00"}, {"S": "a"}]}, True),
        ({"L": [{"S": "a"}, {"S": "b"}]}, {"L": [{"S": "b"}, {"S": "a"}]}, False),
        ({"M": {"a": {"SS": ["x", "y"]}}}, {"M": {"a": {"SS": ["y", "x"]}}}, True),
        ({"M": {"a": {"S": "x"}}}, {"M": {}}, False),
        ({"BOOL": True}, {"BOOL": False}, False),
        ({"N": "98765432109876543210.1"}, {"N": "98765432109876543210.2"}, False),
    ],
)
def test_items_are_compared_as_dynamodb_keeps_them(
    a: AttributeValue, b: AttributeValue, same: bool
) -> None:
    assert is_same({"x": a}, {"x": b}) is same
    assert is_same({"x": a}, {"x": a})
    assert not is_same({"x": a}, {"x": a, "y": a})


def item(pk: str, sk: str, kind: str | None = None, **more: AttributeValue) -> Item:
    typed: Item = {} if kind is None else {"EntityType": s(kind)}
    return {"pk": s(pk), "sk": s(sk), **typed, **more}


def test_only_items_of_the_teams_that_are_named_are_wanted() -> None:
    selection = Selection({"a"})
    wanted = [
        item("TEAM#a", "RES#1", "Resource"),
        item("TEAM#a#CLAIMS", "ASN#1", "Claim"),
        item("TEAM#a", "X"),
    ]
    assert [selection.take(each) for each in wanted] == wanted
    for other in ("TEAM#ab", "TEAM#b#CLAIMS", "USER#a", "TEAM#", "a"):
        assert selection.take(item(other, "RES#1")) is None
    assert selection.left_out == {"belong to other teams": 2, "belong to no team": 3}
    assert Selection().take(item("TEAM#b", "RES#1")) is not None


def test_a_copy_has_the_plan_under_the_new_id_and_nobody_in_it() -> None:
    selection = Selection({"a"}, rename="b")
    listed = {"id": s("a"), "GSI1PK": s("TEAMS"), "GSI1SK": s("TEAM#a")}
    assert selection.take(item("TEAM#a", "META", "Team", name=s("A"), **listed)) == item(
        "TEAM#b", "META", "Team", name=s("A"), id=s("b"), GSI1PK=s("TEAMS"), GSI1SK=s("TEAM#b")
    )
    moved = selection.take(item("TEAM#a", "RES#1", "Resource", id=s("1"), rate={"N": "7"}))
    assert moved == item("TEAM#b", "RES#1", "Resource", id=s("1"), rate={"N": "7"})
    for pk, kind in (("TEAM#a", "Membership"), ("TEAM#a#CLAIMS", "Claim"), ("TEAM#a", None)):
        assert selection.take(item(pk, "x", kind)) is None
    assert selection.left_out == {"do not go into a copy": 3}
