"""The one custom scalar: a calendar day."""

from datetime import date

import strawberry

from data.days import parse_day
from data.errors import BadInput

__all__ = ["DATE"]


def _parse(value: object) -> date:
    if not isinstance(value, str):
        raise BadInput("a Date is a string of the form YYYY-MM-DD")
    try:
        return parse_day(value)
    except ValueError:
        raise BadInput("a Date is a real day of the form YYYY-MM-DD") from None


DATE = strawberry.scalar(
    name="Date",
    description="A calendar day, exactly `YYYY-MM-DD`. It has no time and no time zone.",
    specified_by_url="https://scalars.graphql.org/andimarek/local-date.html",
    serialize=date.isoformat,
    parse_value=_parse,
)
