"""Objects of the graph that misbehave while they become an answer, by a plan."""

import asyncio
import enum
import inspect
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from graphql import (
    GraphQLError,
    GraphQLList,
    GraphQLObjectType,
    Undefined,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
)
from hypothesis import strategies as st

from data.entities import Link
from data.errors import Unavailable
from resolvers.nodes import (
    AssignmentNode,
    MembershipNode,
    OverlapNode,
    ProjectNode,
    ResourceNode,
    TeamNode,
)
from resolvers.viewer import ViewerTeam
from schema import schema

__all__ = ["Fault", "Place", "faults", "misbehaving", "outcomes", "watching"]

_CORE: Final = schema._schema
_OBJECTS: Final = {
    each.__name__: each
    for each in (
        AssignmentNode,
        ResourceNode,
        ProjectNode,
        TeamNode,
        MembershipNode,
        OverlapNode,
        Link,
        ViewerTeam,
    )
}
_IDS: Final[Mapping[str, Any]] = {
    name: vars(each).get("id", property(lambda _: "?")) for name, each in _OBJECTS.items()
}
_NOT_OF_THE_SCHEMA: Final = {"graph", "entity"}


class Shout(str):
    """Text of another type, which tells."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Shout({str(self)!r})"


class King(enum.StrEnum):
    KING = "king"


class Later:
    """An awaitable that lets others run a few times first; unlike a coroutine, it need not be
    awaited."""

    def __init__(self, outcome: Any, turns: int) -> None:
        self._outcome = outcome
        self._turns = turns

    def __await__(self) -> Generator[Any, None, Any]:
        for _ in range(self._turns):
            yield from asyncio.sleep(0).__await__()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


class Iterated:
    """A list whose iterator fails after its first objects."""

    def __init__(self, objects: Sequence[Any]) -> None:
        self._objects = objects

    def __iter__(self) -> Iterator[Any]:
        yield from self._objects[:1]
        raise RuntimeError("the list broke off")


async def _each(objects: Sequence[Any]) -> Any:
    for each in objects:
        yield each


def _raised(error: Exception) -> Any:
    raise error


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


_Outcome = Callable[[Callable[[], Any]], Any]
_ANY: Final[Mapping[str, _Outcome]] = {
    "null": lambda _: None,
    "raises a planner error": lambda _: _raised(Unavailable("the store is busy; try again")),
    "raises": lambda _: _raised(RuntimeError("broken")),
    "raises GraphQLError": lambda _: _raised(GraphQLError("broken", extensions={"a": 1})),
    "raises one with a cause": lambda _: _raised(
        GraphQLError("broken", path=["x"], original_error=Unavailable("caused"))
    ),
    "raises AttributeError": lambda _: _raised(AttributeError("nothing")),
    "raises StopIteration": lambda _: _raised(StopIteration()),
    "an exception": lambda _: RuntimeError("returned"),
    "a planner error": lambda _: Unavailable("returned"),
    "undefined": lambda _: Undefined,
    "an object": lambda _: object(),
    "a mapping": lambda _: {"id": "mapped", "name": "Mapped", "version": 1},
    "a callable": lambda usual: usual,
    "later": lambda usual: Later(usual(), 0),
    "much later": lambda usual: Later(usual(), 3),
    "later null": lambda _: Later(None, 1),
    "later fails": lambda _: Later(RuntimeError("failed later"), 1),
    "much later fails": lambda _: Later(Unavailable("failed much later"), 3),
}
_LEAVES: Final[Mapping[str, _Outcome]] = {
    "a large number": lambda _: 2**40,
    "a number": lambda _: 7,
    "a fraction": lambda _: 1.5,
    "a whole fraction": lambda _: 2.0,
    "not a number": lambda _: float("nan"),
    "true": lambda _: True,
    "no text": lambda _: "",
    "text": lambda _: "2024-01-01",
    "digits": lambda _: "12",
    "other text": lambda _: Shout("loud"),
    "a time": lambda _: datetime(2024, 1, 2, 3, 4),
    "an unknown role": lambda _: King.KING,
    "a class": lambda _: ResourceNode,
    "bytes": lambda _: b"bytes",
}
_LISTS: Final[Mapping[str, _Outcome]] = {
    "nothing listed": lambda _: [],
    "listed null": lambda usual: [*_as_list(usual())[:2], None],
    "listed exception": lambda usual: [RuntimeError("listed"), *_as_list(usual())],
    "listed later": lambda usual: [Later(each, n % 3) for n, each in enumerate(_as_list(usual()))],
    "listed later fails": lambda usual: [
        *_as_list(usual()),
        Later(RuntimeError("b"), 2),
        Later(RuntimeError("a"), 1),
    ],
    "listed twice": lambda usual: _as_list(usual()) * 2,
    "listed odd": lambda usual: [*_as_list(usual()), object()],
    "a list of lists": lambda usual: [_as_list(usual())],
    "a generator": lambda usual: (each for each in _as_list(usual())),
    "an iterator": lambda usual: iter(_as_list(usual())),
    "an asynchronous iterator": lambda usual: _each(_as_list(usual())),
    "a broken list": lambda usual: Iterated(_as_list(usual())),
    "values": lambda usual: dict(enumerate(_as_list(usual()))).values(),
}
_OUTCOMES: Final = {**_ANY, **_LEAVES, **_LISTS}

Place = tuple[str, str]
"""A class of objects and one of their attributes."""


@dataclass(frozen=True, slots=True)
class Fault:
    """That an attribute of some objects of a class misbehaves: of those whose ids end in one of
    these characters, or of all."""

    place: Place
    outcome: str
    ids: str = ""


def _places() -> list[Place]:
    return [
        (name, attribute)
        for name, each in _OBJECTS.items()
        for attribute, value in vars(each).items()
        if not attribute.startswith("_")
        and not isinstance(value, classmethod)
        and attribute not in _NOT_OF_THE_SCHEMA
    ]


def faults(places: Collection[Place]) -> st.SearchStrategy[list[Fault]]:
    """Plans for some of these places."""
    lists = [place for place in sorted(places) if outcomes(place)[0] in _LISTS]
    one = st.sampled_from([*lists, *sorted(places), *lists]).flatmap(
        lambda place: st.builds(
            Fault,
            st.just(place),
            st.sampled_from(outcomes(place)),
            # Ids are base64: of many objects this is every second one.
            st.sampled_from(["", "EIMQUYcgkosw02468x", ""]),
        )
    )
    return st.lists(one, min_size=1, max_size=3) if places else st.just([])


@cache
def outcomes(place: Place) -> Sequence[str]:
    """What a field of this type can get wrong in a way of its own."""
    name, attribute = place
    owner = _CORE.type_map[name.removesuffix("Node")]
    assert isinstance(owner, GraphQLObjectType)
    first, *rest = attribute.split("_")
    type = owner.fields[first + "".join(map(str.capitalize, rest))].type
    if isinstance(get_nullable_type(type), GraphQLList):
        return [*_LISTS, *_ANY, *_LISTS]
    return [*_ANY, *_LEAVES] if is_leaf_type(get_named_type(type)) else [*_ANY]


@contextmanager
def watching() -> Iterator[set[Place]]:
    """What it yields gets the places that are looked at meanwhile."""
    seen: set[Place] = set()
    with _instead({place: _Watched(_usual(place), place, seen) for place in _places()}):
        yield seen


@contextmanager
def misbehaving(plan: Sequence[Fault]) -> Iterator[None]:
    """While the objects misbehave as planned; of two faults in one place, as in the second."""
    with _instead({each.place: _Faulty(_usual(each.place), each) for each in plan}):
        yield


@contextmanager
def _instead(descriptors: Mapping[Place, Any]) -> Iterator[None]:
    usual = {place: _usual(place) for place in descriptors}
    try:
        for (name, attribute), each in descriptors.items():
            setattr(_OBJECTS[name], attribute, each)
        yield
    finally:
        for (name, attribute), each in usual.items():
            setattr(_OBJECTS[name], attribute, each)


def _usual(place: Place) -> Any:
    name, attribute = place
    return vars(_OBJECTS[name])[attribute]


class _Watched:
    """A descriptor that tells when it is read."""

    def __init__(self, usual: Any, place: Place, seen: set[Place]) -> None:
        self._usual = usual
        self._place = place
        self._seen = seen

    def __get__(self, node: Any, owner: type) -> Any:
        self._seen.add(self._place)
        return self._usual.__get__(node, owner)

    def __set__(self, node: Any, value: Any) -> None:
        self._usual.__set__(node, value)


class _Faulty:
    """A descriptor in place of another."""

    def __init__(self, usual: Any, fault: Fault) -> None:
        self._usual = usual
        self._outcome = _OUTCOMES[fault.outcome]
        self._fault = fault

    def __get__(self, node: Any, owner: type) -> Any:
        def usual(*arguments: Any) -> Any:
            value = self._usual.__get__(node, owner)
            return value(*arguments) if inspect.isfunction(self._usual) else value

        if self._fault.ids and not self._matches(node, owner):
            return self._usual.__get__(node, owner)
        if inspect.isfunction(self._usual):
            return lambda *arguments: self._outcome(lambda: usual(*arguments))
        return self._outcome(usual)

    def __set__(self, node: Any, value: Any) -> None:
        self._usual.__set__(node, value)

    def _matches(self, node: Any, owner: type) -> bool:
        # Not `node.id`, which may be what misbehaves. A link has none.
        id: str = _IDS[self._fault.place[0]].__get__(node, owner)
        return id[-1] in self._fault.ids
