"""The planner's values, as the rest of the house sees them: frozen, typed, days as `date`.

`updated_by` is the user of the session that wrote last; None where no session did.
"""

import enum
from datetime import date

from msgspec import Struct

__all__ = [
    "Assignment",
    "CalendarFeed",
    "Deletion",
    "Entity",
    "EntityType",
    "Link",
    "Membership",
    "Owner",
    "Project",
    "Resource",
    "Role",
    "Team",
]


class EntityType(enum.StrEnum):
    """What an item is. One value per item, one spelling; stored in the attribute `EntityType`."""

    TEAM = "Team"
    MEMBERSHIP = "Membership"
    RESOURCE = "Resource"
    PROJECT = "Project"
    ASSIGNMENT = "Assignment"
    CALENDAR_FEED = "CalendarFeed"
    CLAIM = "Claim"
    DELETION = "Deletion"
    SESSION = "Session"


class Role(enum.StrEnum):
    """What a member may do. `VIEWER` may only read, and so may a role that is not known."""

    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"


class Team(Struct, frozen=True, kw_only=True, gc=False):
    """`name` is what people call it; the id is the session's team id."""

    id: str
    name: str
    version: int = 0
    created_at: str | None = None
    updated_at: str | None = None
    updated_by: str | None = None


class Membership(Struct, frozen=True, kw_only=True, gc=False):
    """That a user belongs to a team, and as what."""

    team_id: str
    user_id: str
    role: Role
    joined_at: str | None = None
    updated_at: str | None = None
    updated_by: str | None = None


class Resource(Struct, frozen=True, kw_only=True, gc=False):
    """Somebody who can be planned. `deleting_at` is set from the moment a deletion began."""

    id: str
    name: str
    version: int = 0
    created_at: str | None = None
    updated_at: str | None = None
    updated_by: str | None = None
    deleting_at: str | None = None


class Link(Struct, frozen=True, gc=False):
    """A labelled http(s) address."""

    label: str
    url: str


class Project(Struct, frozen=True, kw_only=True, gc=False):
    """A job. `color` is `#RRGGBB`; tags are unique, in the order given."""

    id: str
    name: str
    color: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    version: int = 0
    created_at: str | None = None
    updated_at: str | None = None
    updated_by: str | None = None
    deleting_at: str | None = None


class Assignment(Struct, frozen=True, kw_only=True, gc=False):
    """Who works on what, when: the half-open interval `[start_date, end_date_exclusive)`."""

    id: str
    resource_id: str
    project_id: str
    start_date: date
    end_date_exclusive: date
    note: str | None = None
    version: int = 0
    created_at: str | None = None
    updated_at: str | None = None
    updated_by: str | None = None


class CalendarFeed(Struct, frozen=True, kw_only=True, gc=False):
    """That whoever has a token may read one calendar: that of the resource, or of the project.
    `user_id` is who made it, `token_hash` the token's SHA-256 in hexadecimal."""

    id: str
    team_id: str
    user_id: str
    token_hash: str
    resource_id: str | None = None
    project_id: str | None = None
    created_at: str | None = None


class Deletion(Struct, frozen=True, kw_only=True, gc=False):
    """What is left of an entity for some weeks: that it was deleted, by whom and when. `version` is
    the one after the last that it had; a membership is named by its user's id."""

    id: str
    entity_type: EntityType
    entity_id: str
    version: int = 0
    updated_at: str
    updated_by: str | None = None


Owner = Resource | Project
"""What assignments belong to, and take with them when it is deleted."""

Entity = Team | Membership | Resource | Project | Assignment | CalendarFeed | Deletion
