"""Objects by global id: opaque, unique over all types, null when not there (C-02)."""

from graphql import (
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    get_named_type,
)

from data.entities import Membership, Role, Team
from data.store import Store
from schema import schema
from tests.api.samples import ERRORS, assignment, gid, project, resource
from tests.api_client import Api, put

FIELDS = {
    "Membership": "userId role joinedAt",
    "Team": "name version createdAt updatedAt",
    "Resource": "name version createdAt updatedAt assignments { id }",
    "Project": "name color description tags links { url } version assignments { id }",
    "Assignment": """startDate endDate endDateExclusive note version resource { id }
        project { id name }""",
}
SPREAD = "__typename id " + " ".join(f"... on {type} {{ {FIELDS[type]} }}" for type in FIELDS)
PLAIN_VALUES = {"Change", "ChangeEdge", "Link", "Overlap", "UserError"}


async def seed(api: Api, store: Store) -> None:
    """A team whose resource, project and assignment all have one and the same raw id."""
    booked = assignment("2024-01-10", 3, id="1", resource="1", project="1")
    await put(store, api.team, [Team(id=api.team, name="A", version=1)])
    member = Membership(team_id=api.team, user_id="user-1", role=Role.ADMIN, joined_at="j")
    await put(store, api.team, [resource("1"), project("1"), booked, member])


async def test_node_is_the_same_object_as_in_the_timeline(api: Api, store: Store) -> None:
    await seed(api, store)
    lists = {
        "members": "Membership",
        "resources": "Resource",
        "projects": "Project",
        "assignments": "Assignment",
    }
    fields = {type: f"__typename id {FIELDS[type]}" for type in FIELDS}
    below = " ".join(f"{name} {{ {fields[type]} }}" for name, type in lists.items())
    team = (await api.data(f"{{ team {{ {fields['Team']} {below} }} }}"))["team"]
    objects = [team.pop(name)[0] for name in lists] + [team]
    node = f"query($i: ID!) {{ node(id: $i) {{ {SPREAD} }} }}"
    for each in objects:
        assert (await api.data(node, i=each["id"]))["node"] == each
    nodes = f"query($i: [ID!]!) {{ nodes(ids: $i) {{ {SPREAD} }} }}"
    assert (await api.data(nodes, i=[each["id"] for each in objects]))["nodes"] == objects
    assert [each["__typename"] for each in objects] == [*lists.values(), "Team"]


async def test_nodes_come_in_the_order_asked_with_null_for_what_is_not_there(
    api: Api, stranger: Api, store: Store
) -> None:
    await seed(api, store)
    await put(store, stranger.team, [resource("theirs")])
    theirs = Membership(team_id=stranger.team, user_id="user-1", role=Role.ADMIN)
    await put(store, stranger.team, [theirs])
    asked = {
        gid("Assignment", "1"): "Assignment",
        gid("Resource", "nobody"): None,
        gid("Project", "1"): "Project",
        "nonsense": None,
        gid("Resource", "theirs"): None,
        gid("Team", stranger.team): None,
        gid("Team", api.team): "Team",
        gid("Membership", "user-1"): None,
        gid("Membership", f"{api.team}#user-1"): "Membership",
        gid("Membership", f"{api.team}#nobody"): None,
        gid("Membership", f"{stranger.team}#user-1"): None,
        gid("Assignment", "nothing"): None,
        gid("Resource", "1"): "Resource",
        "": None,
    }
    ids = [*asked, gid("Project", "1")]  # one of them twice
    answer = await api.data("query($i: [ID!]!) { nodes(ids: $i) { id __typename } }", i=ids)
    types = [*asked.values(), "Project"]
    assert answer["nodes"] == [
        type and {"id": id, "__typename": type} for id, type in zip(ids, types, strict=True)
    ]


async def test_type_and_id_are_unique_over_a_whole_answer(api: Api, store: Store) -> None:
    await seed(api, store)
    answer = await api.data(
        """{ team { id __typename resources { id __typename } projects { id __typename }
        assignments { id __typename } } }"""
    )
    team = answer["team"]
    objects = [team, *team["resources"], *team["projects"], *team["assignments"]]
    assert len({each["id"] for each in objects}) == 4
    assert {each["__typename"] for each in objects} == {
        *("Team", "Resource", "Project", "Assignment")
    }


async def test_mutations_return_the_whole_object_and_the_ids_that_are_gone(
    api: Api, store: Store
) -> None:
    await seed(api, store)
    id = gid("Assignment", "1")
    payload = await api.mutate(
        "updateAssignment",
        f"assignment {{ __typename id {FIELDS['Assignment']} }} {ERRORS}",
        id=id,
        note="x",
    )
    node = await api.data(f'{{ node(id: "{id}") {{ {SPREAD} }} }}')
    assert payload == {"assignment": node["node"], "errors": []}
    gone = await api.mutate(
        "deleteProject", f"deletedProjectId deletedAssignmentIds {ERRORS}", id=gid("Project", "1")
    )
    expected = {"deletedProjectId": gid("Project", "1"), "deletedAssignmentIds": [id], "errors": []}
    assert gone == expected
    answer = await api.data(
        "query($i: [ID!]!) { nodes(ids: $i) { id } }", i=[id, gid("Project", "1")]
    )
    assert answer == {"nodes": [None, None]}


def test_every_object_in_a_list_has_an_id() -> None:
    listed = set()
    for type in schema._schema.type_map.values():
        if type.name.startswith("__") or not isinstance(
            type, (GraphQLObjectType, GraphQLInterfaceType)
        ):
            continue
        for field in type.fields.values():
            inner = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
            named = get_named_type(field.type)
            if isinstance(inner, GraphQLList) and isinstance(
                named, (GraphQLObjectType, GraphQLInterfaceType)
            ):
                listed.add(named.name)
                if named.name not in PLAIN_VALUES:
                    assert str(named.fields["id"].type) == "ID!", named.name
    assert listed >= {"Resource", "Project", "Assignment", "Node", *PLAIN_VALUES}
