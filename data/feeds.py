"""Calendar feeds: who may read a calendar by an address that holds a secret.

The secret is a token, of which the table has the SHA-256 alone: whoever reads the table can't read
a calendar by it. A token has 256 random bits, so a fast hash without a salt can't be reversed by
trying. See docs/adr/0020-calendar-feeds.md.
"""

import asyncio
import hashlib
import re
import secrets
from typing import Final

from data.clock import new_id
from data.entities import CalendarFeed
from data.errors import Refused, not_found
from data.expressions import Expression, KeyQuery, s
from data.guards import EXISTS, IS_NEW, live
from data.items import encode, key_of, table_key
from data.keys import feed_key, feed_sk, feeds_pk, project_sk, resource_sk
from data.partition import Partition, split
from data.store import ConditionFailed, Store, TransactionCanceled
from data.transactions import Action, Put

__all__ = ["create_feed", "delete_feed", "feeds_of", "find_feed", "hash_of", "new_token"]

_TOKEN_BYTES: Final = 32
_TOKEN: Final = re.compile(r"[\w-]{43}", re.ASCII)
# The index follows the table, mostly within milliseconds; a client that is told 404 once may not
# ask again.
_LOOKS: Final = (0.0, 0.1)


def new_token() -> str:
    """A new secret: 256 random bits as 43 characters that need no escape in an address."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def hash_of(token: str) -> str:
    """What is stored of a token: its SHA-256 in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


async def create_feed(store: Store, feed: CalendarFeed) -> None:
    """Stores a new feed of a resource or project that exists. Raises Refused (NOT_FOUND)."""
    sk = resource_sk(feed.resource_id) if feed.resource_id else project_sk(feed.project_id or "")
    item = encode(feed.team_id, feed)
    actions: list[Action] = [live(table_key(feed.team_id, sk)), Put(item, IS_NEW)]
    try:
        await store.transact(actions, token=new_id())
    except TransactionCanceled as canceled:
        own = canceled.reasons[-1]
        # After a lost answer it is this very item.
        if own.item != item:
            raise Refused(not_found("there is no such resource or project", "subjectId")) from None


async def find_feed(store: Store, token: str) -> CalendarFeed | None:
    """The feed with this token; None where there is none. The index `GSI1` leads to it, and the
    table has the last word, so that a deleted feed is gone at once. What can be no token costs no
    request."""
    if not _TOKEN.fullmatch(token):
        return None
    token_hash = hash_of(token)
    query = KeyQuery(
        "#GSI1PK = :feed AND #GSI1SK = :feed", {":feed": s(feed_key(token_hash))}, index="GSI1"
    )
    found: list[CalendarFeed] = []
    for pause in _LOOKS:
        await asyncio.sleep(pause)
        if found := split(await store.query(query)).feeds:
            break
    if len(found) != 1:  # One token of two feeds is nobody's.
        return None
    item = await store.get(key_of(found[0].team_id, found[0]))
    stored = split([item] if item else []).feeds
    return next((each for each in stored if each.token_hash == token_hash), None)


async def feeds_of(store: Store, team_id: str, *, user_id: str | None) -> Partition:
    """The `feeds` that a user made in a team, or all of the team (None), in the order of their
    creation; and what was `skipped`."""
    values = {":pk": s(feeds_pk(team_id))}
    if user_id is None:
        return split(await store.query(KeyQuery("#pk = :pk", values)))
    values[":user"] = s(user_id)
    return split(await store.query(KeyQuery("#pk = :pk", values, filter="#userId = :user")))


async def delete_feed(store: Store, team_id: str, id: str, *, user_id: str | None) -> None:
    """Deletes a feed that the user made, or whoever did (None). When there is none, that is as
    well. Raises Refused (NOT_FOUND) where somebody else made it."""
    condition = EXISTS
    if user_id is not None:
        condition = EXISTS & Expression("#userId = :user", {":user": s(user_id)})
    try:
        await store.delete({"pk": s(feeds_pk(team_id)), "sk": s(feed_sk(id))}, condition)
    except ConditionFailed as failed:
        if failed.item is not None:
            raise Refused(not_found("you have no such calendar feed", "id")) from None
