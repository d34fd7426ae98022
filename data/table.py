"""The table's definition: keys, indexes, and what protects it. design: docs/access-patterns.md."""

from typing import Any, Final

__all__ = ["INDEXES", "definition"]

INDEXES: Final[dict[str, tuple[str, str, str]]] = {
    "GSI1": ("GSI1PK", "GSI1SK", "ALL"),
    "byId": ("id", "pk", "KEYS_ONLY"),
    "byUpdatedAt": ("pk", "updatedAt", "ALL"),
    # Sparse: only assignments longer than `days.LONG_DAYS` carry the attribute.
    "byLongEnd": ("pk", "longEnd", "ALL"),
}
"""Index name -> partition key, sort key, projection. All global, all keys strings."""


def definition(table: str) -> dict[str, Any]:
    """The arguments of CreateTable: on-demand billing, streams of both images, protected from
    deletion. TTL (on `expires`) and point-in-time recovery are set by calls of their own."""
    keys = {name for partition, sort, _ in INDEXES.values() for name in (partition, sort)}
    return {
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in sorted(keys | {"pk", "sk"})
        ],
        "KeySchema": _key_schema("pk", "sk"),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index,
                "KeySchema": _key_schema(partition, sort),
                "Projection": {"ProjectionType": projection},
            }
            for index, (partition, sort, projection) in INDEXES.items()
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        "DeletionProtectionEnabled": True,
    }


def _key_schema(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]
