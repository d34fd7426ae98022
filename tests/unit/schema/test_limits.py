"""What goes beyond a limit is refused, with its code, and without costing the server anything."""

import gc
import time
import uuid
import weakref
from dataclasses import replace
from typing import Any

import pytest
from graphql import get_introspection_query

from schema.errors import Places, request_error
from schema.execution import _prepared, prepare
from schema.limits import Limits, exceeded_by_variables
from server.settings import Settings
from tests.limits import LIMITS

DEFAULTS = Settings(auth_secret=None).limits

LONGEST_CPU_SECONDS = 0.2
"""The most that a refusal may take (S-05). The slowest of S-05 and S-17 takes a third of it where
the figure was set; an unguarded one takes many times as much."""


def refusals(query: str, limits: Limits) -> list[str]:
    """The codes of the errors of a document."""
    document = prepare(query, limits=limits, introspection=True)
    places = Places(document.node)
    return [request_error(error, places)["extensions"]["code"] for error in document.errors]


@pytest.mark.parametrize(
    ("limit", "most", "within", "beyond"),
    [
        ("tokens", 3, "{ __typename }", "{ __typename __typename }"),
        ("tokens", 3, "{ __typename }" + " " * 46, "{ __typename }" + " " * 47),
        ("depth", 2, "{ team { id } }", "{ team { resources { id } } }"),
        ("aliases", 1, "{ a: team { id } }", "{ a: team { b: id } }"),
        ("cost", 2, "{ team { id } }", "{ team { id name } }"),
        ("list_input", 1, '{ nodes(ids: ["a"]) { id } }', '{ nodes(ids: ["a", "b"]) { id } }'),
        (
            "list_input",
            1,
            'mutation { createResource(input: {name: "x"}) { errors { code } } }',
            'mutation { createResource(input: {name: "x", id: "y"}) { errors { code } } }',
        ),
        (
            "list_input",
            1,
            'query($ids: [ID!]! = ["a"]) { nodes(ids: $ids) { id } }',
            'query($ids: [ID!]! = ["a", "b"]) { nodes(ids: $ids) { id } }',
        ),
    ],
)  # fmt: skip
def test_each_limit_is_what_is_just_allowed(
    limit: str, most: int, within: str, beyond: str
) -> None:
    limits = replace(LIMITS, **{limit: most})
    assert refusals(within, limits) == []
    assert refusals(beyond, limits) == ["LIMIT_EXCEEDED"]
    assert refusals(beyond, LIMITS) == []


def test_every_operation_of_a_document_counts() -> None:
    limits = replace(LIMITS, depth=1)
    assert refusals("query A { __typename } query B { team { id } }", limits) == ["LIMIT_EXCEEDED"]


@pytest.mark.parametrize(
    ("variables", "is_exceeded"),
    [
        ({"a": [1, 2]}, False),
        ({"a": [1, 2, 3]}, True),
        ({"a": {"b": {"c": [1, 2, 3]}}}, True),
        ({"a": [[{"b": [1, 2, 3]}]]}, True),
        ({"a": {"b": 1, "c": 2, "d": 3}}, True),
        ({"a": 1, "b": 2, "c": 3}, False),  # each variable of an operation is one of its tokens
        ({"a": "long enough"}, False),
    ],
)
def test_lists_and_objects_of_variables(variables: dict[str, Any], is_exceeded: bool) -> None:
    found = exceeded_by_variables(variables, replace(LIMITS, list_input=2))
    assert (found is not None) is is_exceeded


def test_introspection_of_graphiql_is_within_the_defaults() -> None:
    query = get_introspection_query(
        specified_by_url=True, directive_is_repeatable=True, schema_description=True,
        input_value_deprecation=True,
    )  # fmt: skip
    assert refusals(query, DEFAULTS) == []


def test_a_whole_timeline_with_relations_both_ways_is_within_the_defaults() -> None:
    of_assignment = "id startDate endDate endDateExclusive note version"
    query = f"""{{ team {{ id name
      resources {{ id name assignments {{ {of_assignment} project {{ id name color }} }} }}
      projects {{ id name color description tags links {{ label url }}
        assignments {{ {of_assignment} resource {{ id name assignments {{ id startDate }} }} }} }}
      assignments {{ {of_assignment} resource {{ id name }} project {{ id name color }} }} }} }}"""
    assert refusals(query, DEFAULTS) == []


def _many(text: str, count: int) -> str:
    return "".join(text.replace("%", str(n)) for n in range(count))


