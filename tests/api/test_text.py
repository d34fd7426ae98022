"""Text comes back as it was sent, to the code point; what is no text is refused (S-13)."""

import json
import unicodedata
from typing import Any

import pytest

from data.store import Store
from tests.api.samples import (
    ERRORS,
    assignment,
    gid,
    input_type,
    nothing_written,
    project,
    resource,
)
from tests.api_client import Api, Capture, everything, put

pytestmark = pytest.mark.engines("local")

GOOD = {
    "right to left": "مهندس",
    "a direction override": "a\u202eb\u202c",
    "NFC": "Zo\u00eb",
    "NFD": "Zoe\u0308",
    "a family": "👩\u200d👩\u200d👧",
    "a flag": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "four bytes": "𐍈𝒜😀",
    "several scripts": "Ελένη 山田 Müller Ольга ๆ",
    "markup": "<b>'x'</b> & \"q\" \\ %s {x}",
    "a private character": "\ue000",
    "not a character": "\ufffe\uffff",
    "spaces around": "\u00a0 x \u3000",
    "a byte order mark": "\ufeffx",
}
BAD = {
    "a lone high surrogate": "\ud800",
    "a lone low surrogate": "a\udfffb",
    "surrogates the wrong way round": "\ude00\ud83d",
    "a null": "a\u0000b",
    "an escape": "\u001b[31m",
    "delete": "a\u007f",
    "a next line": "a\u0085b",
}
NAME = "{ name }"


IDS = {type: gid(type, type[0].lower()) for type in ("Resource", "Project", "Assignment")}


def writes(text: str) -> list[tuple[str, dict[str, Any], list[str]]]:
    """Each mutation that takes text, its input with the text in it, and the path to that."""
    new = {"name": "x", "color": "#123456"}
    days = {"startDate": "2024-01-10", "endDate": "2024-01-12"}
    link = {"label": text, "url": "https://example.org"}
    return [
        ("createResource", {"name": text}, ["name"]),
        ("updateResource", {"id": IDS["Resource"], "name": text}, ["name"]),
        ("createProject", new | {"name": text}, ["name"]),
        ("createProject", new | {"description": text}, ["description"]),
        ("createProject", new | {"tags": ["x", text]}, ["tags", "1"]),
        ("updateProject", {"id": IDS["Project"], "name": text}, ["name"]),
        ("updateProject", {"id": IDS["Project"], "description": text}, ["description"]),
        ("updateProject", {"id": IDS["Project"], "tags": [text]}, ["tags", "0"]),
        ("updateProject", {"id": IDS["Project"], "links": [link]}, ["links", "0", "label"]),
        (
            "createAssignment",
            {"resourceId": IDS["Resource"], "projectId": IDS["Project"], "note": text} | days,
            ["note"],
        ),
        ("updateAssignment", {"id": IDS["Assignment"], "note": text}, ["note"]),
    ]


def found(value: Any, path: list[str]) -> Any:
    for step in path:
        value = value[int(step)] if step.isdigit() else value[step]
    return value


