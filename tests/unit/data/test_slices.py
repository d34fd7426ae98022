"""The query planner: slices -> the one Query, and what a large team is asked instead; as a table,
and against a partition in memory."""

import re
from collections.abc import Collection
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.days import Window, end_exclusive
from data.entities import (
    Assignment,
    Deletion,
    Entity,
    EntityType,
    Membership,
    Project,
    Resource,
    Role,
    Team,
)
from data.expressions import Item, KeyQuery, names_of, s
from data.items import encode, sort_key
from data.slices import (
    AssignmentsSlice,
    ItemSlice,
    MembersSlice,
    Plan,
    ProjectsSlice,
    ResourcesSlice,
    Slice,
    TeamSlice,
    plan,
)
from tests.unit.data.condition_language import holds
from tests.unit.data.memory_store import TEAM, found
from tests.unit.data.strategies import ids

FROM, TO = date(2024, 3, 10), date(2024, 3, 20)
BACK = "2024-01-09"  # 61 days before FROM
BEGINS = "#pk = :pk AND begins_with(#sk, :sk)"
BETWEEN = "#pk = :pk AND #sk BETWEEN :low AND :high"
EQUALS = "#pk = :pk AND #sk = :sk"
ENDS_LATER = "#endDateExclusive > :from OR NOT attribute_type(#endDateExclusive, :string)"


def window(first: date | None = None, last: date | None = None) -> AssignmentsSlice:
    return AssignmentsSlice(Window(first, last))


def key_query(condition: str, **values: str) -> KeyQuery:
    return KeyQuery(
        condition, {":pk": s("TEAM#t1"), **{f":{name}": s(text) for name, text in values.items()}}
    )


def windowed(low: str, high: str, first: str) -> KeyQuery:
    values = {"low": low, "high": high, "from": first, "string": "S"}
    return KeyQuery(BETWEEN, key_query(BETWEEN, **values).values, filter=ENDS_LATER)


def apart(table: KeyQuery, companion: KeyQuery | None = None, *, beside: KeyQuery) -> Plan:
    """What a large team is asked: its assignments for themselves."""
    return Plan(table, companion, beside)


def long(first: str, reach_back: str) -> KeyQuery:
    return KeyQuery(
        "#pk = :pk AND #longEnd > :from",
        {":pk": s("TEAM#t1"), ":from": s(first), ":reach_back": s(reach_back)},
        filter="#startDate < :reach_back",
        index="byLongEnd",
    )


R, P, M, T, A = ResourcesSlice(), ProjectsSlice(), MembersSlice(), TeamSlice(), AssignmentsSlice()
MARCH = window(FROM, TO)
WHOLE = key_query("#pk = :pk AND #sk > :deletions", deletions="!DEL$")
OWNERS = key_query(BETWEEN, low="PRJ#", high="RES$")
IN_MARCH = windowed(f"ASN#{BACK}", "ASN#2024-03-20$", "2024-03-10"), long("2024-03-10", BACK)
UNTIL_MARCH = key_query(BETWEEN, low="ASN#", high="ASN#2024-03-20$")

