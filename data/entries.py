"""A change as the log has it: where it was read, and whether it is news after another one."""

from collections.abc import Set

from msgspec import Struct

from data.changes import Change, ChangeKind
from data.clock import epoch_of
from data.entities import EntityType
from data.positions import Positions

__all__ = ["Entry"]


class Entry(Struct):
    """One change in the log. `ancestors` are the shards before its own, `passed` the positions at
    which its page was read, `before` is the number of the record before it in its shard. A
    `replayed` one is older than what stands before it in the log."""

    team_id: str
    change: Change
    shard: str
    sequence: int
    at: float
    size: int
    passed: Positions
    before: int | None = None
    ancestors: Set[str] = frozenset()
    replayed: bool = False
    index: int = 0

    @property
    def key(self) -> tuple[str, EntityType, str]:
        return self.team_id, self.change.entity_type, self.change.entity_id

    def may_follow(self, last: "Entry") -> bool:
        """Whether this is news after that change of the same entity. Versions count from an
        entity's creation to its deletion; what is made anew under the same id begins again. In
        shards of which neither comes after the other, as a large team's items may be, the times
        of creation and deletion say which of these lives came first."""
        order = self._comes_after(last)
        if order is False:
            return False
        ends, ended = (each.change.kind is ChangeKind.DELETED for each in (self, last))
        if ended:
            return bool(order) or self._turn >= last._turn
        if ends:
            if order is None and self._turn < last._turn:
                return False
        else:
            made, other = self.change.created_at, last.change.created_at
            if made and other and made != other:
                return self._turn > last._turn
        return self.change.version == 0 or self.change.version > last.change.version

    def _comes_after(self, other: "Entry") -> bool | None:
        """None where that can't be said of these two shards."""
        if self.shard == other.shard:
            return self.sequence > other.sequence
        if other.shard in self.ancestors:
            return True
        return False if self.shard in other.ancestors else None

    @property
    def _turn(self) -> float:
        """When the entity was made, or deleted, in seconds since 1970."""
        is_end = self.change.kind is ChangeKind.DELETED
        try:
            return epoch_of((self.change.at if is_end else self.change.created_at) or "")
        except ValueError:
            return self.at

    def positions(self) -> Positions:
        """How far one has got who took all before this, and not this."""
        return Positions(self.passed.at, {**self.passed.shards, self.shard: self.before})
