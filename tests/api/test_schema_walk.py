"""The walk of the schema (tests/api/schema_walk.py) overlooks no slot, and says what it lacks."""

import pytest
from graphql import build_schema, parse, validate

from schema import schema
from tests.api.schema_walk import Operation, Slot, slots

TOY = build_schema(
    """
    type Query { thing(id: ID!, name: String): Thing  things(of: [[ID!]!], secret: Int): [Thing] }
    type Thing { part(ids: [ID]): Part  id: ID }
    type Part { whole: Thing  id: ID }
    type Mutation { change(input: Change!, also: ID): Thing  idle(name: String): Thing }
    input Change { id: ID!  inner: Inner  many: [Inner!]!  salary: Int }
    input Inner { id: ID  name: String }
    """
)


def test_every_slot_of_a_schema_is_found_wherever_it_is() -> None:
    assert {str(slot) for slot in slots(TOY)} == {
        "Query.thing(id)",
        "Query.things(of[])",
        "Thing.part(ids[])",
        "Mutation.change(input.id)",
        "Mutation.change(input.inner.id)",
        "Mutation.change(input.many[].id)",
        "Mutation.change(also)",
    }


def test_a_slot_that_is_new_has_to_be_entered() -> None:
    with pytest.raises(AssertionError, match=r"say in SLOTS what Thing\.part\(ids\[\]\) takes"):
        _ = Slot("Thing", "part", "ids[]").kind


def test_an_operation_has_every_argument_and_lists_have_two() -> None:
    operation = Operation(TOY, "Query", "thing")
    assert validate(TOY, parse(operation.document)) == []
    assert operation.variables(lambda slot, _: str(slot)) == {
        "id": "Query.thing(id)",
        "name": "New",
    }
    filled = Operation(schema._schema, "Mutation", "updateAssignments").variables(
        lambda slot, index: f"{slot.path} {index}"
    )
    assert [patch["projectId"] for patch in filled["input"]["patches"]] == [
        "input.patches[].projectId 0",
        "input.patches[].projectId 1",
    ]


@pytest.mark.parametrize(
    ("parent", "field", "lacking"),
    [
        ("Query", "things", "add a value for `secret` or Query.things(secret) to VALUES"),
        ("Mutation", "change", "add a value for `salary` or Mutation.change(input.salary) to"),
        ("Thing", "part", "say in REACHED how a query gets to a Thing"),
    ],
)
def test_what_has_no_sample_fails_the_walk_and_says_what_to_add(
    parent: str, field: str, lacking: str
) -> None:
    operation = Operation(TOY, parent, field)
    with pytest.raises(AssertionError) as failure:
        _ = operation.document, operation.variables(lambda *_: "x")
    assert lacking in str(failure.value)


@pytest.mark.parametrize("slot", list(slots(schema._schema)), ids=str)
def test_each_operation_of_the_schema_is_valid_and_complete(slot: Slot) -> None:
    operation = Operation(schema._schema, slot.parent, slot.field)
    assert validate(schema._schema, parse(operation.document)) == []
    seen = set()

    def id_of(at: Slot, _: int) -> str:
        seen.add(at)
        return at.kind

    operation.variables(id_of)
    assert slot in seen