TABLE: list[tuple[Collection[Slice], Plan]] = [
    # 1: the whole timeline
    ({R, P, A}, Plan(WHOLE)),
    ({R, P, A, T, M}, Plan(WHOLE)),
    ({R, A}, Plan(WHOLE)),
    # with a window: to a large team #4, and the owners beside it
    ({R, P, MARCH}, Plan(WHOLE, large=apart(*IN_MARCH, beside=OWNERS))),
    ({R, MARCH}, Plan(WHOLE, large=apart(*IN_MARCH, beside=OWNERS))),
    ({R, window(last=TO)}, Plan(WHOLE, large=apart(UNTIL_MARCH, beside=OWNERS))),
    (
        {P, window(first=FROM)},
        Plan(
            WHOLE,
            large=apart(
                windowed(f"ASN#{BACK}", "ASN$", "2024-03-10"),
                long("2024-03-10", BACK),
                beside=OWNERS,
            ),
        ),
    ),
    (
        {T, R, P, MARCH},
        Plan(
            WHOLE,
            large=apart(*IN_MARCH, beside=key_query(BETWEEN, low="META", high="RES$")),
        ),
    ),
    (
        {M, MARCH},
        Plan(
            WHOLE,
            large=apart(*IN_MARCH, beside=key_query(BETWEEN, low="MEMBER#", high="RES$")),
        ),
    ),
    # several windows are one; without an end on either side it is the whole partition
    (
        {R, window(FROM, FROM), window(TO, TO)},
        Plan(WHOLE, large=apart(*IN_MARCH, beside=OWNERS)),
    ),
    ({R, MARCH, A}, Plan(WHOLE)),
    ({R, window(first=TO), window(last=FROM)}, Plan(WHOLE)),
    ({R, window(first=date(1, 1, 20))}, Plan(WHOLE)),
    # 2, 3: resources, projects
    ({R}, Plan(key_query(BEGINS, sk="RES#"))),
    ({P}, Plan(key_query(BEGINS, sk="PRJ#"))),
    # 4: assignments in a window
    (
        {MARCH},
        Plan(
            windowed(f"ASN#{BACK}", "ASN#2024-03-20$", "2024-03-10"),
            long("2024-03-10", BACK),
        ),
    ),
    (
        {window(FROM, FROM)},
        Plan(
            windowed(f"ASN#{BACK}", "ASN#2024-03-10$", "2024-03-10"),
            long("2024-03-10", BACK),
        ),
    ),
    (
        {window(first=FROM)},
        Plan(windowed(f"ASN#{BACK}", "ASN$", "2024-03-10"), long("2024-03-10", BACK)),
    ),
    ({window(last=TO)}, Plan(key_query(BETWEEN, low="ASN#", high="ASN#2024-03-20$"))),
    ({A}, Plan(key_query(BEGINS, sk="ASN#"))),
    (
        {window(date(1, 1, 20), date(1, 2, 1))},
        Plan(windowed("ASN#", "ASN#0001-02-01$", "0001-01-20")),
    ),
    (
        {window(date(1, 3, 3), date.max)},
        Plan(
            windowed("ASN#0001-01-01", "ASN#9999-12-31$", "0001-03-03"),
            long("0001-03-03", "0001-01-01"),
        ),
    ),
    # several windows are one
    (
        {window(date(2024, 3, 18), TO), window(FROM, date(2024, 3, 11))},
        Plan(
            windowed(f"ASN#{BACK}", "ASN#2024-03-20$", "2024-03-10"),
            long("2024-03-10", BACK),
        ),
    ),
    (
        {MARCH, window(first=TO)},
        Plan(windowed(f"ASN#{BACK}", "ASN$", "2024-03-10"), long("2024-03-10", BACK)),
    ),
    ({MARCH, window(last=FROM)}, Plan(key_query(BETWEEN, low="ASN#", high="ASN#2024-03-20$"))),
    ({MARCH, A}, Plan(key_query(BEGINS, sk="ASN#"))),
    ({window(first=TO), window(last=FROM)}, Plan(key_query(BEGINS, sk="ASN#"))),
    # mixes: the smallest range that covers them; with assignments, the whole partition
    ({P, R}, Plan(key_query(BETWEEN, low="PRJ#", high="RES$"))),
    ({T}, Plan(key_query(EQUALS, sk="META"))),
    ({M}, Plan(key_query(BEGINS, sk="MEMBER#"))),
    ({T, M}, Plan(key_query(BETWEEN, low="MEMBER#", high="META"))),
    ({T, P}, Plan(key_query(BETWEEN, low="META", high="PRJ$"))),
    ({T, R}, Plan(key_query(BETWEEN, low="META", high="RES$"))),
    ({M, R}, Plan(key_query(BETWEEN, low="MEMBER#", high="RES$"))),
    ({A, P}, Plan(WHOLE)),
    ({MARCH, P}, Plan(WHOLE, large=apart(*IN_MARCH, beside=OWNERS))),
    ({A, T}, Plan(WHOLE)),
    ({A, M}, Plan(WHOLE)),
    # single items
    ({ItemSlice("RES#r1")}, Plan(key_query(EQUALS, sk="RES#r1"))),
    (
        {ItemSlice("ASN#2024-03-10#a1"), ItemSlice("RES#r1")},
        Plan(
            key_query(BETWEEN, low="ASN#2024-03-10#a1", high="RES#r1"),
            large=apart(
                key_query(EQUALS, sk="ASN#2024-03-10#a1"),
                beside=key_query(BETWEEN, low="PRJ#", high="RES#r1"),
            ),
        ),
    ),
    (
        {ItemSlice("ASN#2024-03-10#a1"), ItemSlice("ASN#2020-01-01#a2"), P},
        Plan(
            key_query(BETWEEN, low="ASN#2020-01-01#a2", high="PRJ$"),
            large=apart(
                key_query(BETWEEN, low="ASN#2020-01-01#a2", high="ASN#2024-03-10#a1"),
                beside=key_query(BEGINS, sk="PRJ#"),
            ),
        ),
    ),
    (
        {ItemSlice("ASN#2024-03-10#a1"), T},
        Plan(
            key_query(BETWEEN, low="ASN#2024-03-10#a1", high="META"),
            large=apart(
                key_query(EQUALS, sk="ASN#2024-03-10#a1"), beside=key_query(EQUALS, sk="META")
            ),
        ),
    ),
    ({ItemSlice("ASN#2024-03-10#a1")}, Plan(key_query(EQUALS, sk="ASN#2024-03-10#a1"))),
    ({ItemSlice("PRJ#p1"), P}, Plan(key_query(BEGINS, sk="PRJ#"))),
    ({ItemSlice("PRJ#p1"), R}, Plan(key_query(BETWEEN, low="PRJ#p1", high="RES$"))),
    ({ItemSlice("RES#r1"), T}, Plan(key_query(BETWEEN, low="META", high="RES#r1"))),
    # a single assignment and a window: from a whole day on, which the companion ends before
    (
        {ItemSlice("ASN#2024-05-01#a1"), MARCH},
        Plan(
            key_query(BETWEEN, low=f"ASN#{BACK}", high="ASN#2024-05-01#a1"),
            long("2024-03-10", BACK),
        ),
    ),
    (
        {ItemSlice("ASN#2024-01-01#a1"), MARCH},
        Plan(
            key_query(BETWEEN, low="ASN#2024-01-01", high="ASN#2024-03-20$"),
            long("2024-03-10", "2024-01-01"),
        ),
    ),
    ({ItemSlice("ASN#2024-05-01#a1"), A}, Plan(key_query(BEGINS, sk="ASN#"))),
    (
        {ItemSlice("ASN#2024-01-01#a1"), MARCH, P},
        Plan(
            WHOLE,
            large=apart(
                key_query(BETWEEN, low="ASN#2024-01-01", high="ASN#2024-03-20$"),
                long("2024-03-10", "2024-01-01"),
                beside=OWNERS,
            ),
        ),
    ),
]


