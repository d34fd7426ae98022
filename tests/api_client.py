"""The API as a client uses it, and what it asks of DynamoDB meanwhile."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import httpx

from data.entities import Entity
from data.expressions import Item, KeyQuery, s
from data.items import encode
from data.store import Store
from server.authjs import cookie_name, mint
from tests.taps import listening

__all__ = ["COOKIE", "SECRET", "Api", "Capture", "asking", "everything", "put", "token"]

SECRET = "a secret of the tests, long enough for anybody"
COOKIE = cookie_name(secure=False)

asking: ContextVar[str | None] = ContextVar("asking", default=None)
"""The team whose request the application is answering, for the audit of what it then sends."""


def token(team: str, *, user: str = "user-1", role: str | None = "member") -> str:
    """A session token of the team."""
    return mint(
        SECRET,
        cookie_name=COOKIE,
        user_id=user,
        team_id=team,
        role=role,
        lifetime=timedelta(hours=1),
        now=time.time(),
    )


class Api:
    """One signed-in client."""

    def __init__(self, http: httpx.AsyncClient, team: str, *, role: str | None = "member") -> None:
        self.http = http
        self.team = team
        self.headers = {"Cookie": f"{COOKIE}={token(team, role=role)}"}

    async def post(self, query: str, variables: Mapping[str, Any] | None = None) -> httpx.Response:
        """The HTTP response to an operation."""
        # Written here, since httpx would refuse a lone surrogate.
        content = json.dumps({"query": query, "variables": dict(variables or {})}).encode()
        headers = {**self.headers, "Content-Type": "application/json"}
        before = asking.set(self.team)
        try:
            return await self.http.post("/graphql", content=content, headers=headers)
        finally:
            asking.reset(before)

    async def run(self, query: str, **variables: Any) -> dict[str, Any]:
        """The whole answer, as parsed JSON."""
        answer: dict[str, Any] = (await self.post(query, variables)).json()
        return answer

    async def data(self, query: str, **variables: Any) -> dict[str, Any]:
        """The data of an answer that has no errors."""
        answer = await self.run(query, **variables)
        assert "errors" not in answer, answer["errors"]
        data: dict[str, Any] = answer["data"]
        return data

    async def mutate(self, name: str, selection: str, /, **input: Any) -> dict[str, Any]:
        """The payload of one mutation, whose input type is named after it."""
        type_name = (
            "DeleteInput" if name.startswith("delete") else name[0].upper() + name[1:] + "Input"
        )
        document = f"mutation($input: {type_name}!) {{ {name}(input: $input) {{ {selection} }} }}"
        payload: dict[str, Any] = (await self.data(document, input=input))[name]
        return payload

    async def resource(self, name: str = "Ada") -> str:
        """The id of a new resource."""
        payload = await self.mutate(
            "createResource", "resource { id } errors { message }", name=name
        )
        assert payload["errors"] == []
        return str(payload["resource"]["id"])

    async def project(self, name: str = "Bridge", color: str = "#336699") -> str:
        """The id of a new project."""
        payload = await self.mutate(
            "createProject", "project { id } errors { message }", name=name, color=color
        )
        assert payload["errors"] == []
        return str(payload["project"]["id"])

    async def assignment(
        self, resource: str, project: str, start: date | str, end: date | str, **more: Any
    ) -> str:
        """The id of a new assignment; both days are inclusive."""
        payload = await self.mutate(
            "createAssignment",
            "assignment { id } errors { code message field }",
            resourceId=resource,
            projectId=project,
            startDate=str(start),
            endDate=str(end),
            **more,
        )
        assert payload["errors"] == []
        return str(payload["assignment"]["id"])


@dataclass
class Capture:
    """Requests to DynamoDB, in order: operation and parameters."""

    store: Store
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listening = listening(self.store, self._note)
        self._listening.__enter__()

    def _note(self, operation: str, request: Mapping[str, Any]) -> None:
        self.requests.append((operation, dict(request)))

    def stop(self) -> None:
        self._listening.__exit__(None, None, None)

    def clear(self) -> None:
        self.requests.clear()

    @property
    def operations(self) -> list[str]:
        return [name for name, _ in self.requests]

    @property
    def table_queries(self) -> list[dict[str, Any]]:
        """The Queries on the table itself, not on an index."""
        return [p for name, p in self.requests if name == "Query" and "IndexName" not in p]

    @property
    def index_queries(self) -> list[dict[str, Any]]:
        return [p for name, p in self.requests if name == "Query" and "IndexName" in p]


async def put(store: Store, team: str, items: Sequence[Entity | Item]) -> None:
    """Writes entities, or raw items without their `pk`, straight into the team's partition."""
    raw = [
        {"pk": s(f"TEAM#{team}"), **item} if isinstance(item, dict) else encode(team, item)
        for item in items
    ]
    for start in range(0, len(raw), 50):
        await asyncio.gather(*(store.put(item, None) for item in raw[start : start + 50]))


async def everything(store: Store, team: str) -> list[Item]:
    """All items of a team's partition, in the order of their keys."""
    return await store.query(KeyQuery("#pk = :pk", {":pk": s(f"TEAM#{team}")}))
