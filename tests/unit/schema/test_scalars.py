"""The scalar Date, as variables, literals and answers have it."""

from datetime import date

import pytest
from graphql import GraphQLError, GraphQLScalarType, parse_value

from data.errors import BadInput
from schema import schema

DATE = schema._schema.type_map["Date"]
assert isinstance(DATE, GraphQLScalarType)
SCALAR: GraphQLScalarType = DATE

BAD = ["20240110", "2024-W02-3", " 2024-01-10", "2024-2-3", "2024-02-30", "0000-01-01", "", "x"]


@pytest.mark.parametrize("text", ["2024-02-29", "0001-01-01", "9999-12-31"])
def test_a_day_is_the_same_text_in_and_out(text: str) -> None:
    day = SCALAR.parse_value(text)
    assert day == date.fromisoformat(text)
    assert SCALAR.parse_literal(parse_value(f'"{text}"')) == day
    assert SCALAR.serialize(day) == text


@pytest.mark.parametrize("text", BAD)
def test_text_that_is_no_day_is_refused_as_variable_and_as_literal(text: str) -> None:
    with pytest.raises(BadInput, match="real day of the form YYYY-MM-DD"):
        SCALAR.parse_value(text)
    with pytest.raises(BadInput, match="real day of the form YYYY-MM-DD"):
        SCALAR.parse_literal(parse_value(f'"{text}"'))


@pytest.mark.parametrize("value", [20240110, 2024.5, True, ["2024-01-10"], {"day": 1}])
def test_what_is_no_text_is_no_day(value: object) -> None:
    with pytest.raises(BadInput, match="is a string of the form YYYY-MM-DD"):
        SCALAR.parse_value(value)


@pytest.mark.parametrize(
    "literal", ["20240110", "1.5", "true", "TODAY", '["2024-01-10"]', "{a: 1}"]
)
def test_a_literal_that_is_no_text_is_no_day(literal: str) -> None:
    with pytest.raises((BadInput, GraphQLError)):
        SCALAR.parse_literal(parse_value(literal))
