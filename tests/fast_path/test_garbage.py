"""What an operation leaves in memory: nothing that only the garbage collector would find."""

import asyncio
import gc

import pytest

from data.cascade import Cascades
from data.entities import Role
from resolvers.budget import Budget
from resolvers.context import RequestContext
from resolvers.session import Session
from schema.execution import carry_out, prepare
from tests.fast_path.team import USER, Replay
from tests.limits import LIMITS

TIMELINE = "{ team { resources { id } assignments { id resource { name } project { name } } } }"
UNKNOWN = 'mutation { deleteAssignment(input: {id: "x"}) { errors { code } } }'


async def carry(query: str, store: Replay, *, fast_path: bool) -> None:
    session = Session(user_id=USER, team_id="team-1", role=Role.MEMBER)
    budget = Budget(objects=LIMITS.objects, seconds=LIMITS.seconds)
    context = RequestContext(session, store.store, Cascades(store.store), budget)
    document = prepare(query, limits=LIMITS, introspection=True)
    answer = await carry_out(
        document,
        context,
        variables=None,
        operation_name=None,
        correlation_id="c",
        limits=LIMITS,
        fast_path=fast_path,
    )
    context.release()
    assert answer.executed
    assert "errors" not in answer.body


@pytest.mark.parametrize("fast_path", [True, False])
@pytest.mark.parametrize("query", [TIMELINE, UNKNOWN])
async def test_an_operation_leaves_no_cycles(query: str, fast_path: bool) -> None:
    store = Replay()
    for _ in range(3):
        await carry(query, store, fast_path=fast_path)
    await asyncio.sleep(0)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            await carry(query, store, fast_path=fast_path)
        await asyncio.sleep(0)
        assert gc.collect() == 0
    finally:
        gc.enable()
