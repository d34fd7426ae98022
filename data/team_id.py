"""What may name a team or a user. The one place of these rules: sessions, keys and commands."""

import re
from typing import TypeGuard

__all__ = ["MAX_TEAM_ID_LENGTH", "MAX_USER_ID_LENGTH", "is_team_id", "is_user_id"]

# In UTF-8 at most 400 bytes, far below the 2,048 that DynamoDB allows a partition key.
MAX_TEAM_ID_LENGTH = 100

# `#` separates the parts of a key. A lone surrogate cannot be written as UTF-8, so it could never
# reach the table; a control character only ever hides in a key or in a log line.
_FORBIDDEN = re.compile(r"[#\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def is_team_id(value: object) -> TypeGuard[str]:
    """Whether the value can stand in the key `TEAM#{teamId}`: a string of 1 to 100 characters,
    not only whitespace, without `#`, control characters and surrogates. Never raises."""
    return (
        isinstance(value, str)
        and len(value) <= MAX_TEAM_ID_LENGTH
        and bool(value.strip())
        and _FORBIDDEN.search(value) is None
    )


# RFC 7519 sets no bound; OpenID Connect Core §2 allows a `sub` 255 characters.
MAX_USER_ID_LENGTH = 255

# AWS limit: a sort key has at most 1,024 bytes, `MEMBER#` included; 255 characters may have 1,020.
_MAX_USER_ID_BYTES = 1_000


def is_user_id(value: object) -> TypeGuard[str]:
    """Whether the value can name a user: a string of 1 to 255 characters, not only whitespace,
    all printable, since it stands in keys and in lines of a log. Never raises."""
    return (
        isinstance(value, str)
        and len(value) <= MAX_USER_ID_LENGTH
        and bool(value.strip())
        and value.isprintable()
        and len(value.encode()) <= _MAX_USER_ID_BYTES
    )