@pytest.mark.parametrize(("slices", "expected"), TABLE)
def test_slices_become_this_query(slices: Collection[Slice], expected: Plan) -> None:
    assert plan(TEAM, slices) == expected


@pytest.mark.parametrize(("slices", "expected"), TABLE)
def test_the_order_and_the_repetition_of_slices_do_not_matter(
    slices: Collection[Slice], expected: Plan
) -> None:
    listed = list(slices)
    assert plan(TEAM, listed[::-1] + listed) == expected


@pytest.mark.parametrize("team_id", ["", " ", "a#b", "a\0"])
def test_nothing_is_planned_for_what_is_no_team(team_id: str) -> None:
    with pytest.raises(ValueError, match="not a team id"):
        plan(team_id, [ResourcesSlice()])


# Against a partition in memory.
some_ids = st.text("09AZaz-~é", min_size=1, max_size=3) | ids
some_days = st.integers(0, 200).map(lambda n: date(2024, 1, 1) + timedelta(n))


@st.composite
def planned_entities(draw: st.DrawFn) -> Entity:
    id, start = draw(some_ids), draw(some_days)
    kinds: list[Entity] = [
        Team(id=TEAM, name="T"),
        Membership(team_id=TEAM, user_id=id, role=Role.VIEWER),
        Resource(id=id, name="R"),
        Project(id=id, name="P", color="#000000"),
    ]
    kinds += [
        Assignment(
            id=id,
            resource_id="r",
            project_id="p",
            start_date=start,
            end_date_exclusive=start + timedelta(days),
        )
        for days in (1, 61, 62, 63, draw(st.integers(1, 150)))
    ]
    return draw(st.sampled_from(kinds))


