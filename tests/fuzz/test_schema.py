"""Random operations over the whole schema, by schemathesis, against the server as it runs."""

import random
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
import schemathesis
from graphql import (
    GraphQLID,
    GraphQLObjectType,
    IntValueNode,
    StringValueNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_named_type,
    parse,
    print_ast,
    visit,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.graphql import nodes
from schemathesis.specs.graphql.schemas import GraphQLSchema

from resolvers.global_ids import from_global_id
from schema import schema
from tests.engines import DEEP
from tests.fuzz.conftest import Server

pytestmark = pytest.mark.deep

EXAMPLES = 250 if DEEP else 5
CORE = schema._schema
CREATE = """mutation($resource: ID!, $project: ID!) {
  createAssignment(input: {resourceId: $resource, projectId: $project,
    startDate: "2024-01-10", endDate: "2024-01-12"}) { assignment { id } } }"""
OWNERS = """mutation { createResource(input: {name: "Ada"}) { resource { id } }
  createProject(input: {name: "Bridge", color: "#336699"}) { project { id } } }"""


def root_fields() -> list[tuple[str, str]]:
    types = (CORE.query_type, CORE.mutation_type)
    return [(type.name, field) for type in types if type for field in type.fields]


class Client:
    """Sends documents, and holds every answer against what no answer may be."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._http = httpx.Client(base_url=server.url, headers=server.headers, timeout=20)
        self.carried_out = 0

    def run(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The data of the answer, if there is any."""
        body = {"query": query, "variables": variables}
        response = self._http.post("/graphql", json=body)
        assert response.status_code == 200, response.text
        answer = response.json()
        self._server.assert_harmless(response.status_code, answer, response.text)
        data: dict[str, Any] = answer.get("data") or {}
        self.carried_out += bool(data)
        return data

    def objects(self) -> list[str]:
        """Global ids of a new resource, project and assignment, and the ids within them."""
        made = self.run(OWNERS)
        resource = made["createResource"]["resource"]["id"]
        project = made["createProject"]["project"]["id"]
        variables = {"resource": resource, "project": project}
        assignment = self.run(CREATE, variables)["createAssignment"]["assignment"]["id"]
        ids = [resource, project, assignment]
        return [*ids, *(found[1] for id in ids if (found := from_global_id(id)))]

    def close(self) -> None:
        self._http.close()


class WithIds(Visitor):
    """Puts ids of objects that exist in place of most of those that a document has, so that
    writes are done and not only refused."""

    def __init__(self, types: TypeInfo, ids: list[str], choice: random.Random) -> None:
        super().__init__()
        self._types = types
        self._ids = ids
        self._choice = choice

    def enter_string_value(self, node: StringValueNode, *_: Any) -> StringValueNode | None:
        return self._replaced(node)

    def enter_int_value(self, node: IntValueNode, *_: Any) -> StringValueNode | None:
        return self._replaced(node)

    def _replaced(self, node: StringValueNode | IntValueNode) -> StringValueNode | None:
        type = self._types.get_input_type()
        if type is None or get_named_type(type) is not GraphQLID or self._choice.random() < 0.2:
            return None
        return StringValueNode(value=self._choice.choice(self._ids))


def with_ids(query: str, ids: list[str], choice: random.Random) -> str:
    types = TypeInfo(CORE)
    visitor = TypeInfoVisitor(types, WithIds(types, ids, choice))
    return print_ast(visit(parse(query), visitor))


@pytest.fixture(scope="module")
def generated(server: Server) -> GraphQLSchema:
    """The live schema, as introspection tells it."""
    days = st.dates().map(str) | st.sampled_from(["2024-02-30", "", "9999-12-31", "2024-1-1"])
    schemathesis.graphql.scalar("Date", days.map(nodes.String))
    return schemathesis.graphql.from_url(f"{server.url}/graphql", headers=server.headers)


@pytest.mark.parametrize(("type", "field"), root_fields(), ids=lambda each: each)
def test_no_operation_is_the_servers_own_fault(
    server: Server, generated: GraphQLSchema, type: str, field: str
) -> None:
    client = Client(server)
    ids = client.objects()
    client.carried_out = 0

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(generated[type][field].as_strategy(), st.randoms(use_true_random=False))
    def run(case: "schemathesis.Case[Any]", choice: random.Random) -> None:
        assert isinstance(case.body, str)
        client.run(with_ids(case.body, ids, choice))

    run()
    client.close()
    assert client.carried_out > 0, "no document got past validation"


def test_ids_of_a_document_are_replaced_and_other_strings_are_not() -> None:
    query = 'mutation { updateResource(input: {id: "a", name: "a"}) { errors { code } } }'
    found = with_ids(query, ["b"], random.Random(3))
    assert print_ast(parse(query.replace('id: "a"', 'id: "b"'))) == found


def test_every_root_field_is_tried() -> None:
    assert CORE.query_type
    assert CORE.mutation_type
    tried = {field for _, field in root_fields()}
    assert tried == {*CORE.query_type.fields, *CORE.mutation_type.fields}
    assert all(isinstance(CORE.get_type(type), GraphQLObjectType) for type, _ in root_fields())
