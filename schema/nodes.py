"""Walking a document without recursion: it may be nested deeper than Python's stack."""

from collections.abc import Iterator

from graphql import Node

__all__ = ["children"]


def children(node: Node) -> Iterator[Node]:
    """The nodes right below a node."""
    for key in node.keys:
        child = getattr(node, key, None)
        for each in child if isinstance(child, tuple | list) else (child,):
            if isinstance(each, Node):
                yield each