SELECTION = {
    "Resource": "resource { name }",
    "Project": "project { name description tags links { label } }",
    "Assignment": "assignment { note }",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
async def test_text_comes_back_as_it_was_sent(api: Api, store: Store, text: str) -> None:
    await put(store, api.team, [resource("r"), project("p"), assignment("2024-01-10", 3, id="a")])
    for mutation, input, path in writes(text):
        type = mutation.removeprefix("create").removeprefix("update")
        payload = await api.mutate(mutation, f"{SELECTION[type]} {ERRORS}", **input)
        assert payload["errors"] == []
        assert found(payload[type.lower()], path) == text
    answer = await api.data("{ team { resources { name } assignments { note } } }")
    assert {each["name"] for each in answer["team"]["resources"]} == {text}
    assert {each["note"] for each in answer["team"]["assignments"]} == {text}
    assert sum(each.get("name") == {"S": text} for each in await everything(store, api.team)) == 4


async def test_composed_and_decomposed_names_stay_two_names(api: Api) -> None:
    composed, decomposed = GOOD["NFC"], GOOD["NFD"]
    assert unicodedata.normalize("NFC", decomposed) == composed != decomposed
    for name in (composed, decomposed):
        await api.resource(name)
    answer = await api.data("{ team { resources { name } } }")
    assert answer["team"]["resources"] == [{"name": composed}, {"name": decomposed}]


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
async def test_text_in_a_literal_comes_back_as_it_was_sent(api: Api, text: str) -> None:
    for literal in (json.dumps(text, ensure_ascii=False), escaped(text)):
        answer = await api.data(
            f"mutation {{ createResource(input: {{ name: {literal} }}) {{ resource {NAME} }} }}"
        )
        assert answer["createResource"]["resource"] == {"name": text}


def escaped(text: str) -> str:
    return '"' + "".join(f"\\u{{{ord(character):x}}}" for character in text) + '"'


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
async def test_what_is_no_text_is_invalid_in_every_field_and_nothing_is_asked(
    api: Api, captured: Capture, text: str
) -> None:
    for mutation, input, path in writes(text):
        declared = f"mutation($i: {input_type(mutation)}!)"
        document = f"{declared} {{ {mutation}(input: $i) {{ {ERRORS} }} }}"
        response = await api.post(document, {"i": input})
        assert response.status_code == 200
        (error,) = response.json()["data"][mutation]["errors"]
        assert (error["code"], error["field"]) == ("INVALID", path)
    assert captured.requests == []


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
async def test_what_is_no_text_is_no_day_and_no_colour_and_nothing_is_asked(
    api: Api, captured: Capture, text: str
) -> None:
    day = {"id": IDS["Assignment"], "startDate": text}
    answer = await api.run(
        "mutation($i: UpdateAssignmentInput!) { updateAssignment(input: $i) { __typename } }",
        i=day,
    )
    (error,) = answer["errors"]
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": ["i", "startDate"]}
    answer = await api.run("query($d: Date) { team { assignments(from: $d) { id } } }", d=text)
    assert answer["errors"][0]["extensions"] == {"code": "BAD_USER_INPUT", "field": ["d"]}
    payload = await api.mutate("updateProject", ERRORS, id=IDS["Project"], color=text)
    assert [each["field"] for each in payload["errors"]] == [["color"]]
    assert captured.requests == []


@pytest.mark.parametrize(
    "document",
    [
        "{ team { name } } \ud800",
        '{ node(id: "\ud800") { id } }',
        'mutation { createResource(input: { name: "\ud800" }) { errors { code } } }',
        'mutation { createResource(input: { name: "\\ud800" }) { errors { code } } }',
        'mutation { createResource(input: { name: "\\u{110000}" }) { errors { code } } }',
        'mutation { createResource(input: { name: "a\nb" }) { errors { code } } }',
        "# \ud800\n{ team { name } }",
        "query \ud800 { team { name } }",
        "{ team { name \u0000 } }",
        "{ \u202eteam { name } }",
    ],
)
async def test_document_that_is_no_text_is_bad_user_input_and_nothing_is_asked(
    api: Api, captured: Capture, document: str
) -> None:
    response = await api.post(document)
    assert response.status_code == 200  # as older clients expect of application/json
    (error,) = response.json()["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert "data" not in response.json()
    assert captured.requests == []


async def test_control_character_in_a_literal_is_invalid(api: Api, store: Store) -> None:
    async with nothing_written(store, api.team):
        answer = await api.data(
            f"""mutation {{ createResource(input: {{ name: "a\\u0000b" }}) {{ {ERRORS} }} }}"""
        )
    (error,) = answer["createResource"]["errors"]
    assert (error["code"], error["field"]) == ("INVALID", ["name"])


async def test_lone_surrogate_as_variable_name_or_operation_name_fails_nothing(api: Api) -> None:
    assert await api.data("{ team { name } }", **{"\ud800": "\ud800"}) == {
        "team": {"name": api.team}
    }
    body = json.dumps({"query": "query A { team { name } }", "operationName": "\ud800"})
    headers = {**api.headers, "Content-Type": "application/json"}
    response = await api.http.post("/graphql", content=body, headers=headers)
    assert response.json()["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


@pytest.mark.parametrize("character", ["\n", "\r", "\t"])
async def test_lines_may_break_in_a_note_and_a_description_but_not_in_a_name(
    api: Api, character: str
) -> None:
    text = f"a{character}b"
    payload = await api.mutate(
        "createProject",
        f"project {{ description }} {ERRORS}",
        name="x",
        color="#123456",
        description=text,
    )
    assert payload == {"project": {"description": text}, "errors": []}
    payload = await api.mutate("createResource", ERRORS, name=text)
    assert [(each["code"], each["field"]) for each in payload["errors"]] == [("INVALID", ["name"])]