@st.composite
def windows(draw: st.DrawFn) -> Window:
    first, last = sorted([draw(some_days), draw(some_days)])
    return Window(first if draw(st.booleans()) else None, last if draw(st.booleans()) else None)


slices_of_a_kind: st.SearchStrategy[Slice] = st.one_of(
    st.sampled_from([R, P, M, T]),
    windows().map(AssignmentsSlice),
    planned_entities().map(lambda entity: ItemSlice(sort_key(entity))),
)
some_slices = st.lists(slices_of_a_kind, min_size=1, max_size=4)


def wants(slice: Slice, entity: Entity) -> bool:
    """Whether the entity belongs to the slice, said without keys."""
    match slice, entity:
        case ResourcesSlice(), Resource():
            return True
        case ProjectsSlice(), Project():
            return True
        case MembersSlice(), Membership():
            return True
        case TeamSlice(), Team():
            return True
        case ItemSlice(sk), _:
            return sort_key(entity) == sk
        case AssignmentsSlice(window), Assignment():
            length = (entity.end_date_exclusive - entity.start_date).days
            days = [entity.start_date + timedelta(n) for n in range(length)]
            return any(
                (window.first is None or window.first <= day)
                and (window.last is None or day <= window.last)
                for day in days
            )
    return False


def variants(planned: Plan) -> list[Plan]:
    """What is sent to a small team, and to a large one."""
    return [planned, planned.large] if planned.large else [planned]


def queries(planned: Plan) -> list[KeyQuery]:
    """The Queries of one variant, in the order of the sort keys that they find."""
    return [query for query in (planned.companion, planned.table, planned.beside) if query]


def read(planned: Plan, items: Collection[Item]) -> list[str]:
    """The sort keys that the Queries of one variant find."""
    return [
        sk
        for query in queries(planned)
        for sk in sorted(item["sk"]["S"] for item in found(query, items))
    ]


@pytest.mark.deep
@settings(deadline=None)
@given(some_slices, st.lists(planned_entities(), max_size=12))
def test_a_plan_reads_everything_that_its_slices_want_once_and_in_order(
    slices: list[Slice], entities: list[Entity]
) -> None:
    items = {sort_key(entity): encode(TEAM, entity) for entity in entities}
    wanted = {sort_key(entity) for entity in entities for slice in slices if wants(slice, entity)}
    for planned in variants(plan(TEAM, slices)):
        keys = read(planned, items.values())
        assert keys == sorted(set(keys)), "disjoint, and in order"
        assert wanted <= set(keys)


@pytest.mark.deep
@settings(deadline=None)
@given(some_slices, st.lists(planned_entities(), max_size=12))
def test_a_large_team_is_asked_for_a_part_of_what_a_small_one_is_and_for_the_same_owners(
    slices: list[Slice], entities: list[Entity]
) -> None:
    """What an owner's deletion hides must not depend on the size of the team."""
    items = {sort_key(entity): encode(TEAM, entity) for entity in entities}
    planned = plan(TEAM, slices)
    if planned.large is None:
        return
    small, large = read(planned, items.values()), read(planned.large, items.values())
    assert set(large) <= set(small)
    owners = {sk for sk in small if sk.startswith(("PRJ#", "RES#"))}
    assert owners == {sk for sk in large if sk.startswith(("PRJ#", "RES#"))}


@pytest.mark.deep
@settings(deadline=None)
@given(some_slices, some_ids)
def test_no_query_of_any_plan_reads_what_remembers_a_deletion(slices: list[Slice], id: str) -> None:
    deletion = Deletion(
        id=id,
        entity_type=EntityType.ASSIGNMENT,
        entity_id="a1",
        version=2,
        updated_at="2024-03-10T09:30:00.000Z",
    )
    items = [encode(TEAM, deletion)]
    for planned in variants(plan(TEAM, slices)):
        assert read(planned, items) == []


@pytest.mark.deep
@settings(deadline=None)
@given(windows(), st.sampled_from([R, P, T, M]))
def test_a_large_team_is_asked_otherwise_where_a_window_ends_anywhere(
    between: Window, other: Slice
) -> None:
    planned = plan(TEAM, [AssignmentsSlice(between), other])
    assert (planned.large is None) is (between == Window())


