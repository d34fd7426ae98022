"""Every limit, at it and just over it, in code points."""

from collections.abc import Callable
from datetime import date

import pytest

from data import rules
from data.entities import Assignment, Link, Project
from data.errors import Problem, ProblemCode, Refused
from data.expressions import AttributeValue, Item
from data.items import encode
from data.rules import Check
from data.transactions import MAX_ACTIONS

Value = Callable[[Check, str], object]

ASTRONAUT = "\U0001f469\u200d\U0001f680"  # one picture, three code points
E_ACUTE = "e\u0301"  # one letter, two code points


def problems(check: Check) -> tuple[Problem, ...]:
    try:
        check.refuse_problems()
    except Refused as refused:
        return refused.problems
    return ()


def name(check: Check, text: str) -> object:
    return check.name(text, "name")


def note(check: Check, text: str) -> object:
    return check.note(text, "note")


def description(check: Check, text: str) -> object:
    return check.description(text, "description")


def tag(check: Check, text: str) -> object:
    return check.tags([text], "tags")


def label(check: Check, text: str) -> object:
    return check.links([Link(text, "https://x.example")], "links")


LIMITS: list[tuple[Value, int, tuple[str, ...]]] = [
    (name, 100, ("name",)),
    (note, 2_000, ("note",)),
    (description, 10_000, ("description",)),
    (tag, 30, ("tags", "0")),
    (label, 50, ("links", "0", "label")),
]


@pytest.mark.parametrize("unit", ["x", "é", "\U0001f600", ASTRONAUT, E_ACUTE])
@pytest.mark.parametrize(("value", "limit", "field"), LIMITS)
def test_a_limit_counts_code_points(
    value: Value, limit: int, field: tuple[str, ...], unit: str
) -> None:
    longest = (unit * limit)[:limit]
    check = Check()
    value(check, longest)
    assert problems(check) == ()
    value(check, longest + "x")
    [problem] = problems(check)
    assert (problem.code, problem.field) == (ProblemCode.INVALID, field)
    assert f"{limit} characters" in problem.message


LINES = [(value, field) for value, _, field in LIMITS if value in (name, tag, label)]
BLOCKS = [(value, field) for value, _, field in LIMITS if value in (note, description)]


@pytest.mark.parametrize(
    "text",
    ["", " ", "   ", "\u00a0", "\u3000", "\u200b", "\u200b \u200b", "\u200e", "\ufeff", "\u2060"],
)
@pytest.mark.parametrize(("value", "field"), LINES)
def test_a_line_that_shows_nothing_is_blank(
    value: Value, field: tuple[str, ...], text: str
) -> None:
    check = Check()
    value(check, text)
    assert [(p.code, p.field, "blank" in p.message) for p in problems(check)] == [
        (ProblemCode.INVALID, field, True)
    ]


@pytest.mark.parametrize("text", ["x", " x ", "\u200bx", ".", "0", "\u0301", ASTRONAUT, "\u202ex"])
def test_a_name_is_returned_exactly_as_it_was_sent(text: str) -> None:
    check = Check()
    assert check.name(text, "name") == text
    assert problems(check) == ()


@pytest.mark.parametrize("texts", [("\u00e9", "e\u0301"), ("\u212b", "\u00c5")])
def test_text_is_never_normalised(texts: tuple[str, str]) -> None:
    check = Check()
    assert tuple(check.name(text, "name") for text in texts) == texts
    assert check.tags(texts, "tags") == texts
    assert problems(check) == ()


@pytest.mark.parametrize(
    "character", ["\0", "\x01", "\x08", "\x0b", "\x1b", "\x7f", "\x85", "\x9f"]
)
@pytest.mark.parametrize(("value", "field"), LINES + BLOCKS)
def test_a_control_character_is_refused(
    value: Value, field: tuple[str, ...], character: str
) -> None:
    check = Check()
    value(check, f"a{character}b")
    [problem] = problems(check)
    assert problem.field == field
    assert "control character" in problem.message


@pytest.mark.parametrize("character", ["\n", "\r", "\t"])
def test_only_notes_and_descriptions_may_have_line_breaks(character: str) -> None:
    for value, field in LINES:
        check = Check()
        value(check, f"a{character}b")
        assert [problem.field for problem in problems(check)] == [field]
    for value, _ in BLOCKS:
        check = Check()
        assert value(check, f"a{character}b") == f"a{character}b"
        assert problems(check) == ()


@pytest.mark.parametrize("surrogate", [chr(0xD800), chr(0xDBFF), chr(0xDC00), "a" + chr(0xDFFF)])
@pytest.mark.parametrize(("value", "field"), LINES + BLOCKS)
def test_a_lone_surrogate_is_refused(value: Value, field: tuple[str, ...], surrogate: str) -> None:
    check = Check()
    value(check, surrogate)
    [problem] = problems(check)
    assert problem.field == field
    assert "surrogate" in problem.message
    problem.message.encode()


