"""Logs: one JSON object a line for machines, or lines for people. To standard error, always, those
of the web server too."""

import json
import logging
import sys
from typing import Any

import orjson
import structlog
from structlog.typing import EventDict, Processor

__all__ = ["log_for_machines", "log_for_people"]


def log_for_machines() -> None:
    """What `planner serve` does: JSON, times in ISO 8601 UTC, tracebacks without variables, since
    those hold what users wrote."""
    _configure(
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(serializer=_json),
    )


def log_for_people() -> None:
    """What `planner dev` does: an operation is one short line."""
    _configure(
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
        _shortened,
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        ),
    )


def _shortened(logger: object, method: str, event: EventDict) -> EventDict:
    """An operation as somebody at a terminal wants to see it."""
    if event["event"] != "operation" or "duration_ms" not in event:
        return event
    said = f"{event['type']} {event['operation']}: {event['outcome']} {' '.join(event['codes'])}"
    requests = f"{event['requests']} request{'' if event['requests'] == 1 else 's'}"
    kept = {name: event[name] for name in ("timestamp", "level")}
    return {**kept, "event": f"{said.rstrip()}, {event['duration_ms']:.0f} ms, {requests}"}


def _json(event: EventDict, **options: Any) -> str:
    """The event in JSON, by the faster of two ways, of which one knows no lone surrogate."""
    try:
        return orjson.dumps(event, **options).decode()
    except TypeError:
        return json.dumps(event, **options)


def _configure(*last: Processor) -> None:
    *stamps, render = last
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        *stamps,
    ]
    structlog.configure(
        processors=[*shared, render],
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    for noisy in ("aiobotocore", "botocore", "mangum"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
