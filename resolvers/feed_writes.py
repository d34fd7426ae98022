"""Making and revoking calendar feeds: an input is checked, and the data layer does the rest."""

from data import feeds
from data.clock import new_id, now
from data.entities import CalendarFeed, EntityType, Role
from data.errors import Forbidden, Refused, not_found, too_many
from resolvers.calendar import CALENDAR_PATH
from resolvers.context import RequestContext
from resolvers.global_ids import raw_id
from resolvers.references import existing_id

__all__ = ["create_calendar_feed", "delete_calendar_feed"]


async def create_calendar_feed(
    context: RequestContext, *, subject_id: str
) -> tuple[CalendarFeed, str]:
    """A new feed of the caller's for a resource or project, and the path that it is read at: the
    one time that its token is known. Raises Refused, and Forbidden where there are no feeds."""
    context.require_writer()
    if not context.max_feeds:
        raise Forbidden("calendar feeds are off on this server")
    resource_id = raw_id(EntityType.RESOURCE, subject_id)
    project_id = raw_id(EntityType.PROJECT, subject_id)
    if resource_id is None and project_id is None:
        raise Refused(not_found("there is no such resource or project", "subjectId"))
    session = context.session
    there = await feeds.feeds_of(context.store, context.team_id, user_id=session.user_id)
    if len(there.feeds) >= context.max_feeds:
        raise Refused(too_many(f"you may have at most {context.max_feeds} calendar feeds"))
    token = feeds.new_token()
    feed = CalendarFeed(
        id=new_id(),
        team_id=context.team_id,
        user_id=session.user_id,
        token_hash=feeds.hash_of(token),
        resource_id=resource_id,
        project_id=project_id,
        created_at=now(),
    )
    await feeds.create_feed(context.store, feed)
    return feed, CALENDAR_PATH.format(token=token)


async def delete_calendar_feed(context: RequestContext, *, id: str) -> None:
    """Revokes a feed of the caller's; an admin's call, anybody's. One that is not there is no
    error. Raises Refused."""
    context.require_writer()
    raw = existing_id(EntityType.CALENDAR_FEED, id)
    session = context.session
    user_id = None if session.role is Role.ADMIN else session.user_id
    await feeds.delete_feed(context.store, context.team_id, raw, user_id=user_id)
