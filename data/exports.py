"""Exporting: the items of teams, or those of an export to S3, into files by `EntityType`.

Teams are read by strongly consistent Queries, a few at the same time, and written in their order.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from data.archive import Archive
from data.clock import ago, now
from data.entities import EntityType
from data.expressions import Item, KeyQuery, s
from data.jsonl import FileError, file_of, head_of, line_of
from data.keys import team_in, team_partitions, team_pk
from data.s3_export import S3Export, lines_of
from data.store import Store

__all__ = ["export_teams", "split_s3_export"]

_ATTEMPTS: Final = 3
_CLOCK_SKEW: Final = 300.0
"""Seconds by which the clock of a server that writes may differ from ours."""

Counted = Callable[[int], object]
"""Hears how much was done, each time."""


async def export_teams(
    store: Store,
    archive: Archive,
    team_ids: Sequence[str],
    *,
    at_once: int = 4,
    on_items: Counted,
    on_team: Counted,
) -> None:
    """Writes all items of the teams, each team a unit of the archive. Units have the fact `moving`
    if an assignment may be missing or twice, since others kept moving some while they were read,
    and `empty` if there was nothing. No more than `at_once` teams are read at the same time, and
    few pages of each are in memory."""
    waiting = deque(team_id for team_id in team_ids if not archive.is_done(team_id))
    on_team(len(team_ids) - len(waiting))
    reading: deque[tuple[str, _Reader]] = deque()
    try:
        while waiting or reading:
            while waiting and len(reading) < at_once:
                team_id = waiting.popleft()
                reading.append((team_id, _Reader(store, team_id)))
            team_id, reader = reading[0]
            await _write(archive, team_id, reader, on_items)
            reading.popleft()
            on_team(1)
    finally:
        for _, reader in reading:
            await reader.aclose()


async def _write(archive: Archive, team_id: str, reader: "_Reader", on_items: Counted) -> None:
    count = 0
    while True:
        match await reader.next():
            case list() as page:
                for item in page:
                    archive.write(file_of(item.get("EntityType", {}).get("S")), line_of(item))
                count += len(page)
                on_items(len(page))
            case _Again():
                archive.roll_back()
                on_items(-count)
                count = 0
            case _End(moving):
                archive.commit(team_id, empty=not count, moving=moving)
                return


class _Again:
    """What was read is void: it is read again."""


@dataclass(frozen=True, slots=True)
class _End:
    """All was read."""

    moving: bool


class _Reader:
    """Reads one team in the background, a page ahead."""

    def __init__(self, store: Store, team_id: str) -> None:
        self._store, self._team_id = store, team_id
        self._queue: asyncio.Queue[list[Item] | _Again | _End | Exception] = asyncio.Queue(1)
        self._task = asyncio.create_task(self._read())

    async def next(self) -> list[Item] | _Again | _End:
        """The next page, or what is to be known of those before. Raises Unavailable."""
        read = await self._queue.get()
        if isinstance(read, Exception):
            raise read
        return read

    async def aclose(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _read(self) -> None:
        try:
            for attempt in range(_ATTEMPTS):
                if attempt:
                    await self._queue.put(_Again())
                moved = await self._attempt()
                if not moved:
                    break
            await self._queue.put(_End(moved))
        except Exception as error:
            # For whoever waits for the next page.
            await self._queue.put(error)

    async def _attempt(self) -> bool:
        """Reads all partitions once; returns whether an assignment may be missing or twice."""
        started, since, pages = now(), ago(_CLOCK_SKEW), 0
        seen: dict[str, int] = {}
        for pk in team_partitions(self._team_id):
            query = KeyQuery("#pk = :pk", {":pk": s(pk)})
            async for page in self._store.pages(query, consistent=True):
                pages += pk == team_pk(self._team_id)
                for item in page:
                    if item.get("EntityType") == _ASSIGNMENT:
                        id = item.get("id", {}).get("S", "")
                        seen[id] = seen.get(id, 0) + 1
                await self._queue.put(page)
        return pages > 1 and await self._moved(started, since, seen)

    async def _moved(self, started: str, since: str, seen: dict[str, int]) -> bool:
        """Whether an assignment that was there before was moved from where the pages had not been
        yet to where they had, or the other way round. The index lags by a moment."""
        query = KeyQuery(
            "#pk = :pk AND #updatedAt >= :since",
            {":pk": s(team_pk(self._team_id)), ":since": s(since), ":type": _ASSIGNMENT},
            filter="#EntityType = :type",
            index="byUpdatedAt",
        )
        async for page in self._store.pages(query):
            for item in page:
                times = seen.get(item.get("id", {}).get("S", ""), 0)
                is_new = item.get("createdAt", s("")).get("S", "") >= started
                if times > 1 or (times == 0 and not is_new):
                    return True
        return False


_ASSIGNMENT: Final = s(EntityType.ASSIGNMENT)


def split_s3_export(
    export: S3Export,
    archive: Archive,
    teams: Collection[str],
    *,
    on_items: Counted,
    on_bytes: Counted,
) -> list[str]:
    """Writes the lines of an export to S3 as they are, each data file a unit of the archive; only
    those of `teams`, if any are named. Returns those of them that it has nothing of. One line is
    in memory. Raises FileError."""
    for file in export.files:
        found: set[str] = set()
        if archive.is_done(file.path.name):
            on_bytes(file.path.stat().st_size)
            continue
        for number, line in lines_of(file, on_bytes):
            try:
                head = head_of(line)
            except ValueError as error:
                raise FileError(f"{file.path}, line {number}: {error}") from None
            if teams:
                team_id = team_in(head.pk.S or "")
                if team_id is None or team_id not in teams:
                    continue
                found.add(team_id)
            kind = head.entity_type.S if head.entity_type else None
            archive.write(file_of(kind), line if line.endswith(b"\n") else line + b"\n")
            on_items(1)
        archive.commit(file.path.name, teams=sorted(found))
    return sorted(set(teams).difference(*archive.facts("teams")))
