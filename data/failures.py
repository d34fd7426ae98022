"""What an exception of boto means: whether it may pass, and what an operator should mend.

Beside the store and what it sends by the one module that knows boto. See
docs/adr/0004-one-client-module.md and 0016-own-requests.md.
"""

import enum
from dataclasses import dataclass
from typing import Any, Final, cast

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    MetadataRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    TokenRetrievalError,
)
from botocore.exceptions import ConnectionError as BotoConnectionError

from data.errors import Unavailable
from data.expressions import Item

__all__ = [
    "REQUEST_ERRORS",
    "STORE_ERRORS",
    "CancellationReason",
    "ConditionFailed",
    "NotReady",
    "Outage",
    "TransactionCanceled",
    "code_of",
    "failure_of",
    "outage_of",
]

STORE_ERRORS: Final = (BotoCoreError, ClientError)
"""What a store raises when it is not set up: no region, no credentials, no permission, no table.
Commands say it in one line; in a request it is a fault of ours, and masked."""

REQUEST_ERRORS: Final = (ClientError, HTTPClientError, BotoConnectionError, OSError)
"""What a request may fail with once it can be sent: what `failure_of` knows."""

_NO_CREDENTIALS: Final = (
    CredentialRetrievalError,
    MetadataRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    TokenRetrievalError,
)
_THROTTLED: Final = frozenset(
    {
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
    }
)
_TRANSIENT: Final = _THROTTLED | {
    "InternalServerError",
    "ServiceUnavailable",
    "TransactionConflictException",
    "TransactionInProgressException",
}
_TRANSIENT_REASONS: Final = frozenset(
    {"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"}
)


class ConditionFailed(Exception):
    """A conditional write was refused by the table. `item` is what stands there, if anything."""

    def __init__(self, item: Item | None) -> None:
        super().__init__("the condition did not hold")
        self.item = item


@dataclass(frozen=True, slots=True)
class CancellationReason:
    """What became of one action of a cancelled transaction."""

    code: str
    item: Item | None

    @property
    def condition_failed(self) -> bool:
        return self.code == "ConditionalCheckFailed"


class TransactionCanceled(Exception):
    """No action was carried out. `reasons` has one entry for each, in the order of the actions."""

    def __init__(self, reasons: tuple[CancellationReason, ...]) -> None:
        super().__init__(", ".join(reason.code for reason in reasons))
        self.reasons = reasons


class Outage(enum.StrEnum):
    """Why the table can't be used, as an operator needs to know it."""

    CREDENTIALS_REFUSED = "credentials_refused"
    FAILING = "failing"
    NO_CREDENTIALS = "no_credentials"
    NO_PERMISSION = "no_permission"
    SLOW = "slow"
    TABLE_MISSING = "table_missing"
    THROTTLED = "throttled"
    UNKNOWN = "unknown"
    UNREACHABLE = "unreachable"


_OUTAGES: Final = {
    "AccessDeniedException": Outage.NO_PERMISSION,
    "ExpiredTokenException": Outage.CREDENTIALS_REFUSED,
    "IncompleteSignatureException": Outage.CREDENTIALS_REFUSED,
    "InvalidSignatureException": Outage.CREDENTIALS_REFUSED,
    "MissingAuthenticationTokenException": Outage.CREDENTIALS_REFUSED,
    "ResourceNotFoundException": Outage.TABLE_MISSING,
    "UnrecognizedClientException": Outage.CREDENTIALS_REFUSED,
    **dict.fromkeys(_THROTTLED, Outage.THROTTLED),
}


class NotReady(Exception):
    """The table can't be used now."""

    def __init__(self, reason: Outage) -> None:
        super().__init__(reason.value)
        self.reason = reason


def failure_of(
    error: Exception,
) -> Unavailable | ConditionFailed | TransactionCanceled | None:
    """What a failed request says to us: Unavailable when it may pass, None when unknown."""
    if not isinstance(error, ClientError):
        return Unavailable("the store cannot be reached; try again")
    response = cast("dict[str, Any]", error.response)
    code = _code(response)
    if code == "ConditionalCheckFailedException":
        return ConditionFailed(response.get("Item"))
    if code == "TransactionCanceledException":
        reasons = tuple(
            CancellationReason(reason.get("Code", "None"), reason.get("Item"))
            for reason in response.get("CancellationReasons", ())
        )
        codes = {reason.code for reason in reasons}
        if "ConditionalCheckFailed" in codes:
            return TransactionCanceled(reasons)
        return Unavailable("the store is busy; try again") if codes & _TRANSIENT_REASONS else None
    if code in _TRANSIENT or _status(response) >= 500:
        return Unavailable("the store is busy; try again")
    return None


def outage_of(error: BaseException | None) -> Outage:
    """What a failed request says to an operator."""
    if isinstance(error, ClientError):
        response = cast("dict[str, Any]", error.response)
        failing = Outage.FAILING if _status(response) >= 500 else Outage.UNKNOWN
        return _OUTAGES.get(_code(response), failing)
    if isinstance(error, _NO_CREDENTIALS):
        return Outage.NO_CREDENTIALS
    return Outage.UNREACHABLE if isinstance(error, REQUEST_ERRORS) else Outage.UNKNOWN


def code_of(error: BaseException) -> str:
    """DynamoDB's code for an error that it answered with; empty for any other error."""
    return _code(cast("dict[str, Any]", error.response)) if isinstance(error, ClientError) else ""


def _code(response: dict[str, Any]) -> str:
    return str(response.get("Error", {}).get("Code", ""))


def _status(response: dict[str, Any]) -> int:
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
