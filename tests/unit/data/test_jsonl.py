"""Items in files: lossless, and what is none is named by its line."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import jsonl
from data.entities import EntityType
from data.expressions import Item, s
from data.jsonl import FILES, UNKNOWN, FileError, file_of, head_of, item_of, line_of, lines

KEYS = {"pk": s("TEAM#t"), "sk": s("RES#1")}

texts = st.text(max_size=8)
numbers = st.sampled_from(["0", "-7", "98765432109876543210.0123456789", "1E-130"])
scalars: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(lambda value: {"S": value}, texts),
    st.builds(lambda value: {"N": value}, numbers),
    st.sampled_from([{"B": "AQI="}, {"BOOL": False}, {"NULL": True}]),
    st.builds(lambda values: {"SS": values}, st.lists(texts, min_size=1, unique=True)),
    st.builds(lambda values: {"NS": values}, st.lists(numbers, min_size=1, unique=True)),
    st.just({"BS": ["AQI=", "AwQ="]}),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.builds(lambda items: {"L": items}, st.lists(inner, max_size=3)),
        st.builds(lambda items: {"M": items}, st.dictionaries(texts, inner, max_size=3)),
    ),
    max_leaves=8,
)


@given(st.dictionaries(texts, values, max_size=5))
def test_an_item_goes_out_and_in_again_without_a_change(attributes: Item) -> None:
    item: Item = {**attributes, **KEYS}
    line = line_of(item)
    assert line.count(b"\n") == 1
    assert item_of(line) == item


def test_a_lone_surrogate_goes_out_and_in_again() -> None:
    item = {**KEYS, "name": s("a\ud800b")}
    assert item_of(line_of(item)) == item
    assert head_of(line_of(item)).sk == head_of(line_of(KEYS)).sk


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, f"{kind}.jsonl") for kind in EntityType),
        (None, UNKNOWN),
        ("resource", UNKNOWN),
        ("../../etc/passwd", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_each_known_type_has_its_file_and_all_else_has_one(kind: str | None, name: str) -> None:
    assert file_of(kind) == name
    assert name in FILES


def test_what_others_refer_to_comes_first() -> None:
    order = [FILES.index(f"{kind}.jsonl") for kind in ("Resource", "Project", "Assignment")]
    assert order == sorted(order)
    assert FILES.index("Assignment.jsonl") < FILES.index("Claim.jsonl")
    assert FILES[0] == "Deletion.jsonl"


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b'{"item": {}}',
        b'{"Item": []}',
        b'{"Item": {"pk": {"S": "TEAM#t"}}}',
        b'{"Item": {"pk": {"S": ""}, "sk": {"S": "RES#1"}}}',
        b'{"Item": {"pk": {"N": "1"}, "sk": {"S": "RES#1"}}}',
        b'{"Item": {"pk": "TEAM#t", "sk": "RES#1"}}',
        b'{"Item": {"pk": {"S": "\xff"}, "sk": {"S": "RES#1"}}}',
        b'{"Keys": {"pk": {"S": "TEAM#t"}}, "NewImage": {}}',
    ],
)
def test_a_line_that_is_no_item_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"item|keys"):
        item_of(line)


@pytest.mark.parametrize(
    "value",
    ["x", {}, {"S": 1}, {"N": 1}, {"X": "1"}, {"S": "a", "N": "1"}, {"SS": "a"}, {"NS": [1]},
     {"L": [{"S": 1}]}, {"M": {"a": "b"}}, {"M": []}, {"BOOL": "true"}, None, {"N": "one"},
     {"N": "NaN"}, {"B": "*"}, {"NULL": False}, {"SS": []}, {"SS": ["a", "a"]}, {"NS": ["one"]},
     {"BS": ["*"]}],
    ids=repr,
)  # fmt: skip
def test_a_value_that_dynamodb_would_refuse_is_named(value: object) -> None:
    line = json.dumps({"Item": {**KEYS, "odd": value}}).encode()
    with pytest.raises(ValueError, match="'odd' is no value"):
        item_of(line)


@pytest.mark.parametrize(("depth", "is_one"), [(32, True), (33, False)])
def test_a_value_is_nested_no_deeper_than_dynamodb_takes(depth: int, is_one: bool) -> None:
    value = '{"L":[' * depth + '{"S":"a"}' + "]}" * depth
    line = f'{{"Item":{{"pk":{{"S":"TEAM#t"}},"sk":{{"S":"RES#1"}},"odd":{value}}}}}'.encode()
    if is_one:
        assert line_of(item_of(line)) == line + b"\n"
    else:
        with pytest.raises(ValueError, match="'odd' is no value"):
            item_of(line)


def test_a_line_that_is_nested_beyond_any_parser_is_no_item() -> None:
    line = b'{"Item":{"pk":{"S":"TEAM#t"},"sk":{"S":"RES#1"},"odd":' + b"[" * 100_000
    for read in (item_of, head_of):
        with pytest.raises(ValueError, match="not an item"):
            read(line)


def test_lines_have_numbers_and_empty_ones_count_but_are_none() -> None:
    assert list(lines(io.BytesIO(b"a\n\n \nb"), "f")) == [(1, b"a\n"), (4, b"b")]


def test_a_line_longer_than_any_item_is_not_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jsonl, "_MAX_LINE", 10)
    file = io.BytesIO(b"short\n" + b"x" * 1000)
    with pytest.raises(FileError, match="f, line 2: longer than any item"):
        list(lines(file, "f"))
    assert file.tell() < 30
