"""JSON in UTF-8, whatever text is in it."""

import json
from collections.abc import Mapping
from typing import Any

import orjson

__all__ = ["json_bytes"]


def json_bytes(body: Mapping[str, Any]) -> bytes:
    """The body as JSON."""
    try:
        return orjson.dumps(body)
    except TypeError:
        # A message may repeat what a client sent, a lone surrogate included: escape it.
        return json.dumps(body).encode()
