"""What the planner itself says of an entity: its version, and when and by whom it was written."""

from typing import TypeVar

from msgspec.structs import replace

from data.clock import now
from data.entities import Assignment, Project, Resource, Team

__all__ = ["changed", "content", "created"]

Stamped = TypeVar("Stamped", Team, Resource, Project, Assignment)


def created(entity: Stamped, *, by: str | None = None) -> Stamped:
    """The entity as it is when it is new: version 1. `by` is the user whose session writes it, None
    for an operator."""
    moment = now()
    return replace(entity, version=1, created_at=moment, updated_at=moment, updated_by=by)


def changed(entity: Stamped, *, by: str | None = None) -> Stamped:
    """The entity as it is after one change more."""
    return replace(entity, version=entity.version + 1, updated_at=now(), updated_by=by)


def content(entity: Stamped) -> Stamped:
    """The entity without its stamps: what the client said."""
    return replace(entity, version=0, created_at=None, updated_at=None, updated_by=None)
