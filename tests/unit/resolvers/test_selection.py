"""What an operation asks for -> the slices of its one read."""

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

import pytest

import resolvers.selection
from data.cascade import Cascades
from data.days import Window
from data.entities import EntityType, Role
from data.errors import BadInput, Unavailable
from data.loader import Part, PartitionLoader
from data.slices import (
    AssignmentsSlice,
    ItemSlice,
    MembersSlice,
    ProjectsSlice,
    ResourcesSlice,
    Slice,
    TeamSlice,
)
from resolvers.context import RequestContext
from resolvers.global_ids import to_global_id
from resolvers.selection import window
from resolvers.session import Session
from schema.execution import Answer, carry_out, prepare
from tests.limits import LIMITS, budget
from tests.unit.data.memory_store import TEAM, MemoryStore

JAN, FEB, MAR = date(2024, 1, 1), date(2024, 2, 1), date(2024, 3, 1)
R, P, T, A = ResourcesSlice(), ProjectsSlice(), TeamSlice(), AssignmentsSlice()
M = MembersSlice()


def asn(first: date | None = None, last: date | None = None) -> AssignmentsSlice:
    return AssignmentsSlice(Window(first, last))


class Recorder(PartitionLoader):
    """Writes down what would be read; nothing is."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store.as_store, TEAM, on_left_behind=lambda _: None)
        self.reads: list[set[Slice]] = []

    async def load(self, slices: Collection[Slice]) -> Mapping[Slice, Part]:
        self.reads.append(set(slices))
        raise Unavailable("nothing is read here")


class Operation:
    """One operation carried out up to its read."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        store = self.store.as_store
        session = Session(user_id="u1", team_id=TEAM, role=Role.MEMBER)
        self.context = RequestContext(session, store, Cascades(store), budget())
        self.loader = Recorder(self.store)
        self.context.loader = self.loader

    async def __call__(
        self, query: str, variables: Mapping[str, Any] | None = None, name: str | None = None
    ) -> Answer:
        document = prepare(query, limits=LIMITS, introspection=True)
        assert not document.errors
        return await carry_out(
            document,
            self.context,
            variables=variables,
            operation_name=name,
            correlation_id="c",
            limits=LIMITS,
        )


@pytest.fixture
async def operation() -> Operation:
    # Not a plain function: the loader looks for the event loop when it is made.
    return Operation()


Table = list[tuple[str, dict[str, Any], set[Slice]]]

PLAIN: Table = [
    ("{team{id}}", {}, set()),
    ("{team{__typename}}", {}, set()),
    ("{team{name}}", {}, {T}),
    ("{team{id createdAt}}", {}, {T}),
    ("{team{updatedAt version}}", {}, {T}),
    ("{team{resources{id}}}", {}, {R}),
    ("{team{resources{name version}}}", {}, {R}),
    ("{team{projects{links{url} tags}}}", {}, {P}),
    ("{team{assignments{id note startDate}}}", {}, {A}),
    ("{team{assignments{resourceId projectId}}}", {}, {A}),
    ("{team{name resources{id} projects{id} assignments{id}}}", {}, {T, R, P, A}),
    ("{team{members{id role}}}", {}, {M}),
    ("{team{name members{userId}}}", {}, {T, M}),
    ("{viewer{id role} team{projects{id}}}", {}, {P}),
]

NESTED: Table = [
    ("{team{assignments{resource{name}}}}", {}, {A, R}),
    ("{team{assignments{project{name}}}}", {}, {A, P}),
    ("{team{assignments{resource{name} project{name}}}}", {}, {A, R, P}),
    ("{team{resources{assignments{id}}}}", {}, {R, A}),
    ("{team{projects{assignments{id}}}}", {}, {P, A}),
    ("{team{resources{assignments{project{name}}}}}", {}, {R, A, P}),
    ("{team{projects{assignments{resource{assignments{project{id}}}}}}}", {}, {P, A, R}),
    (
        """{team{
            assignments(from: "2024-01-01", to: "2024-02-01") {
                resource { assignments(from: "2024-02-01") { id } }
                project { assignments(to: "2024-03-01") { id } }
            }
        }}""",
        {},
        {asn(JAN, FEB), asn(FEB), asn(None, MAR), R, P},
    ),
]

