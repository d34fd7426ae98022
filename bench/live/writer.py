"""Writes as planners do: assignments are created, changed, moved to other days and deleted."""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

import httpx
import uuid_utils

from bench.live.ledger import Change, Ledger

__all__ = ["Writer"]

_FIRST: Final = date(2026, 1, 1)


@dataclass
class Writer:
    """The one who writes in a team. What it sends while a server dies, it sends again to another:
    a create by the same id, a change on the same version, so each is done once, and known."""

    team: str
    headers: Mapping[str, str]
    address: Callable[[], str]
    ledger: Ledger
    client: httpx.AsyncClient
    resource: str = ""
    project: str = ""
    there: dict[str, int] = field(default_factory=dict)
    repeated: int = 0

    async def prepare(self) -> None:
        """Makes a person and a job."""
        self.resource = await self._create("createResource", "resource", name="Ada")
        self.project = await self._create("createProject", "project", name="Job", color="#336699")

    async def write(self, chance: random.Random) -> None:
        """One mutation."""
        what = chance.random()
        if not self.there or what < 0.5:
            await self._create_assignment(chance)
            return
        id = chance.choice(list(self.there))
        if what < 0.75:
            await self._update(id, note=f"Note {chance.randrange(10**6)}")
        elif what < 0.9:
            await self._update(id, startDate=str(_FIRST + timedelta(chance.randrange(300))))
        else:
            await self._delete(id)

    async def _create(self, name: str, result: str, /, **input: Any) -> str:
        type = name[0].upper() + name[1:]
        document = (
            f"mutation($input: {type}Input!) {{ {name}(input: $input) "
            f"{{ {result} {{ id version }} errors {{ code message }} }} }}"
        )
        payload = (await self._send(document, input))[name]
        if payload["errors"]:
            raise RuntimeError(f"{name}: {payload['errors']}")
        return str(payload[result]["id"])

    async def _create_assignment(self, chance: random.Random) -> None:
        sent_at = time.monotonic()
        id = await self._create(
            "createAssignment",
            "assignment",
            id=str(uuid_utils.uuid7()),
            resourceId=self.resource,
            projectId=self.project,
            startDate=str(_FIRST + timedelta(chance.randrange(300))),
            endDate=str(_FIRST + timedelta(330)),
        )
        self.there[id] = 1
        self.ledger.enter(self.team, Change(id, 1, "CREATED"), sent_at)

    async def _update(self, id: str, **changes: str) -> None:
        version = self.there[id]
        sent_at = time.monotonic()
        document = """mutation($input: UpdateAssignmentInput!) { updateAssignment(input: $input) {
          assignment { version } errors { code message } } }"""
        input = {"id": id, "expectedVersion": version, **changes}
        payload = (await self._send(document, input))["updateAssignment"]
        # Sent again, it finds its own version there.
        done = not payload["errors"] or payload["errors"][0]["code"] == "CONFLICT"
        if not done:
            raise RuntimeError(f"updateAssignment: {payload['errors']}")
        if payload["assignment"] and payload["assignment"]["version"] == version:
            return  # It was there already: nothing was changed.
        self.there[id] = version + 1
        self.ledger.enter(self.team, Change(id, version + 1, "UPDATED"), sent_at)

    async def _delete(self, id: str) -> None:
        sent_at = time.monotonic()
        document = """mutation($input: DeleteInput!) { deleteAssignment(input: $input) {
          deletedAssignmentId errors { code message } } }"""
        payload = (await self._send(document, {"id": id}))["deleteAssignment"]
        if payload["errors"]:
            raise RuntimeError(f"deleteAssignment: {payload['errors']}")
        version = self.there.pop(id)
        self.ledger.enter(self.team, Change(id, version + 1, "DELETED"), sent_at)

    async def _send(self, document: str, input: Mapping[str, Any]) -> dict[str, Any]:
        while True:
            try:
                response = await self.client.post(
                    f"http://{self.address()}/graphql",
                    json={"query": document, "variables": {"input": input}},
                    headers=self.headers,
                )
            except httpx.TransportError:
                self.repeated += 1
                await asyncio.sleep(0.05)
                continue
            answer = response.json()
            if "errors" in answer:
                raise RuntimeError(f"a mutation failed: {answer['errors']}")
            data: dict[str, Any] = answer["data"]
            return data
