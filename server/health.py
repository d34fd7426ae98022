"""Whether the process runs (`/healthz`), and whether it can serve (`/readyz`)."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from data.store import NotReady, Outage, Store
from server.answers import json_response

__all__ = ["MESSAGES", "Readiness", "healthz", "readyz"]

log = structlog.get_logger(__name__)

# Several balancers ask every few seconds each; the table need not hear of all of them.
_REMEMBERED: Final = 5.0
# Balancers give up after some seconds, and then would not see the reason.
_PATIENCE: Final = 2.5

MESSAGES: Final = {
    Outage.CREDENTIALS_REFUSED: "AWS does not accept the credentials; they may have expired.",
    Outage.FAILING: "DynamoDB answers with errors of its own.",
    Outage.NO_CREDENTIALS: "No AWS credentials were found.",
    Outage.NO_PERMISSION: "The credentials may not read the table.",
    Outage.SLOW: f"The table did not answer within {_PATIENCE} seconds.",
    Outage.TABLE_MISSING: "There is no such table; `planner table create` makes it.",
    Outage.THROTTLED: "DynamoDB throttles requests to the table.",
    Outage.UNKNOWN: "The table can't be used; the log has the reason.",
    Outage.UNREACHABLE: "DynamoDB can't be reached.",
}


class Readiness:
    """Whether the table can be used. An answer is remembered for five seconds, and those who ask
    at the same time share one request. A change is logged, with its cause. `quiet` is around the
    request, for those who trace requests and don't want this one."""

    def __init__(
        self,
        store: Store,
        *,
        quiet: Callable[[], AbstractContextManager[object]] = nullcontext,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._quiet = quiet
        self._clock = clock
        self._outage: Outage | None = None
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[Outage | None] | None = None

    async def outage(self) -> Outage | None:
        """Why the table can't be used; None when it can."""
        if self._clock() - self._asked_at < _REMEMBERED:
            return self._outage
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        # Who asked first may go away; the others still wait for the answer.
        return await asyncio.shield(self._asking)

    async def aclose(self) -> None:
        """Waits for a request that is under way; it has a bound."""
        if self._asking:
            await asyncio.wait([self._asking])

    async def _ask(self) -> Outage | None:
        outage: Outage | None = None
        cause: BaseException | None = None
        try:
            with self._quiet():
                async with asyncio.timeout(_PATIENCE):
                    await self._store.probe()
        except NotReady as error:
            outage, cause = error.reason, error.__cause__
        except TimeoutError:
            outage = Outage.SLOW
        except Exception as error:
            outage, cause = Outage.UNKNOWN, error
        if outage and outage != self._outage:
            log.warning("not ready", reason=outage.value, cause=repr(cause) if cause else None)
        elif self._outage and not outage:
            log.info("ready again", after=self._outage.value)
        self._outage, self._asked_at, self._asking = outage, self._clock(), None
        return outage


async def healthz(request: Request) -> Response:
    """The process runs; nothing else is looked at, since a restart mends no table."""
    return PlainTextResponse("ok")


async def readyz(request: Request) -> Response:
    """200 if requests can be served, else 503 with the reason."""
    readiness: Readiness = request.app.state.readiness
    if outage := await readiness.outage():
        body = {"status": "unavailable", "reason": outage.value, "message": MESSAGES[outage]}
        return json_response(body, 503)
    return json_response({"status": "ready"}, 200)
