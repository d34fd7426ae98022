"""The schema as a document: stable, committed, described, and kind to clients that cache."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    build_schema,
    get_named_type,
    get_nullable_type,
    introspection_from_schema,
    lexicographic_sort_schema,
    print_schema,
    specified_directives,
)

from schema import schema, sdl
from schema.execution import prepare
from tests.limits import LIMITS

ROOT = Path(__file__).parents[3]
CORE = schema._schema
COMMITTED = build_schema((ROOT / "schema.graphql").read_text(encoding="utf-8"))
TYPES = {name: type for name, type in CORE.type_map.items() if not name.startswith("__")}
OURS = {
    name: type
    for name, type in TYPES.items()
    if name not in {"ID", "String", "Int", "Float", "Boolean"}
}
VALUE_TYPES = {"Change", "ChangeEdge", "Link", "Overlap", "UserError"}


def fields() -> Iterator[tuple[str, str, GraphQLField]]:
    """Every output field: the name of its type, its name, and what it is."""
    for type in OURS.values():
        if isinstance(type, GraphQLObjectType | GraphQLInterfaceType):
            for name, field in type.fields.items():
                yield type.name, name, field


FIELDS = {f"{type}.{name}": field for type, name, field in fields()}


def described() -> Iterator[tuple[str, str | None]]:
    """Where something may have a description, and the one it has."""
    for type in OURS.values():
        yield type.name, type.description
        if isinstance(type, GraphQLEnumType):
            for name, value in type.values.items():
                yield f"{type.name}.{name}", value.description
        if isinstance(type, GraphQLInputObjectType):
            for name, input in type.fields.items():
                yield f"{type.name}.{name}", input.description
    for place, field in FIELDS.items():
        yield place, field.description
        for name, argument in field.args.items():
            yield f"{place}({name})", argument.description


@pytest.mark.parametrize(("place", "description"), list(described()))
def test_everything_has_a_description_that_is_a_sentence(
    place: str, description: str | None
) -> None:
    assert description, place
    assert description == description.strip()
    assert description[-1] in ".`"
    assert not re.search(r"\b(TODO|FIXME)\b", description)


EXPORT = "import sys; from schema import sdl; sys.stdout.buffer.write(sdl().encode())"
OTHER_WAY = "import resolvers.selection, schema.payloads, schema.mutation; " + EXPORT


def test_the_export_is_the_same_on_every_run_and_equals_the_committed_file() -> None:
    runs = [(EXPORT, seed) for seed in range(6)] + [(OTHER_WAY, 0)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
        )
        for code, seed in runs
    ]
    exports = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(runs)
    assert set(exports) == {(ROOT / "schema.graphql").read_bytes()}


def test_the_export_is_sorted_and_ends_in_one_line_break() -> None:
    text = sdl()
    assert text.endswith("}\n")
    assert "\r" not in text
    names = re.findall(r"^(?:type|input|enum|interface|scalar|union) (\w+)", text, re.MULTILINE)
    assert names == sorted(names)
    assert set(names) == set(OURS)


def test_the_export_says_what_a_running_server_says() -> None:
    served = introspection_from_schema(lexicographic_sort_schema(CORE))
    assert introspection_from_schema(lexicographic_sort_schema(COMMITTED)) == served
    assert "__schema" in served


def test_no_directive_of_the_export_is_without_a_definition() -> None:
    known = {directive.name for directive in specified_directives}
    used = set(re.findall(r"^[^\"#]*?@(\w+)", re.sub(r'"""[\s\S]*?"""', "", sdl()), re.MULTILINE))
    assert used == {"specifiedBy"}
    assert {directive.name for directive in CORE.directives} <= known
    assert "strawberry" not in sdl().lower()


LISTS = {
    place: field
    for place, field in FIELDS.items()
    if isinstance(get_nullable_type(field.type), GraphQLList)
}
NULLABLE_ENTRIES = {"Query.nodes"}  # An id that is not there has null in its place (Relay).
NULLABLE_LISTS = {"UserError.field"}  # Null when the error is about the whole input.


@pytest.mark.parametrize("place", sorted(LISTS))
def test_a_list_and_its_entries_are_never_null(place: str) -> None:
    type = LISTS[place].type
    assert isinstance(type, GraphQLNonNull) is (place not in NULLABLE_LISTS)
    list_type = get_nullable_type(type)
    assert isinstance(list_type, GraphQLList)
    assert isinstance(list_type.of_type, GraphQLNonNull) is (place not in NULLABLE_ENTRIES)


def is_global_id(type: GraphQLNamedType) -> bool:
    return (
        isinstance(type, GraphQLObjectType | GraphQLInterfaceType)
        and "id" in type.fields
        and str(type.fields["id"].type) == "ID!"
    )


@pytest.mark.parametrize("place", sorted(LISTS))
def test_an_object_in_a_list_can_be_cached_by_its_id(place: str) -> None:
    type = get_named_type(LISTS[place].type)
    if isinstance(type, GraphQLObjectType | GraphQLInterfaceType):
        assert is_global_id(type) is (type.name not in VALUE_TYPES)
    else:
        assert type.name in {"String", "ID"}


def test_what_is_a_node_can_be_looked_up() -> None:
    node = OURS["Node"]
    assert isinstance(node, GraphQLInterfaceType)
    names = {type.name for type in CORE.get_implementations(node).objects}
    assert names == {"Assignment", "Membership", "Project", "Resource", "Team"}
    assert str(FIELDS["Query.node"].type) == "Node"
    assert str(FIELDS["Query.nodes"].type) == "[Node]!"


MUTATIONS = {place: field for place, field in FIELDS.items() if place.startswith("Mutation.")}


@pytest.mark.parametrize("place", sorted(MUTATIONS))
def test_a_mutation_has_one_input_and_a_payload_with_errors(place: str) -> None:
    field = MUTATIONS[place]
    name = place.removeprefix("Mutation.")
    assert list(field.args) == ["input"]
    assert isinstance(field.args["input"].type, GraphQLNonNull)
    assert str(field.type) == f"{name[0].upper()}{name[1:]}Payload"
    payload = get_named_type(field.type)
    assert isinstance(payload, GraphQLObjectType)
    assert str(payload.fields["errors"].type) == "[UserError!]!"


@pytest.mark.parametrize("kind", ["Resource", "Project", "Assignment"])
def test_a_write_returns_what_it_wrote_and_a_deletion_what_is_gone(kind: str) -> None:
    for verb in ("create", "update"):
        assert str(FIELDS[f"{verb.title()}{kind}Payload.{kind.lower()}"].type) == kind
    assert str(FIELDS[f"Delete{kind}Payload.deleted{kind}Id"].type) == "ID"
    cascades = f"Delete{kind}Payload.deletedAssignmentIds" in FIELDS
    assert cascades is (kind != "Assignment")


INPUTS = {
    f"{type.name}.{name}": field
    for type in OURS.values()
    if isinstance(type, GraphQLInputObjectType)
    for name, field in type.fields.items()
}


def test_no_argument_and_no_input_field_names_a_team() -> None:
    names = {place.rpartition(".")[2] for place in INPUTS}
    names |= {name for field in FIELDS.values() for name in field.args}
    assert names
    assert not [name for name in names if "team" in name.lower() or "tenant" in name.lower()]


def test_an_update_can_leave_every_field_but_the_id_out() -> None:
    updates = {
        place: field
        for place, field in INPUTS.items()
        if re.match(r"Update(Resource|Project|Assignment)Input\.", place)
    }
    assert len(updates) > 12
    for place, field in updates.items():
        assert isinstance(field.type, GraphQLNonNull) is place.endswith(".id"), place


def test_a_window_is_two_days_and_either_may_be_left_out() -> None:
    for type in ("Team", "Resource", "Project"):
        field = FIELDS[f"{type}.assignments"]
        assert {name: str(arg.type) for name, arg in field.args.items()} == {
            "from": "Date",
            "to": "Date",
        }


def test_a_day_is_the_only_scalar_of_ours_and_says_what_specifies_it() -> None:
    scalars = [type for type in OURS.values() if isinstance(type, GraphQLScalarType)]
    assert [type.name for type in scalars] == ["Date"]
    assert (scalars[0].specified_by_url or "").startswith("https://")
    assert '\nscalar Date @specifiedBy(url: "https://' in sdl()


@pytest.mark.parametrize("place", [place for place in FIELDS if place.lower().endswith("date")])
def test_a_day_is_never_a_moment(place: str) -> None:
    assert str(FIELDS[place].type) == "Date!"


def test_the_committed_schema_has_everything_that_the_export_prints() -> None:
    assert print_schema(lexicographic_sort_schema(COMMITTED)).strip() == sdl().strip()


@pytest.mark.parametrize(
    ("query", "introspection", "allowed"),
    [
        ("{__schema{types{name}}}", True, True),
        ("{__schema{types{name}}}", False, False),
        ('{__type(name:"Team"){name}}', False, False),
        ("{team{__typename}}", False, True),
    ],
)
def test_introspection_is_a_switch(query: str, introspection: bool, allowed: bool) -> None:
    document = prepare(query, limits=LIMITS, introspection=introspection)
    assert (not document.errors) is allowed


@pytest.mark.parametrize("query", ["{tean{id}}", "{team{resource{id}}}", "{team{id(x:1)}}"])
def test_without_introspection_no_error_suggests_a_name(query: str) -> None:
    [closed] = prepare(query, limits=LIMITS, introspection=False).errors
    assert "Did you mean" not in closed.message
