"""How a subscription comes to an end, and with it the connection that carries it."""

import enum

__all__ = ["End", "Ended", "first_of"]


class End(enum.StrEnum):
    """Why a subscription ended."""

    CLIENT = "client"
    COMPLETE = "complete"
    FAULT = "fault"
    PROTOCOL = "protocol"
    SESSION = "session"
    SHUTDOWN = "shutdown"
    SLOW = "slow"
    UNAVAILABLE = "unavailable"


class Ended(Exception):
    """Ends the connection. `code` and `reason` are those of a close of WebSocket (RFC 6455 §7.4);
    without a code none is to be sent: the other side knows, or is gone."""

    def __init__(self, end: End, code: int | None = None, reason: str = "") -> None:
        super().__init__(end)
        self.end = end
        self.code = code
        self.reason = reason


def first_of(group: BaseExceptionGroup[Ended]) -> Ended:
    """What ended a group of tasks; another may have come to its end in the same moment."""
    [first, *_] = group.exceptions
    return first if isinstance(first, Ended) else first_of(first)
