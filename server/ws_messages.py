"""The messages of graphql-transport-ws, read and written.

https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.types import Message

from schema.json_bytes import json_bytes
from server.envelope import Envelope, RequestRefused, envelope_of, parse_json
from server.live_ends import CloseCode, End, Ended

__all__ = [
    "ACK",
    "PROTOCOL",
    "Complete",
    "ConnectionInit",
    "Ping",
    "Pong",
    "Received",
    "Subscribe",
    "complete",
    "error",
    "next_answer",
    "pong",
    "read_message",
]

PROTOCOL: Final = "graphql-transport-ws"
MAX_ID_CHARACTERS: Final = 255
"""Each answer repeats the id. Clients take a UUID or less."""


@dataclass(frozen=True, slots=True)
class ConnectionInit:
    """The first message. `payload` may say who is asking."""

    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ping:
    """`payload` comes back with the pong, if there is one."""

    payload: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to a ping; may come without one."""


@dataclass(frozen=True, slots=True)
class Subscribe:
    """An operation of any type, with the id that its answers are to have."""

    id: str
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Complete:
    """The client wants no more answers to the operation of this id."""

    id: str


Received = ConnectionInit | Ping | Pong | Subscribe | Complete


def read_message(message: Message) -> Received:
    """The message of an ASGI event `websocket.receive`. Raises Ended for what is none."""
    try:
        content = parse_json(message.get("text") or "", "The message")
        return _received(content)
    except RequestRefused as error:
        raise _invalid(error.message) from None


def _received(content: Any) -> Received:
    match content:
        case {"type": "connection_init"}:
            return ConnectionInit(_object(content, "payload") or {})
        case {"type": "ping"}:
            return Ping(_object(content, "payload"))
        case {"type": "pong"}:
            return Pong()
        case {"type": "subscribe", "payload": dict(payload)}:
            return Subscribe(_id(content), envelope_of(payload))
        case {"type": "complete"}:
            return Complete(_id(content))
    raise _invalid("The message is none of this protocol")


def _object(content: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    found = content.get(name)
    if not isinstance(found, dict | None):
        raise _invalid(f"`{name}` must be an object")
    return found


def _id(content: Mapping[str, Any]) -> str:
    found = content.get("id")
    if not isinstance(found, str) or not 0 < len(found) <= MAX_ID_CHARACTERS:
        raise _invalid(f"`id` must be a string of 1 to {MAX_ID_CHARACTERS} characters")
    return found


def _invalid(reason: str) -> Ended:
    return Ended(End.PROTOCOL, CloseCode.BAD_REQUEST, reason)


ACK: Final = json_bytes({"type": "connection_ack"})


def pong(payload: Mapping[str, Any] | None) -> bytes:
    """The answer to a ping. Raises Ended for a payload that is nested too deep to be repeated."""
    try:
        return json_bytes({"type": "pong"} | ({} if payload is None else {"payload": payload}))
    except RecursionError:
        raise _invalid("`payload` is nested too deep") from None


def next_answer(id: str, answer: bytes) -> bytes:
    """An answer, given as JSON, to the operation of this id."""
    head = json_bytes({"type": "next", "id": id})
    return b'%b,"payload":%b}' % (head.removesuffix(b"}"), answer)


def error(id: str, errors: object) -> bytes:
    """The refusal of an operation, in place of any answer."""
    return json_bytes({"type": "error", "id": id, "payload": errors})


def complete(id: str) -> bytes:
    """The end of the answers."""
    return json_bytes({"type": "complete", "id": id})
