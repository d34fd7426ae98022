"""What may name a team. The one place of this rule: sessions, keys and commands ask here."""

import re
from typing import TypeGuard

__all__ = ["MAX_TEAM_ID_LENGTH", "is_team_id"]

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