WINDOWS: Table = [
    ('{team{assignments(from:"2024-01-01",to:"2024-02-01"){id}}}', {}, {asn(JAN, FEB)}),
    ('{team{assignments(from:"2024-01-01"){id}}}', {}, {asn(JAN)}),
    ('{team{assignments(to:"2024-02-01"){id}}}', {}, {asn(None, FEB)}),
    ('{team{assignments(from:"2024-01-01",to:"2024-01-01"){id}}}', {}, {asn(JAN, JAN)}),
    ("{team{assignments(from:null,to:null){id}}}", {}, {A}),
    ("{team{overlaps{startDate}}}", {}, {A, R}),
    ('{team{overlaps(to:"2024-02-01"){assignments{project{id}}}}}', {}, {asn(None, FEB), R, P}),
    (
        "query($f:Date,$t:Date){team{assignments(from:$f,to:$t){id}}}",
        {"f": "2024-01-01", "t": "2024-02-01"},
        {asn(JAN, FEB)},
    ),
    (
        "query($f:Date,$t:Date){team{assignments(from:$f,to:$t){id}}}",
        {"f": None},
        {A},
    ),
    (
        'query($f:Date="2024-01-01"){team{assignments(from:$f){id}}}',
        {},
        {asn(JAN)},
    ),
    (
        'query($f:Date="2024-01-01"){team{assignments(from:$f){id}}}',
        {"f": "2024-02-01"},
        {asn(FEB)},
    ),
    (
        'query($f:Date="2024-01-01"){team{assignments(from:$f){id}}}',
        {"f": None},
        {A},
    ),
    (
        """query($t:Date!){team{
            near: assignments(from:"2024-01-01",to:$t){id}
            far: assignments(from:$t){id}
            resources{assignments(from:"2024-01-01",to:$t){id}}
        }}""",
        {"t": "2024-02-01"},
        {asn(JAN, FEB), asn(FEB), R},
    ),
]

FRAGMENTS: Table = [
    ("{mine: team{folk: resources{called: name}}}", {}, {R}),
    ("{one: team{resources{id}} two: team{projects{id}}}", {}, {R, P}),
    ("{team{resources{id}} team{projects{id}}}", {}, {R, P}),
    ("{...F} fragment F on Query {team{resources{id}}}", {}, {R}),
    ("{team{...F}} fragment F on Team {resources{id} ...G} fragment G on Team {name}", {}, {R, T}),
    (
        """{team{assignments{...F}}}
        fragment F on Assignment {resource{...G}}
        fragment G on Resource {assignments(from:"2024-01-01"){...H}}
        fragment H on Assignment {project{id}}""",
        {},
        {A, R, asn(JAN), P},
    ),
    ("{team{...on Team{projects{id}}}}", {}, {P}),
    ("{team{...{projects{id}}}}", {}, {P}),
    ("{team{...on Node{id}}}", {}, set()),
    ("{team{...on Node{...on Team{resources{id}}}}}", {}, {R}),
    (
        """{team{...F}}
        fragment F on Node {id ...on Team{name} ...on Resource{assignments{id}}}""",
        {},
        {T},
    ),
    ("{...on Query{...{team{...on Team{...on Node{...on Team{name}}}}}}}", {}, {T}),
]

