"""Depth, aliases and cost, counted as if every fragment were written out."""

import pytest
from graphql import (
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    OperationDefinitionNode,
    get_introspection_query,
    parse,
    print_ast,
)
from hypothesis import given
from hypothesis import strategies as st

from schema import schema
from schema.measure import LIST_LENGTH, Measure, Measures

CORE = schema._schema
TEN = LIST_LENGTH


def measured(query: str) -> Measure:
    """The measure of the first operation."""
    document = parse(query)
    [first, *_] = (d for d in document.definitions if isinstance(d, OperationDefinitionNode))
    return Measures(CORE, document).of(first)


@pytest.mark.parametrize(
    ("query", "measure"),
    [
        ("{ __typename }", (1, 0, 1)),
        ("{ team { name } }", (2, 0, 2)),
        ("{ a: team { b: name } c: team { name } }", (2, 3, 4)),
        ("{ team { resources { id } } }", (3, 0, 1 + 1 + TEN)),
        ("{ team { resources { id name } } }", (3, 0, 2 + TEN * 2)),
        ("{ team { resources { assignments { id } } } }", (4, 0, 2 + TEN * (1 + TEN))),
        ("{ team { projects { tags links { url } } } }", (4, 0, 2 + TEN * 3)),
        ('{ nodes(ids: ["a", "b", "c"]) { id } }', (2, 0, 1 + 3)),
        ("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", (2, 0, 1 + TEN)),
        ("{ ... { ... on Query { team { id } } } }", (2, 0, 2)),
        ("{ node(id: 1) { ... on Resource { assignments { id } } } }", (3, 0, 2 + TEN)),
        ("{ team { overlaps { endDate assignments { id } } } }", (4, 0, 2 + TEN * (2 + TEN))),
        ("{ ...F ...F } fragment F on Query { a: team { id } }", (2, 2, 4)),
        ("{ team { ...F } } fragment F on Team { x: projects { id } }", (3, 1, 2 + TEN)),
        ("{ team @skip(if: true) { a: id } }", (2, 1, 2)),
        # What does not exist is left to validation, and what is below it still counts.
        ("{ teem { resources { b: id } } ...Nowhere }", (3, 1, 3)),
        ("{ ...F } fragment F on Nothing { a { b } }", (2, 0, 2)),
        ("subscription { a { b } }", (2, 0, 2)),
    ],
)
def test_measure(query: str, measure: tuple[int, int, int]) -> None:
    assert measured(query) == measure


def test_introspection_of_graphiql_is_small() -> None:
    depth, aliases, cost = measured(get_introspection_query(descriptions=True))
    assert (depth, aliases) == (15, 0)
    assert cost < 500


def test_fragments_that_spread_each_other_twice_are_counted_without_being_written_out() -> None:
    levels = 60
    links = [f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(levels)]
    last = f"fragment F{levels} on Query {{ a: __typename }}"
    assert measured("\n".join(["{ ...F0 }", *links, last])) == (1, 2**levels, 2**levels)


@pytest.mark.parametrize(
    "fragments",
    [
        ["fragment A on Query { ...A }"],
        ["fragment A on Query { ...B }", "fragment B on Query { ...A }"],
        ["fragment A on Query { team { ...B } }", "fragment B on Team { ...A }"],
    ],
)
def test_fragment_within_itself_is_refused(fragments: list[str]) -> None:
    """S-05 (d)."""
    with pytest.raises(GraphQLError, match="Cannot spread fragment 'A' within itself"):
        measured("\n".join(["{ ...A }", *fragments]))


NAMES = ("F0", "F1", "F2", "F3")
FIELDS = ("team", "a: team", "resources", "b: resources", "assignments", "id", "nodes")


def _selections(spreads: tuple[str, ...]) -> st.SearchStrategy[str]:
    leaf = st.sampled_from([*FIELDS[-2:], *(f"...{name}" for name in spreads)])
    return st.recursive(
        leaf,
        lambda inner: st.builds(
            lambda head, below: f"{head} {{ {' '.join(below)} }}",
            st.sampled_from([*FIELDS, "... on Team", "..."]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        max_leaves=6,
    )


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document whose fragments spread only those after them."""
    parts = [f"{{ {' '.join(draw(st.lists(_selections(NAMES), min_size=1, max_size=3)))} }}"]
    for place, name in enumerate(NAMES):
        on = draw(st.sampled_from(["Query", "Team", "Resource", "Node"]))
        below = draw(_selections(NAMES[place + 1 :]))
        parts.append(f"fragment {name} on {on} {{ {below} }}")
    return "\n".join(parts)


def _written_out(query: str) -> str:
    """The operation with an inline fragment in place of every spread."""
    document = parse(query)
    fragments = {
        d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)
    }
    text = print_ast(document.definitions[0])
    while "...F" in text:
        for name, fragment in fragments.items():
            inline = (
                f"... on {fragment.type_condition.name.value} {print_ast(fragment.selection_set)}"
            )
            text = text.replace(f"...{name}", inline)
    assert not [d for d in parse(text).definitions if isinstance(d, FragmentSpreadNode)]
    return text


@given(documents())
def test_a_document_measures_as_if_its_fragments_were_written_out(query: str) -> None:
    assert measured(query) == measured(_written_out(query))
