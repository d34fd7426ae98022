"""Whether the servers answer the same; if they do not, nothing is timed."""

import json
from collections.abc import Iterator
from typing import Any, Final

__all__ = ["Different", "check_same", "difference"]

_OWN: Final = frozenset({"id", "createdAt"})


class Different(Exception):
    """Two servers answer differently, or one with errors. The message says where."""


def check_same(ours: bytes, theirs: bytes, name: str, *, is_write: bool) -> None:
    """Raises Different unless both contents are the same as JSON and free of errors. What is
    written gets an id and times of its own: of these only the form is compared."""
    mine, other = json.loads(ours), json.loads(theirs)
    for answer in (mine, other):
        if "errors" in answer or answer.get("data") is None:
            raise Different(f"{name}: {json.dumps(answer)[:500]}")
    if where := next(difference(mine, other, own=is_write), None):
        raise Different(f"{name} answers differently at {where}")


def difference(a: Any, b: Any, path: str = "$", *, own: bool = False) -> Iterator[str]:
    """The places where two JSON values differ, with both values; with `own`, ids and times may,
    as long as they look alike."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            left, right = a.get(key, "(absent)"), b.get(key, "(absent)")
            if own and key in _OWN and _form(left) == _form(right):
                continue
            yield from difference(left, right, f"{path}.{key}", own=own)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (left, right) in enumerate(zip(a, b, strict=True)):
            yield from difference(left, right, f"{path}[{index}]", own=own)
    elif type(a) is not type(b) or a != b:
        yield f"{path}: {json.dumps(a)[:100]} and {json.dumps(b)[:100]}"


def _form(value: Any) -> Any:
    """What is the same for any two ids, and for any two times: how long they are."""
    return len(value) if isinstance(value, str) else value
