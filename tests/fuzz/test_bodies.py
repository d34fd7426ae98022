"""Random bodies, as bytes on the wire: never a 500, never a hang, nothing told or left behind.

Each is made from a good request by a few changes, of the JSON or of the bytes, so that most get
past the first check and fail at some later one.
"""

import asyncio
import copy
import gc
import json
import random
from collections import Counter
from typing import Any, Final

import httpx
import pytest

from resolvers.context import RequestContext
from tests.engines import DEEP
from tests.fuzz.conftest import Server

pytestmark = pytest.mark.deep

BODIES: Final = 10_000 if DEEP else 500
AT_ONCE: Final = 16
SEED: Final = 20_240_229

DOCUMENTS: Final = (
    "{ team { id name resources { id name assignments { id startDate } } } }",
    "query Q($f: Date, $t: Date) { team { assignments(from: $f, to: $t) { id note } } }",
    "query Q($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Project { color } } }",
    "mutation M($i: CreateResourceInput!) { createResource(input: $i) { errors { code field } } }",
    "mutation M($i: UpdateProjectInput!) { updateProject(input: $i) { errors { code } } }",
    "{ ...F } fragment F on Query { viewer { id role } a: team @include(if: true) { name } }",
    "{ __schema { types { name } } }",
)
VARIABLES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"f": "2024-01-01", "t": "2024-12-31"},
    {"ids": ["VGVhbTpmdXp6ZWQ", "x"]},
    {"i": {"name": "Ada", "id": "0190c9f0-0000-7000-8000-000000000000"}},
    {"i": {"id": "x", "name": "B", "color": "#000000", "tags": ["a"], "links": [], "n": None}},
)
ODD: Final[tuple[Any, ...]] = (
    None, True, 0, -1, 2**31, 1e400, 1.5, "", " ", "\0", "\ud800", "\u202e", "💥" * 300, "x" * 999,
    [], [[]], [None] * 101, {}, {"": {}}, {"__proto__": 1}, "TEAM#fuzzed", "../etc/passwd", "{",
)  # fmt: skip
TEXT: Final = "{}()[]:!$@#\"'\\/.,&|= \n\t\0\x7f\x80\xffqueryfragment...on__schema0123456789eé💥"


def body(choice: random.Random) -> bytes:
    """One body."""
    request: dict[str, Any] = {
        "query": choice.choice(DOCUMENTS),
        "variables": copy.deepcopy(choice.choice(VARIABLES)),
        "operationName": choice.choice([None, None, "Q", "M", ""]),
        "extensions": choice.choice([None, {}]),
    }
    for _ in range(choice.randrange(3)):
        _change_value(request, choice)
    if choice.random() < 0.4:
        request["query"] = _changed_text(str(request.get("query")), choice)
    content = json.dumps(request).encode()
    if choice.random() < 0.3:
        content = _changed_bytes(content, choice)
    return content


def _change_value(value: Any, choice: random.Random) -> None:
    """Puts something odd somewhere in a JSON value."""
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = choice.choice(keys)
    if isinstance(value[key], dict | list) and choice.random() < 0.7:
        _change_value(value[key], choice)
    elif isinstance(value, dict) and choice.random() < 0.2:
        value[choice.choice(["x", "", "id", "query", "\ud800"])] = value.pop(key)
    else:
        value[key] = copy.deepcopy(choice.choice(ODD))


def _changed_text(text: str, choice: random.Random) -> str:
    for _ in range(choice.randrange(1, 4)):
        at, length = choice.randrange(len(text) + 1), choice.randrange(8)
        new = "".join(choice.choice(TEXT) for _ in range(choice.randrange(6)))
        text = text[:at] + new * choice.choice([1, 1, 1, 50]) + text[at + length :]
    return text


def _changed_bytes(content: bytes, choice: random.Random) -> bytes:
    for _ in range(choice.randrange(1, 4)):
        at, length = choice.randrange(len(content) + 1), choice.randrange(12)
        content = content[:at] + choice.randbytes(choice.randrange(5)) + content[at + length :]
    return content


def contexts() -> list[RequestContext]:
    """Of all requests that something still holds."""
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, RequestContext)]


async def test_no_body_is_the_servers_own_fault(server: Server) -> None:
    before = contexts()  # Those of other tests of this process.
    choice = random.Random(SEED)
    statuses: Counter[int] = Counter()
    turn = asyncio.Semaphore(AT_ONCE)
    media_types = ("application/graphql-response+json", "application/json", "*/*")

    async def send(content: bytes, accept: str) -> None:
        async with turn:
            headers = {"Content-Type": "application/json", "Accept": accept}
            # The time that httpx waits for each answer is what a hang would run into.
            response = await client.post("/graphql", content=content, headers=headers)
            server.assert_harmless(response.status_code, response.json(), response.text)
            statuses[response.status_code] += 1

    async with httpx.AsyncClient(base_url=server.url, headers=server.headers, timeout=20) as client:
        async with asyncio.TaskGroup() as group:
            for _ in range(BODIES):
                group.create_task(send(body(choice), choice.choice(media_types)))
        assert statuses.total() == BODIES
        # Many of each kind: they reach the end, and they fail at every step before it.
        assert set(statuses) == {200, 400}
        assert min(statuses.values()) > BODIES / 20
        good = await client.post("/graphql", json={"query": "{ viewer { id } }"})
        assert good.json() == {"data": {"viewer": {"id": "user-1"}}}
    assert [each for each in contexts() if each not in before] == []


async def test_bytes_that_are_no_json_at_all(server: Server) -> None:
    choice = random.Random(SEED)
    async with httpx.AsyncClient(base_url=server.url, headers=server.headers, timeout=20) as client:
        for length in (0, 1, 2, 10, 100, 1_000, 100_000):
            for _ in range(BODIES // 200):
                response = await client.post(
                    "/graphql",
                    content=choice.randbytes(length),
                    headers={"Content-Type": "application/json"},
                )
                assert response.status_code == 400
                server.assert_harmless(400, response.json(), response.text)
