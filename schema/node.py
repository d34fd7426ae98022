"""The interface of all objects that have an id."""

import strawberry

__all__ = ["Node"]


@strawberry.interface(description="An object with an id that is unique over all types.")
class Node:
    id: strawberry.ID = strawberry.field(description="Opaque and stable; never changes.")
