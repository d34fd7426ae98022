"""The assembled GraphQL schema. `schema.graphql` is its export; `make schema` writes it."""

from datetime import date

import strawberry
from strawberry.schema.config import StrawberryConfig

from schema.mutation import Mutation
from schema.query import Query
from schema.scalars import DATE
from schema.subscription import Subscription
from schema.types import Assignment, Membership, Project, Resource, Team

__all__ = ["schema", "sdl"]


def _assembled(*, sort: bool) -> strawberry.Schema:
    return strawberry.Schema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        types=[Assignment, Membership, Project, Resource, Team],
        config=StrawberryConfig(scalar_map={date: DATE}, sort_schema=sort),
    )


# Not sorted: a sorted copy has plain enum types in place of Strawberry's, which can't serialize.
schema = _assembled(sort=False)


def sdl() -> str:
    """The schema in the schema definition language, sorted, ending in one line break."""
    return _assembled(sort=True).as_str().rstrip("\n") + "\n"
