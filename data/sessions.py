"""Sessions that Auth.js keeps in the table (its strategy `database`).

Their shape is that of @auth/dynamodb-adapter: `USER#{userId} / SESSION#{token}`, and in the index
`GSI1` the token as both keys. What the planner writes itself carries `EntityType` as well.
"""

import re
import uuid
from dataclasses import dataclass

from data.clock import LATEST
from data.entities import EntityType
from data.expressions import Item, KeyQuery, s
from data.keys import session_key, user_pk
from data.store import Store
from data.team_id import is_user_id

__all__ = ["StoredSession", "find_session", "start_session"]

# Auth.js makes a UUID; `generateSessionToken` may make anything else. Shorter could be guessed,
# and an index key ends at 1,024 bytes.
_TOKEN = re.compile(r"[!-\"$-~]{16,512}")

_TYPE = "SESSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """Whose session it is, and until when: `expires` is epoch seconds, with fractions."""

    user_id: str
    expires: float


async def find_session(store: Store, token: str) -> StoredSession | None:
    """The session with this token, expired or not; None where there is none, or no readable one.

    What can be no token (not printable ASCII, a `#`, a length out of 16 to 512) costs no request.
    An index has no consistent read: what was just written or deleted there may show a moment late.
    """
    if not _TOKEN.fullmatch(token):
        return None
    query = KeyQuery(
        "#GSI1PK = :session AND #GSI1SK = :session",
        {":session": s(session_key(token))},
        index="GSI1",
    )
    items = await store.query(query)
    # One token of two users is nobody's.
    return _decode(items[0]) if len(items) == 1 else None


async def start_session(store: Store, user_id: str, *, expires: float) -> str:
    """Stores a new session as Auth.js does at a sign-in; returns its token, a UUID."""
    token = str(uuid.uuid4())
    key = s(session_key(token))
    item: Item = {
        "pk": s(user_pk(user_id)),
        "sk": key,
        "GSI1PK": key,
        "GSI1SK": key,
        "EntityType": s(EntityType.SESSION),
        "type": s(_TYPE),
        "sessionToken": s(token),
        "userId": s(user_id),
        "expires": {"N": f"{expires:.3f}"},
    }
    await store.put(item, None)
    return token


def _decode(item: Item) -> StoredSession | None:
    """As with the team's items, the type decides and the key only verifies."""
    user_id = item.get("userId", {}).get("S")
    if item.get("type") != s(_TYPE) or not is_user_id(user_id):
        return None
    if item["pk"] != s(user_pk(user_id)):
        return None
    number = item.get("expires", {}).get("N")
    expires = float(number) if number else None
    if expires is None or not 0 <= expires <= LATEST:
        return None
    return StoredSession(user_id=user_id, expires=expires)