INCLUDE = "query($yes:Boolean!,$no:Boolean!,$on:Boolean=true,$off:Boolean=false){team{%s}}"
YES_NO = {"yes": True, "no": False}
# Every variable is used in each, so that the document is valid.
SELECTIONS: list[tuple[str, set[Slice]]] = [
    (
        "r:id@include(if:$yes) s:id@skip(if:$no) t:id@skip(if:$on) u:id@skip(if:$off)",
        set(),
    ),
    (
        "name@include(if:$yes) resources@include(if:$no){id}"
        " projects@include(if:$on){id} assignments@include(if:$off){id}",
        {T, P},
    ),
    (
        "name@skip(if:$yes) resources@skip(if:$no){id}"
        " projects@skip(if:$on){id} assignments@skip(if:$off){id}",
        {R, A},
    ),
    (
        "name@include(if:$yes)@skip(if:$yes) resources@include(if:$yes)@skip(if:$no){id}"
        " projects@skip(if:$off)@include(if:$on){id} assignments@include(if:$no){id}",
        {R, P},
    ),
    (
        "...on Team@include(if:$yes){name} ...@include(if:$no){resources{id}}"
        " ...on Node@skip(if:$off){...on Team@include(if:$on){projects{id}}}",
        {T, P},
    ),
    (
        "resources@skip(if:$no){assignments@include(if:$yes){project@include(if:$off){id}"
        " resource@skip(if:$on){id}}}",
        {R, A},
    ),
]
CONDITIONS: Table = [
    *((INCLUDE % selection, YES_NO, slices) for selection, slices in SELECTIONS),
    ("{team{name@include(if:true) resources@include(if:false){id}}}", {}, {T}),
    ("{team{name@skip(if:true) resources@skip(if:false){id}}}", {}, {R}),
    (
        """query($all:Boolean!){team{...F@include(if:$all) ...G@skip(if:$all)}}
        fragment F on Team {resources{id}} fragment G on Team {projects{id}}""",
        {"all": True},
        {R},
    ),
    (
        """query($all:Boolean!){team{...F@include(if:$all) ...G@skip(if:$all)}}
        fragment F on Team {resources{id}} fragment G on Team {projects{id}}""",
        {"all": False},
        {P},
    ),
    (
        "{team{resources{id} resources@skip(if:true){assignments{id}}}}",
        {},
        {R},
    ),
    ("{team{resources{id}} team@skip(if:true){projects{id}}}", {}, {R}),
    (
        """query($f:Date){team{
            assignments(from:$f)@skip(if:true){id}
            b:assignments(from:"2024-02-01"){id}
        }}""",
        {"f": "2024-01-01"},
        {asn(FEB)},
    ),
]


@pytest.mark.parametrize(
    ("query", "variables", "slices"), PLAIN + NESTED + WINDOWS + FRAGMENTS + CONDITIONS
)
async def test_an_operation_reads_all_and_only_what_its_answer_needs(
    query: str, variables: dict[str, Any], slices: set[Slice], operation: Operation
) -> None:
    await operation(query, variables)
    assert operation.loader.reads == [slices]
    assert operation.store.requests == 0


def gid(type: EntityType, id: str) -> str:
    return to_global_id(type, id)


TEAM_ID = gid(EntityType.TEAM, TEAM)
R1, P1 = gid(EntityType.RESOURCE, "r1"), gid(EntityType.PROJECT, "p1")
ITEM_R1, ITEM_P1 = ItemSlice("RES#r1"), ItemSlice("PRJ#p1")

NODES: Table = [
    ("query($id:ID!){node(id:$id){id}}", {"id": R1}, {ITEM_R1}),
    ("query($id:ID!){node(id:$id){...on Resource{name}}}", {"id": R1}, {ITEM_R1}),
    (
        "query($id:ID!){node(id:$id){...on Resource{assignments{id}}}}",
        {"id": R1},
        {ITEM_R1, A},
    ),
    (
        "query($id:ID!){node(id:$id){...on Resource{assignments{project{id}}}}}",
        {"id": R1},
        {ITEM_R1, A, P},
    ),
    # The fragments on other types do not count: the id says which type it is.
    (
        """query($id:ID!){node(id:$id){
            ...on Team{resources{id} name}
            ...on Project{assignments(from:"2024-01-01"){resource{id}}}
            ...on Assignment{resource{id} project{id}}
            ...on Resource{name}
        }}""",
        {"id": R1},
        {ITEM_R1},
    ),
    (
        "query($id:ID!){node(id:$id){...on Node{...on Project{assignments{id}}}}}",
        {"id": P1},
        {ITEM_P1, A},
    ),
    ("query($id:ID!){node(id:$id){...on Team{name}}}", {"id": TEAM_ID}, {T}),
    ("query($id:ID!){node(id:$id){id}}", {"id": TEAM_ID}, set()),
    ("query($id:ID!){node(id:$id){id}}", {"id": "nothing"}, set()),
    ("query($ids:[ID!]!){nodes(ids:$ids){id}}", {"ids": []}, set()),
    (
        "query($ids:[ID!]!){nodes(ids:$ids){id ...on Project{assignments{id}}}}",
        {"ids": [R1, P1, "nothing", R1]},
        {ITEM_R1, ITEM_P1, A},
    ),
    (
        "query($id:ID!){one:node(id:$id){id} team{resources{id}} nodes(ids:[$id]){id}}",
        {"id": P1},
        {ITEM_P1, R},
    ),
    (
        "query($id:ID!,$no:Boolean!){node(id:$id)@include(if:$no){id} team{name}}",
        {"id": P1, "no": False},
        {T},
    ),
]


