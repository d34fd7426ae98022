"""What is wrong with the items of a team, and putting right what is safe to put right.

Reading a partition takes time, and others write meanwhile: what depends on more than one item is
looked at again before it is reported, and every repair is on condition of what was read.
"""

import enum
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final

from data.cascade import finish_deletion
from data.clock import age_seconds
from data.decoding import Skip, SkipCode, decode
from data.derived import amiss
from data.entities import Assignment, EntityType, Owner, Project, Resource
from data.expressions import Item, KeyQuery, s
from data.items import table_key
from data.keys import (
    ASSIGNMENT,
    DELETION,
    META,
    after,
    project_sk,
    resource_sk,
    team_partitions,
)
from data.loader import MARK_TIMEOUT
from data.repairs import apply
from data.rows import row_of
from data.store import Store
from data.transactions import Update

__all__ = ["Fault", "Finding", "examine", "fix"]


class Fault(enum.StrEnum):
    """What can be wrong."""

    DUPLICATE_ID = "DUPLICATE_ID"
    MALFORMED = "MALFORMED"
    NO_TEAM = "NO_TEAM"
    ORPHANED = "ORPHANED"
    STUCK_DELETION = "STUCK_DELETION"
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    UNTYPED = "UNTYPED"
    WRONG_ATTRIBUTE = "WRONG_ATTRIBUTE"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one item. `repair` puts it right: an update, or an owner's deletion that is to
    be finished; None where people have to decide. `says` has names of attributes and ids, and no
    other values."""

    fault: Fault
    team_id: str
    pk: str
    sk: str
    says: str
    repair: Update | Owner | None = None


async def fix(store: Store, finding: Finding) -> bool:
    """Puts it right; returns whether it is right now. If not, it needs people, or somebody wrote
    meanwhile."""
    match finding.repair:
        case None:
            return False
        case Update() as update:
            return await apply(store, update)
        case owner:
            await finish_deletion(store, finding.team_id, type(owner), owner.id)
            return True


async def examine(store: Store, team_id: str) -> AsyncIterator[tuple[int, list[Finding]]]:
    """Reads all partitions of the team, strongly consistent; page by page how many items there
    were and what is wrong with them. It remembers the ids of the assignments, and the keys of the
    others."""
    team = _Team(store, team_id)
    own, *beside = team_partitions(team_id)
    # What assignments refer to stands behind them, and is read first.
    for condition in ("#sk >= :end", "#sk < :end"):
        query = KeyQuery(
            f"#pk = :pk AND {condition}", {":pk": s(own), ":end": s(after(ASSIGNMENT))}
        )
        async for page in store.pages(query, consistent=True):
            yield len(page), [each for item in page async for each in team.examine(item)]
    if team.is_nameless:
        says = "there are items of this team, but not the team itself"
        yield 0, [Finding(Fault.NO_TEAM, team_id, own, META, says)]
    for pk in beside:
        async for page in store.pages(KeyQuery("#pk = :pk", {":pk": s(pk)}), consistent=True):
            yield len(page), [each for item in page for each in _beside(team_id, item)]


class _Team:
    """What is known of a team while its items are examined."""

    def __init__(self, store: Store, team_id: str) -> None:
        self._store, self._team_id = store, team_id
        self._keys: set[str] = set()
        self._missing: dict[str, bool] = {}
        self._first_keys: dict[str, str] = {}

    @property
    def is_nameless(self) -> bool:
        return bool(self._keys or self._first_keys) and META not in self._keys

    async def examine(self, item: Item) -> AsyncIterator[Finding]:
        sk = item["sk"]["S"]
        # Tombstones may be all that is left of a team, and be many.
        if not sk.startswith((ASSIGNMENT, DELETION)):
            self._keys.add(sk)
        repair = amiss(item)
        if repair:
            yield self._about(item, *_named(item, repair), repair)
            item = {name: value for name, value in item.items() if name not in repair.remove}
            item |= repair.set
        try:
            entity = decode(row_of(item))
        except Skip as skip:
            yield self._about(item, _FAULTS[skip.code], str(skip), None)
            return
        match entity:
            case Resource() | Project() if entity.deleting_at:
                if age_seconds(entity.deleting_at) > MARK_TIMEOUT:
                    says = f"its deletion began at {entity.deleting_at} and was left behind"
                    yield self._about(item, Fault.STUCK_DELETION, says, entity)
            case Assignment():
                async for finding in self._assignment(item, entity):
                    yield finding

    async def _assignment(self, item: Item, assignment: Assignment) -> AsyncIterator[Finding]:
        sk = item["sk"]["S"]
        first = self._first_keys.setdefault(assignment.id, assignment.start_date.isoformat())
        other = f"{ASSIGNMENT}{first}#{assignment.id}"
        if other != sk and await self._is_there(other) and await self._is_there(sk):
            yield self._about(item, Fault.DUPLICATE_ID, f"{other} has the same id", None)
        owners = (resource_sk(assignment.resource_id), project_sk(assignment.project_id))
        missing = [owner for owner in owners if await self._is_missing(owner)]
        if missing and await self._is_there(sk):
            yield self._about(item, Fault.ORPHANED, f"there is no {' and no '.join(missing)}", None)

    async def _is_missing(self, owner: str) -> bool:
        if owner in self._keys:
            return False
        if owner not in self._missing:
            # It may have come since the others were read.
            self._missing[owner] = not await self._is_there(owner)
        return self._missing[owner]

    async def _is_there(self, sk: str) -> bool:
        return await self._store.get(table_key(self._team_id, sk)) is not None

    def _about(self, item: Item, fault: Fault, says: str, repair: Update | Owner | None) -> Finding:
        return Finding(fault, self._team_id, item["pk"]["S"], item["sk"]["S"], says, repair)


_FAULTS: Final = {
    SkipCode.MALFORMED_ITEM: Fault.MALFORMED,
    SkipCode.MISSING_ENTITY_TYPE: Fault.UNTYPED,
    SkipCode.UNKNOWN_ENTITY_TYPE: Fault.UNKNOWN_TYPE,
}


def _named(item: Item, repair: Update) -> tuple[Fault, str]:
    names = {
        "lacks": sorted(name for name in repair.set if name not in item),
        "has a wrong": sorted(name for name in repair.set if name in item),
        "should not have": sorted(repair.remove),
    }
    says = "; ".join(f"{verb} {', '.join(each)}" for verb, each in names.items() if each)
    return Fault.UNTYPED if "EntityType" in repair.set else Fault.WRONG_ATTRIBUTE, says


def _beside(team_id: str, item: Item) -> Iterator[Finding]:
    """What is wrong with an item beside the team's own partition."""
    pk, sk = item["pk"]["S"], item["sk"]["S"]
    kind = item.get("EntityType", {}).get("S")
    if "EntityType" not in item:
        yield Finding(Fault.UNTYPED, team_id, pk, sk, "EntityType is missing")
    elif kind not in _KINDS:
        yield Finding(Fault.UNKNOWN_TYPE, team_id, pk, sk, "EntityType is none that is known")
    elif kind == EntityType.CLAIM:
        absent = [name for name, form in _CLAIM.items() if form not in item.get(name, {})]
        if absent:
            says = " and ".join(f"'{name}' is missing" for name in absent)
            yield Finding(Fault.MALFORMED, team_id, pk, sk, says)
    else:
        try:
            decode(row_of(item))
        except Skip as skip:
            yield Finding(_FAULTS[skip.code], team_id, pk, sk, str(skip))


_KINDS: Final = frozenset(EntityType)
_CLAIM: Final = {"target": "S", "expires": "N"}
"""A claim that does not say until when would stay for ever."""
