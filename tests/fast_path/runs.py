"""One request carried out, with and without the fast path, and all that can be seen of it."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

from structlog.testing import capture_logs

from data.cascade import Cascades
from data.entities import Role
from resolvers.budget import Budget
from resolvers.context import RequestContext
from resolvers.session import Session
from schema.execution import Document, carry_out, prepare
from tests.fast_path.documents import Request
from tests.fast_path.faults import Fault, Place, misbehaving, watching
from tests.fast_path.team import USER, Replay
from tests.limits import LIMITS

__all__ = ["Case", "Seen", "prepared", "see", "touched"]

_LIMITS: Final = replace(LIMITS, list_input=1000, tokens=50_000)


@dataclass(frozen=True, slots=True)
class Case:
    """A request, who sends it, what it may take, and what goes wrong meanwhile."""

    request: Request
    team: str = "team-1"
    role: Role = Role.MEMBER
    objects: int = LIMITS.objects
    faults: Sequence[Fault] = ()

    def __str__(self) -> str:
        what = f"team: {self.team} as {self.role}, at most {self.objects} objects"
        return "\n".join([str(self.request), what, *map(str, self.faults)])


@dataclass(frozen=True, slots=True)
class Seen:
    """The answer, exactly: order and types count. And what was sent, spent and logged."""

    body: str
    executed: bool
    requests: Sequence[str]
    left: int
    refusals: Sequence[str]
    log: Sequence[str]
    shown: str

    def __str__(self) -> str:
        return "\n".join([self.shown, f"{len(self.requests)} requests", *self.log])


def prepared(request: Request) -> Document:
    """The document, parsed and validated like any other."""
    return prepare(request.document, limits=_LIMITS, introspection=True)


def touched(case: Case) -> set[Place]:
    """The attributes that the usual answer is made of."""
    with watching() as places:
        see(case, prepared(case.request), fast_path=False)
    return places


def see(case: Case, document: Document, *, fast_path: bool) -> Sequence[Seen]:
    """Carries out all that is sent, each on an event loop of its own."""
    return [
        asyncio.run(_see(case, document, name, variables, fast_path))
        for name, variables in case.request.sent
    ]


async def _see(
    case: Case,
    document: Document,
    operation: str | None,
    variables: Mapping[str, Any],
    fast_path: bool,
) -> Seen:
    client = Replay()
    store = client.store
    budget = Budget(objects=case.objects, seconds=LIMITS.seconds)
    session = Session(user_id=USER, team_id=case.team, role=case.role)
    context = RequestContext(session, store, Cascades(store), budget)
    with capture_logs() as log, misbehaving(case.faults) if case.faults else nullcontext():
        answer = await carry_out(
            document,
            context,
            variables=variables,
            operation_name=operation,
            correlation_id="c",
            limits=_LIMITS,
            suggestions=True,
            fast_path=fast_path,
        )
        # What an error left behind is settled in the background.
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
    return Seen(
        body=_without_addresses(repr(answer.body)),
        executed=answer.executed,
        requests=client.requests,
        # By how much it was overspent is nobody's business: the operation ends there.
        left=max(budget._left, -1),
        refusals=[repr(each) for each in context.refusals],
        # A row that can't be read is logged once in the life of a process.
        log=[_line(each) for each in log if each["event"] == "operation failed"],
        shown=_without_addresses(
            json.dumps(answer.body, indent=1, ensure_ascii=False, default=repr)
        ),
    )


def _line(event: Any) -> str:
    """A line of the log, with the exception's type and message for the exception itself."""
    return _without_addresses(repr({**event, "exc_info": repr(event.get("exc_info"))}))


def _without_addresses(text: str) -> str:
    """The scalar ID takes any object, and answers with how it calls itself."""
    return re.sub(r"0x[0-9a-f]{6,}", "0x…", text)
