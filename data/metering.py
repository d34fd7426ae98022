"""What requests to the table cost: how many were sent, and the capacity that DynamoDB reports."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

__all__ = ["Consumption", "Meter", "Operation", "consumption"]

Operation = Literal["DeleteItem", "GetItem", "PutItem", "Query", "TransactWriteItems", "UpdateItem"]

_READS: Final = frozenset({"GetItem", "Query"})


class Consumption(NamedTuple):
    """Capacity units of one answer."""

    read_units: float = 0.0
    write_units: float = 0.0


@dataclass(slots=True)
class Meter:
    """What was asked of the table so far. `requests` counts what was sent, by operation, retries
    included; `pages` the answers to Queries; `retries` what was sent again. Units are those that
    DynamoDB reports: a request that it refuses consumes some too, and reports none."""

    requests: Counter[Operation] = field(default_factory=Counter)
    pages: int = 0
    retries: int = 0
    read_units: float = 0.0
    write_units: float = 0.0

    def sent(self, operation: Operation, *, again: bool) -> None:
        """Counts a request as it leaves."""
        self.requests[operation] += 1
        self.retries += again

    def answered(self, operation: Operation, consumed: Consumption) -> None:
        """Counts the answer to a request that was carried out."""
        self.pages += operation == "Query"
        self.read_units += consumed.read_units
        self.write_units += consumed.write_units


def consumption(operation: Operation, answer: Mapping[str, Any]) -> Consumption:
    """What an answer says that it consumed; nothing where an engine does not say. A transaction
    reports one entry for each table, and reads as well: one that is sent again with its token is
    looked up (ConsumedCapacity in the DynamoDB API reference)."""
    reported = answer.get("ConsumedCapacity") or ()
    reads = writes = 0.0
    for entry in (reported,) if isinstance(reported, Mapping) else reported:
        if "ReadCapacityUnits" in entry or "WriteCapacityUnits" in entry:
            reads += entry.get("ReadCapacityUnits", 0.0)
            writes += entry.get("WriteCapacityUnits", 0.0)
        elif operation in _READS:
            reads += entry.get("CapacityUnits", 0.0)
        else:
            writes += entry.get("CapacityUnits", 0.0)
    return Consumption(reads, writes)
