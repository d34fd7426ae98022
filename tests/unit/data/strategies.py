"""Entities and days for the property tests."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import strategies as st

from data.entities import (
    Assignment,
    CalendarFeed,
    Deletion,
    Entity,
    EntityType,
    Link,
    Membership,
    Project,
    Resource,
    Role,
    Team,
)
from data.rules import MAX_TAGS
from data.team_id import is_user_id

__all__ = [
    "assignments",
    "deletions",
    "entities",
    "feeds",
    "ids",
    "memberships",
    "projects",
    "resources",
    "team_ids",
    "teams",
    "user_ids",
]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
some_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ids = st.one_of(
    st.uuids().map(str),
    st.text(
        st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="#"),
        min_size=1,
        max_size=20,
    ),
)
team_ids = ids.filter(str.strip)
user_ids = some_text.filter(is_user_id)
optional = st.none() | some_text
versions = st.integers(0, 2**31 - 1)

moments = st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat)

stamps = {
    "version": versions,
    "created_at": optional,
    "updated_at": optional,
    "updated_by": optional,
}
teams = st.builds(Team, id=team_ids, name=texts, **stamps)
memberships = st.builds(
    Membership,
    team_id=team_ids,
    user_id=user_ids,
    role=st.sampled_from(Role),
    joined_at=optional,
    updated_at=optional,
    updated_by=optional,
)
resources = st.builds(Resource, id=ids, name=texts, deleting_at=optional, **stamps)
projects = st.builds(
    Project,
    id=ids,
    name=texts,
    color=texts,
    description=optional,
    tags=st.lists(some_text, max_size=MAX_TAGS, unique=True).map(tuple),
    links=st.lists(st.builds(Link, label=texts, url=texts), max_size=3).map(tuple),
    deleting_at=optional,
    **stamps,
)


@st.composite
def assignments(draw: st.DrawFn) -> Assignment:
    """Of 1 to 130 days, on any days that there are."""
    length = timedelta(draw(st.integers(1, 130)))
    start = draw(st.dates(max_value=date.max - length))
    return Assignment(
        id=draw(ids),
        resource_id=draw(ids),
        project_id=draw(ids),
        start_date=start,
        end_date_exclusive=start + length,
        note=draw(optional),
        version=draw(versions),
        created_at=draw(optional),
        updated_at=draw(optional),
        updated_by=draw(optional),
    )


feeds = st.one_of(
    *(
        st.builds(
            CalendarFeed,
            id=ids,
            team_id=team_ids,
            user_id=user_ids,
            token_hash=st.binary(min_size=32, max_size=32).map(bytes.hex),
            created_at=optional,
            **{owner: ids},
        )
        for owner in ("resource_id", "project_id")
    )
)

deletions = st.one_of(
    *(
        st.builds(
            Deletion,
            id=ids,
            entity_type=st.sampled_from(kinds),
            entity_id=entity_ids,
            version=versions,
            updated_at=moments,
            updated_by=optional,
        )
        for kinds, entity_ids in (
            ((EntityType.RESOURCE, EntityType.PROJECT, EntityType.ASSIGNMENT), ids),
            ((EntityType.MEMBERSHIP,), user_ids),
        )
    )
)

entities: st.SearchStrategy[Entity] = st.one_of(
    teams, memberships, resources, projects, assignments(), feeds, deletions
)