HOSTILE = {
    # S-05 (a) to (g)
    "1000 aliases": "{" + _many("a%: team { id } ", 1_000) + "}",
    "1000 aliases over 50 fragments": "{" + _many("...F% ", 50) + "}"
    + "".join(
        f"fragment F{n} on Query {{ {_many(f'a{n}_%: __typename ', 20)} }} " for n in range(50)
    ),
    "20 aliases spread 50 times": "{" + "...F " * 50 + "} fragment F on Query {"
    + _many("a%: team { id } ", 20) + "}",
    "cycle": "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }",
    "200 deep through fragments": "{ node(id: 1) { ...F0 } }"
    + "".join(
        f"fragment F{n} on Resource {{ assignments {{ resource {{ ...F{n + 1} }} }} }} "
        for n in range(200)
    )
    + "fragment F200 on Resource { id }",
    "100 mutations": "mutation {"
    + _many('m%: createResource(input: {name: "x"}) { errors { code } } ', 100) + "}",
    "20000 tokens": "{" + "id " * 20_000 + "}",
    # S-17
    "3000 times the same field": "{" + "__typename " * 3_000 + "}",
    "200 times 100 inline fragments":
        "{" + ("... on Query {" * 100 + "__typename" + "}" * 100) * 200 + "}",
    # Each is the worst of its kind that 5,000 tokens allow, found by measuring.
    "fragment bomb": "{ ...F0 }"
    + "".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }} " for n in range(40))
    + "fragment F40 on Query { team { id } }",
    "fields that conflict": "{ team {"
    + _many('assignments(from: "%") { id } ', 450) + "} }",
    "many fragments side by side": "{ team {" + _many("...F% ", 500) + "} }"
    + _many("fragment F% on Team { name } ", 500),
    "chain of fragments": "{ ...F0 }"
    + "".join(f"fragment F{n} on Query {{ ...F{n + 1} }} " for n in range(500)),
    "many operations over a chain": _many("query q% { ...F0 } ", 300)
    + "".join(f"fragment F{n} on Query {{ ...F{n + 1} }} " for n in range(200)),
    "unknown fields": "{" + _many("teamxteamx% ", 4_900) + "}",
    "unknown fields with long names": "{" + _many("t" * 9_000 + "% ", 100) + "}",
    "unknown arguments": "{ team { assignments(" + _many("fro% : 1 ", 1_600) + ") { id } } }",
    "unknown input fields":
        "mutation { createResource(input: {" + _many("n%: 1 ", 1_600) + "}) { errors { code } } }",
    "variables that are not used": "query(" + _many("$v%: Int ", 1_200) + ") { __typename }",
    "directives": "{ __typename " + "@include(if: true) " * 700 + "}",
    "lines": "\n" * 480_000 + "{" + _many("a%: node(id: 1) { id } ", 49) + "}",
    "levels of fields": "{a" * 600 + "}" * 600,
    "list in list": "{ nodes(ids: " + "[" * 190 + "]" * 190 + ") { id } }",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_document_is_refused_for_little(name: str) -> None:
    """S-05, S-17: CPU time, the least of three, since other processes cost caches."""
    times = []
    for _ in range(3):
        before = time.process_time()
        document = _prepared(HOSTILE[name], DEFAULTS, False)
        places = Places(document.node)
        errors = [request_error(error, places) for error in document.errors]
        times.append(time.process_time() - before)
    assert errors
    assert {error["extensions"]["code"] for error in errors} <= {"LIMIT_EXCEEDED", "BAD_USER_INPUT"}
    assert min(times) < LONGEST_CPU_SECONDS


class Asker:
    """What a request has, and must not leave behind."""


@pytest.mark.parametrize(
    "query",
    [
        "{ team { name } }",
        "{ team { name }",
        "{ ...A } fragment A on Query { ...A }",
        "{ a: team { nome } }",
        '{ team { assignments(from: "2024-02-30") { id } } }',
        "{" + "a: team {" * 300 + "id" + "}" * 300 + "}",
        _many("a%: __typename ", 60).join("{}"),
    ],
    ids=lambda query: query[:40],
)
def test_what_is_remembered_of_a_document_keeps_nothing_of_who_asked(query: str) -> None:
    """T-01: an error that was raised holds the stack, and so all that the request had."""

    def ask() -> weakref.ref[Asker]:
        asker = Asker()
        prepare(query + f" # {uuid.uuid4()}", limits=DEFAULTS, introspection=False)
        return weakref.ref(asker)

    asked = ask()
    gc.collect()
    assert asked() is None
