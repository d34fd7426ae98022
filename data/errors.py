"""Everything that can go wrong on purpose.

PlannerError
├── Unauthenticated        who is asking is not known
├── Forbidden              who is asking may not do this
├── BadInput               a read was asked for with arguments that make no sense
├── LimitExceeded          complete would be too much, and cut is not an answer
├── Unavailable            the store did not answer in time, or throttled to the end
└── Refused                a write that was refused; nothing was written
    ├── Invalid            a value breaks a rule
    ├── NotFound           the object, or one it refers to, does not exist in this team
    └── Conflict           it exists already, or somebody else changed it first

`code` is the stable name that clients see (`extensions.code` of a GraphQL error, or `code` of a
payload's error). What is not a PlannerError is a fault of ours and is masked at the edge.
"""

from typing import ClassVar

__all__ = [
    "BadInput",
    "Conflict",
    "Forbidden",
    "Invalid",
    "LimitExceeded",
    "NotFound",
    "PlannerError",
    "Refused",
    "Unauthenticated",
    "Unavailable",
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


class Refused(PlannerError):
    """A write that did not happen. `field` is the path into the input, outermost first."""

    def __init__(self, message: str, *, field: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.field = field


class Invalid(Refused):
    code = "INVALID"


class NotFound(Refused):
    code = "NOT_FOUND"


class Conflict(Refused):
    code = "CONFLICT"
