"""The fast path can't be told from graphql-core's own execution, whatever is asked and whatever
goes wrong meanwhile."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from graphql import Executor
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import schema.fast_path
from data.decoding import SkipCode
from data.entities import Role
from schema import schema as planner
from tests.engines import DEEP
from tests.fast_path.documents import Request, requests
from tests.fast_path.faults import Fault, faults, outcomes
from tests.fast_path.runs import Case, prepared, see, touched
from tests.fast_path.team import OTHER, VALUES

pytestmark = [
    pytest.mark.deep,
    # graphql-core itself gives up awaitables of an answer that has failed or overspent meanwhile.
    # Where one is collected in a frame without builtins (a named tuple is made), Python can't even
    # warn.
    pytest.mark.filterwarnings(
        "ignore:coroutine .* was never awaited",
        "ignore:Exception ignored in. <coroutine:pytest.PytestUnraisableExceptionWarning",
    ),
]

EXAMPLES = 5_000 if DEEP else 200
CORE = planner._schema


@st.composite
def cases(draw: st.DrawFn) -> list[Case]:
    """One request, as it goes well, and with several things that go wrong."""
    usual = Case(
        draw(requests(CORE, VALUES)),
        team=draw(st.sampled_from(["team-1"] * 5 + [OTHER, "team-3"] + ["team-1"] * 5)),
        role=draw(st.sampled_from([Role.MEMBER, Role.VIEWER])),
    )
    once = replace(usual, request=replace(usual.request, sent=usual.request.sent[:1]))
    plans = st.lists(faults(touched(once)), min_size=1, max_size=8)
    budgets = st.lists(st.integers(0, 50), max_size=2)
    return [
        usual,
        *(replace(once, faults=plan) for plan in draw(plans)),
        *(replace(once, objects=objects) for objects in draw(budgets)),
    ]


def assert_same(case: Case) -> None:
    document = prepared(case.request)
    assert not document.errors
    usual = see(case, document, fast_path=False)
    fast = see(case, document, fast_path=True)
    for sent, expected, found in zip(case.request.sent, usual, fast, strict=True):
        shown = f"{case}\n\nsent: {sent}\n\ngraphql-core:\n{expected}\n\nfast path:\n{found}"
        assert found == expected, shown


@pytest.fixture(autouse=True, scope="module")
def small_chunks() -> Iterator[None]:
    """The lists of the team are longer than one chunk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema.fast_path, "_CHUNK", 3)
        yield


@settings(max_examples=EXAMPLES)
@given(cases())
def test_an_answer_is_the_same_with_and_without_the_fast_path(cases: list[Case]) -> None:
    event(f"{'with' if '...F' in cases[0].request.document else 'without'} fragments")
    assume(not prepared(cases[0].request).errors)
    for case in cases:
        assert_same(case)


def test_the_answers_that_are_compared_have_something_of_everything() -> None:
    """Or they would be the same since the store that stands in fails."""
    everything = """{ viewer { teams { name } } team { name members { id } resources { id }
      projects { description links { url } } assignments { note resource { id } } } }"""
    case = Case(Request(everything, [(None, {})]))
    [seen] = see(case, prepared(case.request), fast_path=True)
    answer = json.loads(seen.shown)
    assert "errors" not in answer
    assert [len(each) for each in answer["data"]["team"].values() if type(each) is list] == [
        2,
        3,
        2,
        7,
    ]
    assert touched(case) >= {("Link", "url"), ("AssignmentNode", "note"), ("ResourceNode", "id")}
    assert {each["code"] for each in answer["extensions"]["warnings"]} == {*SkipCode}


def test_a_plain_list_is_completed_without_graphql_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong in it leaves a list to graphql-core, so that a fast path that never works
    gives the right answers too."""

    def unexpected(*_: Any) -> Any:
        raise AssertionError("left to graphql-core")

    plain = """{ team { resources { __typename id version } projects { links { url } tags }
      assignments(to: "2024-02-02") { startDate note resource { name } project { id } } } }"""
    case = Case(Request(plain, [(None, {})]))
    monkeypatch.setattr(Executor, "complete_list_value", unexpected)
    [fast] = see(case, prepared(case.request), fast_path=True)
    [usual] = see(case, prepared(case.request), fast_path=False)
    assert "errors" not in json.loads(fast.shown)
    assert "errors" in json.loads(usual.shown)


LEAVES = """{ team { resources { id name version createdAt } projects { tags description
  links { url label } } assignments { id startDate note version resource { id version updatedAt }
  project { color tags links { url } } } } }"""
NOTHING = """{ team { resources { __typename } projects { __typename links { __typename } }
  assignments { __typename resource { __typename } project { links { __typename } } } } }"""


@pytest.mark.parametrize("document", [LEAVES, NOTHING], ids=["leaves", "nothing"])
@pytest.mark.parametrize("ids", ["", "EIMQUYcgkosw02468x"], ids=["all", "some"])
def test_each_fault_of_each_attribute_of_a_plain_list(document: str, ids: str) -> None:
    case = Case(Request(document, [(None, {})]))
    for place in sorted(touched(case)):
        for outcome in dict.fromkeys(outcomes(place)):
            assert_same(replace(case, faults=[Fault(place, outcome, ids)]))
