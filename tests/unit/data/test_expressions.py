"""Expressions and the names they use."""

import pytest

from data.expressions import Expression, _names_in, n, names_of, s


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ((), {}),
        ((None, None), {}),
        (("", None), {}),
        (("#sk = :sk",), {"#sk": "sk"}),
        (("#pk = :pk AND begins_with(#sk, :sk)",), {"#pk": "pk", "#sk": "sk"}),
        (("#b = :b", None, "#a, #b"), {"#a": "a", "#b": "b"}),
        (("SET #name = :set_name REMOVE #note",), {"#name": "name", "#note": "note"}),
        (("attribute_not_exists(#deletingAt)",), {"#deletingAt": "deletingAt"}),
        (("#id = :id AND #idle = :idle",), {"#id": "id", "#idle": "idle"}),
        ((":id = :other",), {}),
    ],
)
def test_every_name_that_is_used_is_defined_once_and_no_other(
    texts: tuple[str | None, ...], names: dict[str, str]
) -> None:
    assert names_of(*texts) == names


def test_names_of_few_texts_are_remembered_and_belong_to_who_asks() -> None:
    names_of("#pk = :pk")["#spoilt"] = "spoilt"
    assert names_of("#pk = :pk") == {"#pk": "pk"}
    for number in range(300):
        names_of(f"#a{number}")
    assert _names_in.cache_info().currsize == 256


def test_names_stand_in_a_fixed_order_so_that_a_retry_sends_the_same_bytes() -> None:
    assert list(names_of("#z = :z", "#a = :a OR #m = :m")) == ["#a", "#m", "#z"]


def test_joined_expressions_keep_their_meaning_and_their_values() -> None:
    one = Expression("#a = :a OR #b = :b", {":a": s("x"), ":b": n(2)})
    other = Expression("#c = :c", {":c": n(-3)})
    assert one & other == Expression(
        "(#a = :a OR #b = :b) AND (#c = :c)", {":a": s("x"), ":b": n(2), ":c": n(-3)}
    )


def test_joined_expressions_may_share_a_placeholder_only_for_one_value() -> None:
    one = Expression("#a = :a", {":a": s("x")})
    assert (one & Expression("#b = :a", {":a": s("x")})).values == {":a": s("x")}
    with pytest.raises(ValueError, match="two values"):
        one & Expression("#b = :a", {":a": s("y")})


def test_values_have_the_wire_form_of_dynamodb() -> None:
    assert s("") == {"S": ""}
    assert n(0) == {"N": "0"}
    assert n(-12) == {"N": "-12"}
