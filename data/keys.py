"""Partition and sort keys: the only place where one is put together.

Inside a team's partition the sort keys stand in the order
`!DEL# < ASN# < MEMBER# < META < PRJ# < RES#`: what is deleted stands before all that is there.
"""

import unicodedata
from datetime import date

from data.team_id import is_team_id

__all__ = [
    "ASSIGNMENT",
    "DELETION",
    "FEED",
    "MEMBER",
    "META",
    "PROJECT",
    "RESOURCE",
    "TEAM",
    "TEAMS",
    "after",
    "assignment_sk",
    "claims_pk",
    "deletion_sk",
    "feed_key",
    "feed_sk",
    "feeds_pk",
    "is_id",
    "membership_sk",
    "project_sk",
    "resource_sk",
    "session_key",
    "team_in",
    "team_partitions",
    "team_pk",
    "user_pk",
]

ASSIGNMENT = "ASN#"
DELETION = "!DEL#"
FEED = "FEED#"
MEMBER = "MEMBER#"
META = "META"
PROJECT = "PRJ#"
RESOURCE = "RES#"
TEAM = "TEAM#"
TEAMS = "TEAMS"
"""The partition of `GSI1` that lists all teams; its sort keys are their partitions."""

# AWS limit: a sort key has at most 1,024 bytes; the longest prefix is `ASN#YYYY-MM-DD#`.
_MAX_ID_BYTES = 1_000


def after(prefix: str) -> str:
    """The end of the range of all keys that begin with a prefix ending in `#`: `$` is the next
    character, so whatever an id is made of, its key sorts before this."""
    return prefix.removesuffix("#") + "$"


def team_pk(team_id: str) -> str:
    """The partition of a team. Every request to the table is scoped by this one function, and
    the id comes from the session alone (A1). Raises ValueError for what is no team id."""
    if not is_team_id(team_id):
        raise ValueError("not a team id")
    return TEAM + team_id


def claims_pk(team_id: str) -> str:
    """The partition of the ids that the team's clients chose for assignments: beside the team's
    own, so that a timeline never reads them. No team id has a `#`, so no team's is this."""
    return f"{team_pk(team_id)}#CLAIMS"


def feeds_pk(team_id: str) -> str:
    """The partition of the team's calendar feeds, beside its own as that of the claims is."""
    return f"{team_pk(team_id)}#FEEDS"


def team_partitions(team_id: str) -> tuple[str, ...]:
    """All partitions that a team has, its own first."""
    return team_pk(team_id), claims_pk(team_id), feeds_pk(team_id)


def team_in(pk: str) -> str | None:
    """The team that a partition belongs to, be it the team's own or one beside it; None for the
    partition of anything else."""
    team_id = pk.removeprefix(TEAM).partition("#")[0]
    return team_id if pk.startswith(TEAM) and is_team_id(team_id) else None


def feed_key(token_hash: str) -> str:
    """Both keys of a calendar feed in `GSI1`: all that leads from its address to its team."""
    return FEED + token_hash


def user_pk(user_id: str) -> str:
    """The partition of a user: of the memberships in `GSI1`, and of what an Auth.js adapter keeps
    of the user in the table. The two share no sort key."""
    return f"USER#{user_id}"


def session_key(token: str) -> str:
    """Both keys of a session in `GSI1`, and its sort key in the table: those of Auth.js."""
    return f"SESSION#{token}"


def resource_sk(id: str) -> str:
    return RESOURCE + id


def project_sk(id: str) -> str:
    return PROJECT + id


def membership_sk(user_id: str) -> str:
    return MEMBER + user_id


def deletion_sk(id: str) -> str:
    return DELETION + id


def feed_sk(id: str) -> str:
    return FEED + id


def assignment_sk(start: date, id: str) -> str:
    """The day first, so that a range of days is a range of keys; the id makes it unique (A4)."""
    return f"{ASSIGNMENT}{start.isoformat()}#{id}"


def is_id(text: str) -> bool:
    """Whether an item can have this id: not empty, no `#`, no control character, and short enough
    for a key. Planner ids are UUIDs; rows written elsewhere may have ULIDs or others."""
    if not text or len(text) > _MAX_ID_BYTES or "#" in text:
        return False
    if text.isascii():
        return text.isprintable()
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        return False
    return len(text.encode()) <= _MAX_ID_BYTES
