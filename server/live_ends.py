"""How a subscription comes to an end, and with it the connection that carries it."""

import enum

__all__ = ["CloseCode", "End", "Ended"]


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


class CloseCode(enum.IntEnum):
    """Why the server closes a WebSocket (IANA's registry of close codes), from 4400 on by
    graphql-transport-ws. The client `graphql-ws` comes back after 4403, 4408 and those below
    2000, and after no other."""

    SERVICE_RESTART = 1012
    TRY_AGAIN_LATER = 1013
    BAD_REQUEST = 4400
    UNAUTHORIZED = 4401
    FORBIDDEN = 4403
    SUBPROTOCOL_NOT_ACCEPTABLE = 4406
    INITIALISATION_TIMEOUT = 4408
    SUBSCRIBER_ALREADY_EXISTS = 4409
    TOO_MANY_INITIALISATIONS = 4429
    INTERNAL_ERROR = 4500


class Ended(Exception):
    """Ends the connection. `code` and `reason` are those of a close of WebSocket (RFC 6455 §7.4);
    without a code none is to be sent: the other side knows, or is gone. `words` are what the client
    said, for the `{}` in the reason: they are not for the log, which has `reason_logged`."""

    def __init__(
        self, end: End, code: int | None = None, reason: str = "", *, words: str | None = None
    ) -> None:
        super().__init__(end)
        self.end = end
        self.code = code
        self.reason = reason if words is None else reason.format(words)
        self.reason_logged = reason