@pytest.mark.parametrize(("query", "variables", "slices"), NODES)
async def test_a_lookup_reads_its_item_and_what_is_asked_of_an_object_of_its_type(
    query: str, variables: dict[str, Any], slices: set[Slice], operation: Operation
) -> None:
    await operation(query, variables)
    assert operation.loader.reads == [slices]
    assert operation.store.requests == 0


async def test_only_the_operation_that_is_named_is_looked_at(operation: Operation) -> None:
    query = "query One{team{resources{id}}} query Two{team{projects{id}}}"
    await operation(query, name="Two")
    assert operation.loader.reads == [{P}]


@pytest.mark.parametrize(
    "query",
    [
        '{team{assignments(from:"2024-02-01",to:"2024-01-01"){id}}}',
        '{team{resources{assignments(from:"2024-02-01",to:"2024-01-01"){id}}}}',
        '{team{assignments{project{assignments(from:"2024-01-02",to:"2024-01-01"){id}}}}}',
        'query($f:Date="2024-02-01",$t:Date="2024-01-01"){team{assignments(from:$f,to:$t){id}}}',
    ],
)
async def test_a_crossed_window_is_bad_input_before_anything_is_read(
    query: str, operation: Operation
) -> None:
    answer = await operation(query)
    [error] = answer.body["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert error["extensions"]["field"] == ["from"]
    assert operation.loader.reads == []
    assert operation.store.requests == 0


async def test_a_crossed_window_that_is_skipped_does_not_matter(operation: Operation) -> None:
    await operation('{team{name assignments(from:"2024-02-01",to:"2024-01-01")@skip(if:true){id}}}')
    assert operation.loader.reads == [{T}]


@pytest.mark.parametrize(
    ("first", "last"),
    [(None, None), (JAN, None), (None, JAN), (JAN, JAN), (JAN, FEB), (date.min, date.max)],
)
def test_a_window_may_be_open_and_may_be_one_day(first: date | None, last: date | None) -> None:
    assert window(first, last) == Window(first, last)


def test_a_window_names_the_argument_to_put_right() -> None:
    with pytest.raises(BadInput) as raised:
        window(FEB, JAN)
    assert raised.value.field == ("from",)


@pytest.mark.parametrize(
    "fragment",
    [
        "fragment F{n} on Team{{...F{next} ...F{next}}}",
        "fragment F{n} on Team{{a: assignments{{resource{{...R{n}}}}} ...F{next}}}"
        " fragment R{n} on Resource{{x: assignments{{resource{{...R{next}}}}}"
        " y: assignments{{resource{{...R{next}}}}}}}",
    ],
    ids=["side by side", "below fields"],
)
async def test_the_work_is_bounded_by_the_length_of_the_document(
    operation: Operation, monkeypatch: pytest.MonkeyPatch, fragment: str
) -> None:
    seen = 0
    included = resolvers.selection._is_included

    def counted(*arguments: Any) -> bool:
        nonlocal seen
        seen += 1
        return included(*arguments)

    monkeypatch.setattr(resolvers.selection, "_is_included", counted)
    depth = 14
    document = " ".join(
        [
            "{team{...F0}}",
            *(fragment.format(n=n, next=n + 1) for n in range(depth)),
            f"fragment F{depth} on Team{{name}}",
            f"fragment R{depth} on Resource{{name}}" if "R{n}" in fragment else "",
        ]
    )
    await operation(document)
    assert TeamSlice() in operation.loader.reads[0]
    assert seen < 20 * depth
