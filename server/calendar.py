"""`GET /calendar/{token}.ics`: a calendar for who has its address, and no session.

The token is a secret that stands in a path. So nothing here logs, names or repeats a path, and
whatever is wrong with a token is answered as an address that there is not.
"""

import asyncio
import hashlib
import time
from datetime import UTC, date, datetime, timedelta
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data.cascade import Cascades
from data.errors import LimitExceeded, PlannerError, Unavailable
from data.feeds import find_feed
from data.loader import PartitionLoader
from data.metering import Meter
from data.store import Store
from resolvers.calendar import Calendar, load_calendar
from server.answers import json_response, problem
from server.icalendar_feed import render
from server.session import Authenticator
from server.settings import Settings
from server.telemetry import Telemetry

__all__ = ["CalendarEndpoint"]

_RETRY_AFTER: Final = "60"


class CalendarEndpoint:
    """Answers with text/calendar and an ETag, or 304. Calendars are written one after another, in
    a thread, since that takes half a millisecond for each event."""

    def __init__(
        self,
        settings: Settings,
        authenticator: Authenticator,
        store: Store,
        cascades: Cascades,
        telemetry: Telemetry,
    ) -> None:
        self._settings = settings
        self._authenticator = authenticator
        self._store = store
        self._cascades = cascades
        self._telemetry = telemetry
        self._one_by_one = asyncio.Lock()

    async def __call__(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(self._settings.max_seconds):
                return await self._answer(request)
        except TimeoutError:
            return self._failed(request, Unavailable("the calendar took too long"))
        except (Unavailable, LimitExceeded) as error:
            return self._failed(request, error)

    def _failed(self, request: Request, error: PlannerError) -> Response:
        self._telemetry.refused(request.scope, 503, error.code)
        headers = {"Retry-After": _RETRY_AFTER}
        return json_response(problem(error.message, error.code), 503, headers=headers)

    async def _answer(self, request: Request) -> Response:
        began = time.perf_counter()
        meter = Meter()
        store = self._store.metered(meter)
        feed = await find_feed(store, request.path_params["token"])
        if feed is None or not await self._authenticator.still_belongs(feed.team_id, feed.user_id):
            raise HTTPException(404)
        team_id = feed.team_id
        loader = PartitionLoader(
            store, team_id, on_left_behind=lambda owner: self._cascades.finish(team_id, owner)
        )
        try:
            calendar = await load_calendar(
                loader,
                feed,
                first=_days_ago(self._settings.calendar_days),
                max_events=self._settings.max_calendar_events,
            )
            if calendar is None:
                raise HTTPException(404)
            body = await self._render(calendar)
        finally:
            loader.release()
        response = _response(request, body)
        self._telemetry.calendar(
            request.scope,
            response.status_code,
            team_id=team_id,
            events=len(calendar.events),
            seconds=time.perf_counter() - began,
            meter=meter,
            skipped=loader.skipped,
        )
        return response

    async def _render(self, calendar: Calendar) -> bytes:
        """The bytes. Whoever gives up waiting leaves the turn to the thread, which goes on."""
        await self._one_by_one.acquire()
        writing = asyncio.ensure_future(asyncio.to_thread(render, calendar))
        writing.add_done_callback(lambda _: self._one_by_one.release())
        return await asyncio.shield(writing)


def _response(request: Request, body: bytes) -> Response:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    # Nobody between keeps it, and who has it asks whether it is still so.
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if _has(request, etag):
        return Response(status_code=304, headers=headers)
    # A file's name is else that of the path, which is a secret.
    headers["Content-Disposition"] = 'inline; filename="calendar.ics"'
    return Response(body, headers=headers, media_type="text/calendar; charset=utf-8")


def _has(request: Request, etag: str) -> bool:
    """Whether the client has these bytes already: If-None-Match, compared weakly (RFC 9110
    §13.1.2), since a proxy that compresses makes an ETag weak."""
    sent = ",".join(request.headers.getlist("if-none-match"))
    tags = {each.strip().removeprefix("W/") for each in sent.split(",")}
    return etag in tags or sent.strip() == "*"


def _days_ago(days: int) -> date:
    return datetime.now(UTC).date() - timedelta(days=days)
