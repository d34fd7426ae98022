"""Everything that can go wrong on purpose.

PlannerError
├── Unauthenticated   who is asking is not known
├── Forbidden         who is asking may not do this
├── BadInput          a read was asked for with arguments that make no sense
├── LimitExceeded     complete would be too much, and cut is not an answer
├── Unavailable       the store did not answer in time, or throttled to the end
└── Refused           a write that did not happen, with its problems: a value breaks a rule, an
                      object does not exist in this team, or it exists already or was changed

`code` is the stable name that clients see (`extensions.code` of a GraphQL error, or `code` of a
payload's error). What is not a PlannerError is a fault of ours and is masked at the edge.
"""

import enum
from dataclasses import dataclass, replace
from typing import ClassVar

__all__ = [
    "BadInput",
    "Forbidden",
    "LimitExceeded",
    "PlannerError",
    "Problem",
    "ProblemCode",
    "Refused",
    "Unauthenticated",
    "Unavailable",
    "conflict",
    "invalid",
    "not_found",
    "too_many",
]


class PlannerError(Exception):
    """The root of the tree. `message` is written for the client: it holds no internals."""

    code: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unauthenticated(PlannerError):
    code = "UNAUTHENTICATED"


class Forbidden(PlannerError):
    code = "FORBIDDEN"


class BadInput(PlannerError):
    """`field` is the path of the argument, outermost first."""

    code = "BAD_USER_INPUT"

    def __init__(self, message: str, *, field: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.field = field


class LimitExceeded(PlannerError):
    code = "LIMIT_EXCEEDED"


class Unavailable(PlannerError):
    code = "UNAVAILABLE"


class ProblemCode(enum.StrEnum):
    """Why a write was refused; clients see these names."""

    INVALID = "INVALID"
    NOT_FOUND = "NOT_FOUND"
    CONFLICT = "CONFLICT"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason for a refusal. `field` is the path into the input, outermost first."""

    code: ProblemCode
    message: str
    field: tuple[str, ...] = ()

    def below(self, *path: str) -> "Problem":
        """The same problem of an input that itself stands at `path`."""
        return replace(self, field=(*path, *self.field))


class Refused(PlannerError):
    """A write that did not happen, with every reason that is known."""

    code = "REFUSED"

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def invalid(message: str, *field: str) -> Problem:
    return Problem(ProblemCode.INVALID, message, field)


def too_many(message: str, *field: str) -> Problem:
    return Problem(ProblemCode.LIMIT_EXCEEDED, message, field)


def not_found(message: str, *field: str) -> Problem:
    return Problem(ProblemCode.NOT_FOUND, message, field)


def conflict(message: str, *field: str) -> Problem:
    return Problem(ProblemCode.CONFLICT, message, field)
