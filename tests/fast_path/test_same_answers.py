"""The fast path can't be told from graphql-core's own execution, whatever is asked and whatever
goes wrong meanwhile."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from data.entities import Role
from schema import schema
from tests.engines import DEEP
from tests.fast_path.documents import requests
from tests.fast_path.faults import faults
from tests.fast_path.runs import Case, prepared, see, touched
from tests.fast_path.team import OTHER, VALUES

pytestmark = pytest.mark.deep

EXAMPLES = 5_000 if DEEP else 250
CORE = schema._schema


@st.composite
def cases(draw: st.DrawFn) -> Case:
    case = Case(
        draw(requests(CORE, VALUES)),
        team=draw(st.sampled_from(["team-1"] * 5 + [OTHER, "team-3"] + ["team-1"] * 5)),
        role=draw(st.sampled_from([Role.MEMBER, Role.VIEWER])),
    )
    # One or the other: an answer that is given up has no errors of its fields.
    match draw(st.sampled_from(["", "faults", "", "budget", "faults", "", "faults"])):
        case "faults":
            return replace(case, faults=draw(faults(touched(case))))
        case "budget":
            return replace(case, objects=draw(st.integers(0, 50)))
    return case


def assert_same(case: Case) -> None:
    document = prepared(case.request)
    assume(not document.errors)
    usual = see(case, document, fast_path=False)
    fast = see(case, document, fast_path=True)
    for sent, expected, found in zip(case.request.sent, usual, fast, strict=True):
        shown = f"{case}\n\nsent: {sent}\n\ngraphql-core:\n{expected}\n\nfast path:\n{found}"
        assert found == expected, shown


@settings(max_examples=EXAMPLES)
@given(cases())
def test_an_answer_is_the_same_with_and_without_the_fast_path(case: Case) -> None:
    assert_same(case)
