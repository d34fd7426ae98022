"""The peers serve a part of our schema, and nothing else."""

from pathlib import Path

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    parse,
    validate,
)

from bench.servers import SERVERS
from bench.workloads import WORKLOADS
from schema import sdl

PEERS = Path(__file__).parents[2] / "bench" / "peers"


def members(type: GraphQLNamedType, only: GraphQLNamedType) -> dict[str, str]:
    """The fields of a type that `only` has as well, with their arguments and types as text."""
    if isinstance(type, GraphQLEnumType) and isinstance(only, GraphQLEnumType):
        return dict.fromkeys(type.values, "")
    if isinstance(type, GraphQLInputObjectType) and isinstance(only, GraphQLInputObjectType):
        return {name: f"{field.type} {field.default_value}" for name, field in type.fields.items()}
    if isinstance(type, GraphQLObjectType) and isinstance(only, GraphQLObjectType):
        return {
            name: f"{ {key: str(each.type) for key, each in field.args.items()} } {field.type}"
            for name, field in type.fields.items()
            if name in only.fields
        }
    return {}


def test_every_type_of_the_peers_is_ours() -> None:
    ours, theirs = build_schema(sdl()), build_schema((PEERS / "schema.graphql").read_text())
    compared = 0
    for name, type in theirs.type_map.items():
        if not name.startswith("__"):
            assert members(ours.type_map[name], type) == members(type, type), name
            compared += 1
    assert compared > 10


def test_every_workload_is_an_operation_of_both() -> None:
    schemas: list[GraphQLSchema] = [
        build_schema(sdl()),
        build_schema((PEERS / "schema.graphql").read_text()),
    ]
    for workload in WORKLOADS.values():
        for schema in schemas:
            assert validate(schema, parse(workload.document)) == [], workload.name


def test_every_server_has_its_script_and_a_name_of_its_own() -> None:
    scripts = {server.script for server in SERVERS if server.script}
    assert all((PEERS / script).is_file() for script in scripts)
    assert len({server.name for server in SERVERS}) == len(SERVERS)