def test_what_must_be_there_cannot_be_null() -> None:
    check = Check()
    check.name(None, "name")
    check.color(None, "color")
    assert [problem.field for problem in problems(check)] == [("name",), ("color",)]


@pytest.mark.parametrize("value", [None, ""])
def test_an_empty_note_or_description_is_unset(value: str | None) -> None:
    check = Check()
    assert check.note(value, "note") is None
    assert check.description(value, "description") is None
    assert check.tags(None, "tags") == ()
    assert check.links(None, "links") == ()
    assert check.client_id(None, "id") is None
    assert problems(check) == ()


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("#000000", True),
        ("#0A1b2C", True),
        ("#ffffff", True),
        ("", False),
        ("#fff", False),
        ("#fffffff", False),
        ("#ffffff\n", False),
        (" #ffffff", False),
        ("ffffff", False),
        ("#gggggg", False),
        ("#12345\uff16", False),
        ("red", False),
        ("rgb(0,0,0)", False),
    ],
)
def test_a_colour_is_a_hash_and_six_hex_digits(text: str, good: bool) -> None:
    check = Check()
    assert check.color(text, "color") == (text if good else "")
    assert [problem.field for problem in problems(check)] == ([] if good else [("color",)])


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ([], ()),
        (["a", "b", "a"], ("a", "b")),
        (["b", "a", "b", "b"], ("b", "a")),
        (["a", "A", " a"], ("a", "A", " a")),
        (["x"] * 50, ("x",)),
    ],
)
def test_tags_are_unique_in_the_order_given(sent: list[str], kept: tuple[str, ...]) -> None:
    check = Check()
    assert check.tags(sent, "tags") == kept
    assert problems(check) == ()


def test_twenty_tags_may_be_had_and_no_more() -> None:
    check = Check()
    tags = [str(n) for n in range(20)]
    assert check.tags([*tags, "0"], "tags") == tuple(tags)
    assert problems(check) == ()
    check.tags([*tags, "20"], "tags")
    assert [problem.field for problem in problems(check)] == [("tags",)]


def test_ten_links_may_be_had_and_no_more() -> None:
    link = Link("docs", "https://x.example")
    check = Check()
    assert check.links([link] * 10, "links") == (link,) * 10
    assert problems(check) == ()
    check.links([link] * 11, "links")
    assert [problem.field for problem in problems(check)] == [("links",)]


@pytest.mark.parametrize(
    "url",
    [
        "http://x",
        "https://x.example",
        "HTTPS://X.example/A?b=c#d",
        "https://x.example:8443/a",
        "https://user@x.example/",
        "https://[::1]:8000/",
        "https://例え.example/道",
        "https://x.example/" + "a" * (2_000 - 18),
    ],
)
def test_a_complete_web_address_is_kept_as_it_is(url: str) -> None:
    check = Check()
    assert check.links([Link("docs", url)], "links") == (Link("docs", url),)
    assert problems(check) == ()


@pytest.mark.parametrize(
    "url",
    [
        "",
        " ",
        "x.example",
        "//x.example",
        "/path",
        "http:",
        "http://",
        "http:///path",
        "https:x.example",
        "https://?q",
        "https://:80/",
        "https://user@/",
        "https://[::1",
        "javascript:alert(1)",
        "JavaScript:alert(1)//http://x.example",
        "data:text/html,x",
        "ftp://x.example",
        "file:///etc/passwd",
        "mailto:a@x.example",
        " https://x.example",
        "https://x.example ",
        "https://x.example/a b",
        "https://x.example/a\u00a0b",
        "https://x.example/a\u2003b",
        "java\tscript:alert(1)",
        "https://x.example/\n",
        "https://x.example/\0",
        "https://x.example/\ud800",
        "https://\u2100.example/",
        "https://x.example/" + "a" * (2_001 - 18),
    ],
)
def test_anything_else_is_no_link(url: str) -> None:
    check = Check()
    check.links([Link("docs", "https://x.example"), Link("docs", url)], "links")
    found = problems(check)
    assert found
    assert {problem.field for problem in found} == {("links", "1", "url")}


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("018f3f2e-0000-7000-8000-00000000000a", "018f3f2e-0000-7000-8000-00000000000a"),
        ("018F3F2E-0000-7000-8000-00000000000A", "018f3f2e-0000-7000-8000-00000000000a"),
        ("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000"),
    ],
)
def test_a_client_id_is_a_uuid_in_lower_case(text: str, id: str) -> None:
    check = Check()
    assert check.client_id(text, "id") == id
    assert problems(check) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1",
        "#",
        "a#b",
        "x" * 1_100,
        "018f3f2e00007000800000000000000a",
        "{018f3f2e-0000-7000-8000-00000000000a}",
        "urn:uuid:018f3f2e-0000-7000-8000-00000000000a",
        "018f3f2e-0000-7000-8000-00000000000a\n",
        "018f3f2e-0000-7000-8000-00000000000g",
        "018f3f2e-0000-7000-8000-00000000000\uff11",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ],
)
def test_a_client_id_that_is_no_uuid_is_refused(text: str) -> None:
    check = Check()
    check.client_id(text, "id")
    assert [problem.field for problem in problems(check)] == [("id",)]