@pytest.mark.deep
@settings(deadline=None)
@given(windows(), st.lists(planned_entities(), max_size=12))
def test_a_window_alone_reads_nothing_that_is_not_in_it(
    between: Window, entities: list[Entity]
) -> None:
    items = {sort_key(entity): encode(TEAM, entity) for entity in entities}
    planned = plan(TEAM, [AssignmentsSlice(between)])
    in_window = {
        sort_key(entity)
        for entity in entities
        if isinstance(entity, Assignment)
        and between.has(entity.start_date, entity.end_date_exclusive)
    }
    assert planned.beside is None
    assert set(read(planned, items.values())) == in_window


@pytest.mark.deep
@settings(deadline=None)
@given(some_slices, slices_of_a_kind, planned_entities())
def test_the_range_of_many_slices_covers_the_range_of_each(
    slices: list[Slice], one: Slice, entity: Entity
) -> None:
    item = encode(TEAM, entity)
    alone, together = plan(TEAM, [one]), plan(TEAM, [*slices, one])
    if any(read(planned, [item]) for planned in variants(alone)):
        assert all(read(planned, [item]) for planned in variants(together))


@pytest.mark.deep
@settings(deadline=None)
@given(some_slices)
def test_a_plan_is_one_query_of_the_table_and_only_a_window_without_others_has_a_companion(
    slices: list[Slice],
) -> None:
    planned = plan(TEAM, slices)
    assert planned.table.index is None
    assert planned.beside is None
    if planned.companion:
        assert planned.companion.index == "byLongEnd"
        assert planned.large is None
    else:
        assert planned.table.filter is None
    if planned.large:
        assert planned.large.large is None
        assert planned.large.beside
        assert planned.large.table.index is planned.large.beside.index is None


@pytest.mark.deep
@settings(deadline=None)
@given(some_slices)
def test_every_query_stays_in_the_team_and_defines_exactly_what_it_uses(
    slices: list[Slice],
) -> None:
    for query in (query for each in variants(plan(TEAM, slices)) for query in queries(each)):
        text = f"{query.key_condition} {query.filter or ''}"
        assert query.key_condition.startswith("#pk = :pk")
        assert query.values[":pk"] == s("TEAM#t1")
        assert set(re.findall(r":\w+", text)) == set(query.values)
        assert set(re.findall(r"#\w+", text)) == set(names_of(text))
        bare = set(re.findall(r"(?<![#:\w])\w+", text))
        assert bare <= {"AND", "OR", "NOT", "BETWEEN", "begins_with", "attribute_type"}


@pytest.mark.parametrize(
    ("start", "last"),
    [
        ("2024-01-09", "2024-03-10"),  # 62 days, the longest that is not in the index
        ("2024-01-08", "2024-03-10"),  # 63 days: found by the index only
        ("2020-01-01", "2029-12-31"),
        ("2024-03-20", "2024-03-20"),
        ("2024-03-10", "2024-03-10"),
    ],
)
def test_assignment_that_began_before_the_window_is_in_it(start: str, last: str) -> None:
    assignment = Assignment(
        id="a1",
        resource_id="r1",
        project_id="p1",
        start_date=date.fromisoformat(start),
        end_date_exclusive=end_exclusive(date.fromisoformat(last)),
    )
    planned = plan(TEAM, [MARCH])
    assert planned.companion is not None
    item = encode(TEAM, assignment)
    by_table, by_index = (found(q, [item]) for q in (planned.table, planned.companion))
    assert len(by_table) + len(by_index) == 1
    assert bool(by_index) is (start < BACK)


@pytest.mark.parametrize("end", [None, {"N": "20240310"}, {"S": "2024-03-11"}])
def test_an_item_without_a_readable_end_is_read_so_that_the_split_can_report_it(
    end: dict[str, str] | None,
) -> None:
    item = {"pk": s("TEAM#t1"), "sk": s("ASN#2024-03-01#a1"), "EntityType": s("Assignment")}
    if end is not None:
        item["endDateExclusive"] = end  # type: ignore[assignment]
    table = plan(TEAM, [MARCH]).table
    assert table.filter is not None
    assert holds(table.filter, table.values, item)