@pytest.mark.parametrize(
    ("day", "good"),
    [
        (date.min, False),
        (date(1899, 12, 31), False),
        (date(1900, 1, 1), True),
        (date(2024, 2, 29), True),
        (date(9999, 12, 30), True),
        (date.max, False),
    ],
)
def test_a_day_has_a_day_after_it_and_is_not_before_1900(day: date, good: bool) -> None:
    check = Check()
    assert check.day(day, "startDate") == day
    assert [problem.field for problem in problems(check)] == ([] if good else [("startDate",)])


@pytest.mark.parametrize(
    ("start", "last", "good"),
    [
        (date(2024, 1, 10), date(2024, 1, 10), True),
        (date(2024, 1, 10), date(2024, 1, 11), True),
        (date(2024, 1, 10), date(2024, 1, 9), False),
    ],
)
def test_a_last_day_is_not_before_the_first(start: date, last: date, good: bool) -> None:
    check = Check()
    check.order(start, last, "endDate")
    assert [problem.field for problem in problems(check)] == ([] if good else [("endDate",)])


def test_a_form_hears_of_all_its_problems_at_once() -> None:
    check = Check()
    check.name("", "name")
    check.color("red", "color")
    check.tags(["ok", "ok", "", "x" * 31], "tags")
    check.links([Link("", "ftp://x")], "links")
    assert [problem.field for problem in problems(check)] == [
        ("name",),
        ("color",),
        ("tags", "2"),
        ("tags", "3"),
        ("links", "0", "label"),
        ("links", "0", "url"),
    ]
    assert {problem.code for problem in problems(check)} == {ProblemCode.INVALID}


def test_without_problems_nothing_is_refused() -> None:
    check = Check()
    check.name("x", "name")
    check.refuse_problems()
    assert problems(check) == ()


def size(value: AttributeValue) -> int:
    """The bytes that DynamoDB counts, rounded up: 3 for a list or map and 1 for each entry."""
    if "S" in value:
        return len(value["S"].encode())
    if "N" in value:
        return 21
    if "L" in value:
        return 3 + sum(1 + size(each) for each in value["L"])
    return 3 + sum(1 + len(key.encode()) + size(each) for key, each in value["M"].items())


def item_size(item: Item) -> int:
    return sum(len(name.encode()) + size(value) for name, value in item.items())


WIDEST = "\U0001f600"
LONGEST_ID = "x" * 1_000  # of a row that was written elsewhere; ours are UUIDs
STAMP = "2024-01-01T00:00:00.000Z"


def test_a_transaction_of_the_largest_assignments_stays_below_four_megabytes() -> None:
    check = Check()
    largest = Assignment(
        id=LONGEST_ID,
        resource_id=LONGEST_ID,
        project_id=LONGEST_ID,
        start_date=date(1900, 1, 1),
        end_date_exclusive=date(9999, 12, 31),
        note=check.note(WIDEST * rules.MAX_NOTE, "note"),
        version=2**31 - 1,
        created_at=STAMP,
        updated_at=STAMP,
    )
    assert problems(check) == ()
    item = encode("𝒳" * 100, largest)
    assert "longEnd" in item
    assert 12_000 < item_size(item) < 16_000
    assert item_size(item) * MAX_ACTIONS < 4_000_000


def test_the_largest_project_fits_an_item() -> None:
    check = Check()
    largest = Project(
        id=LONGEST_ID,
        name=check.name(WIDEST * rules.MAX_NAME, "name"),
        color="#000000",
        description=check.description(WIDEST * rules.MAX_DESCRIPTION, "description"),
        tags=check.tags(
            [chr(0x1F600 + n) + WIDEST * (rules.MAX_TAG - 1) for n in range(rules.MAX_TAGS)], "tags"
        ),
        links=check.links(
            [Link(WIDEST * rules.MAX_LABEL, "https://x.example/" + WIDEST * (rules.MAX_URL - 18))]
            * rules.MAX_LINKS,
            "links",
        ),
        version=2**31 - 1,
        created_at=STAMP,
        updated_at=STAMP,
        deleting_at=STAMP,
    )
    assert problems(check) == ()
    assert 100_000 < item_size(encode("𝒳" * 100, largest)) < 400_000
